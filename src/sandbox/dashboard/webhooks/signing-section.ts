import { type Html, html } from "../../../pages/html.js";
import { type SigningState } from "../../state/signing.js";
import { places } from "../frame.js";
import { copyable, fact, secret } from "../pieces.js";
import { type View } from "../view.js";
import { webhooksWords } from "./webhooks-words.js";

/** How webhooks are signed: all that a merchant configures, and the button that makes a new secret. */
export function signingSection(signing: SigningState, view: View): Html {
  const words = webhooksWords[view.language];
  const { scheme, header, algorithm, merchantId, fields, previousSecret } = signing;
  return html`<section aria-labelledby="signing">
    <div class="head"><h2 id="signing">${words.signing}</h2></div>
    <p class="lead">${words.signingLead}</p>
    <div class="panel">
      <dl class="panel-part facts">
        ${fact(words.scheme, words.schemes[scheme])}
        ${algorithm !== undefined && fact(words.algorithm, html`<code>${algorithm}</code>`)}
        ${copyable(view, { id: "header", name: words.header, value: header })}
        ${merchantId !== undefined && copyable(view, { id: "merchant-id", name: words.merchantId, value: merchantId })}
        ${fields !== undefined && fact(words.fields, html`<code>${fields.join(",")}</code>`)}
        ${signing.secret !== undefined && secret(view, { id: "secret", name: words.secret, value: signing.secret })}
        ${
          previousSecret !== undefined &&
          secret(view, { id: "previous-secret", name: words.previousSecret, value: previousSecret })
        }
      </dl>
      ${
        scheme !== "custom" &&
        html`<form class="inline" method="post" action="${view.root}${places.webhooks}/secret/rotate">
          <p class="hint">${words.rotateHint}</p>
          <button class="button">${words.rotate}</button>
        </form>`
      }
    </div>
  </section>`;
}

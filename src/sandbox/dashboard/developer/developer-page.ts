import { type Html, html } from "../../../pages/html.js";
import { type Sandbox } from "../../contract.js";
import { type SandboxToken } from "../../state/tokens.js";
import { moment, timeSpan } from "../../../pages/format/moment.js";
import { type Page } from "../../page.js";
import { developerWords } from "./developer-words.js";
import { doneIn } from "../done.js";
import { environmentLines } from "./environment-lines.js";
import { framed, places } from "../frame.js";
import { copyable, copyButton, secret } from "../pieces.js";
import { type View } from "../view.js";

const shownTokens = 20;

/** The credentials of the merchant, ready to be copied, and the access tokens that were issued. */
export function developerPage(sandbox: Sandbox, view: View): Page {
  const words = developerWords[view.language];
  return framed(view, {
    place: "developer",
    title: words.title,
    done: doneIn(words.done, view),
    head: html`<h1>${words.title}</h1>
      <p class="lead">${words.lead}</p>`,
    content: [access(sandbox, view), environment(sandbox, view), tokens(sandbox, view)],
  });
}

function access({ client }: Sandbox, view: View): Html {
  const words = developerWords[view.language];
  return html`<section aria-labelledby="access">
    <div class="head"><h2 id="access">${words.access}</h2></div>
    <dl class="panel facts">
      ${copyable(view, { id: "base-url", name: words.baseUrl, value: view.baseUrl })}
      ${copyable(view, { id: "token-url", name: words.tokenUrl, value: `${view.baseUrl}/oauth/token` })}
      ${copyable(view, { id: "client-id", name: words.clientId, value: client.clientId })}
      ${secret(view, { id: "client-secret", name: words.clientSecret, value: client.clientSecret })}
    </dl>
  </section>`;
}

function environment(sandbox: Sandbox, view: View): Html {
  const words = developerWords[view.language];
  const { scheme } = sandbox.signing;
  return html`<section aria-labelledby="environment">
    <div class="head"><h2 id="environment">${words.environment}</h2></div>
    <p class="lead">${words.environmentLead}</p>
    <div class="panel">
      <div class="value">
        <details>
          <summary>${words.lines}</summary>
          <pre id="environment-lines">${environmentLines(sandbox, view.baseUrl)}</pre>
        </details>
        ${copyButton(view, "environment-lines", words.environment)}
      </div>
      ${scheme === "custom" && html`<p class="hint">${words.byProgram}</p>`}
    </div>
  </section>`;
}

function tokens(sandbox: Sandbox, view: View): Html {
  const { language, root } = view;
  const words = developerWords[language];
  const all = sandbox.accessTokens();
  const lifetime = timeSpan(sandbox.settings.accessTokenTtlSeconds * 1000, language);
  const action = `${root}${places.developer}/tokens/revoke`;
  return html`<section aria-labelledby="tokens">
    <div class="head">
      <h2 id="tokens">${words.tokens}</h2>
      ${
        all.length > 0 &&
        html`<form method="post" action="${action}">
          <button class="button grave">${words.revokeAll}</button>
        </form>`
      }
    </div>
    <p class="lead">${words.tokensLead(lifetime)}</p>
    <form method="post" action="${action}" id="tokens-list" data-live="${words.tokensLive(all.length)}">
      <ul class="panel">
        ${all.slice(0, shownTokens).map((token) => tokenRow(token, sandbox.clock.now(), view))}
        ${
          all.length === 0 &&
          html`<li class="empty"><strong>${words.noTokens}</strong> ${words.noTokensText}</li>`
        }
      </ul>
    </form>
  </section>`;
}

function tokenRow({ id, issuedAt, expiresAt, revoked }: SandboxToken, now: Date, { language }: View): Html {
  const words = developerWords[language];
  const isExpired = now.getTime() >= Date.parse(expiresAt);
  const isValid = !revoked && !isExpired;
  return html`<li class="row">
    <code class="what">${words.token(id)}</code>
    ${
      isValid
        ? html`<button class="button grave control" name="id" value="${id}">
            ${words.revoke} <span class="hidden">${words.token(id)}</span>
          </button>`
        : html`<span class="pill">${revoked ? words.revoked : words.expired}</span>`
    }
    <span class="more">
      ${words.issued} ${moment(issuedAt, language)} · ${words.expires} ${moment(expiresAt, language)}
    </span>
  </li>`;
}

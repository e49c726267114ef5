import { type Router } from "express";
import { moment, timeSpan } from "../../../pages/format.js";
import { type Html, html } from "../../../pages/html.js";
import { type Page } from "../../page.js";
import { type SandboxToken } from "../../state/tokens.js";
import { button, copyable, copyButton, postForm, secret, section } from "../components.js";
import { type DashboardContext, type View, type ViewWith, withTranslations } from "../context.js";
import { dashboardPage, places } from "../dashboard-page.js";
import { pageRoutes } from "../form.js";
import { liveList } from "../lists.js";
import { developerTranslations } from "./translations.js";

type Developer = ViewWith<typeof developerTranslations>;

const maxTokens = 20;

/** Returns the routes of `/developer`: the credentials, and the access tokens. */
export function developer(context: DashboardContext): Router {
  return pageRoutes(context, "/", developerPage, {
    "/tokens/revoke": (input) => {
      const id = input.get("id") ?? undefined;
      context.sandbox.revokeAccessTokens(id);
      return `${places.developer}?done=${id === undefined ? "revoked-all" : "revoked"}`;
    },
  });
}

/** Returns the page with the credentials of the merchant and the access tokens that were issued. */
function developerPage(given: View): Page {
  const view = withTranslations(given, developerTranslations);
  const { title, lead, done } = view.text;
  const content = [access(view), environment(view), tokens(view)];
  return dashboardPage(view, { place: "developer", title, lead, done, content });
}

function access(view: Developer): Html {
  const { baseUrl, sandbox, shared, text } = view;
  const content = html`<dl class="panel facts">
    ${copyable(view, "base-url", shared.baseUrl, baseUrl)}
    ${copyable(view, "token-url", text.tokenUrl, `${baseUrl}/oauth/token`)}
    ${copyable(view, "client-id", text.clientId, sandbox.client.clientId)}
    ${secret(view, "client-secret", text.clientSecret, sandbox.client.clientSecret)}
  </dl>`;
  return section({ id: "access", title: text.access }, content);
}

function environment(view: Developer): Html {
  const { sandbox, text } = view;
  const content = html`<div class="panel">
    <div class="value">
      <details>
        <summary>${text.lines}</summary>
        <pre id="environment-lines">${environmentLines(view)}</pre>
      </details>
      ${copyButton(view, "environment-lines", text.environment)}
    </div>
    ${sandbox.signing.scheme === "custom" && html`<p class="hint">${text.byProgram}</p>`}
  </div>`;
  return section({ id: "environment", title: text.environment, lead: text.environmentLead }, content);
}

/** Returns the environment of an application made with tillkit that uses this sandbox; one variable a line. */
function environmentLines({ sandbox, baseUrl }: View): string {
  const { client, signing, webhookAddresses } = sandbox;
  const { scheme, secret: webhookSecret, previousSecret, merchantId, header, algorithm } = signing;
  // The kit's own webhook address ends with /webhook; its router is mounted at what stands before that.
  const own = webhookAddresses.find(({ url }) => url.endsWith("/webhook"));
  const variables: Record<string, string | undefined> = {
    PUBLIC_URL: own?.url.slice(0, -"/webhook".length) ?? "http://localhost:3000/payments",
    DATABASE: "shop.db",
    SERVICE_URL: baseUrl,
    TOKEN_URL: `${baseUrl}/oauth/token`,
    CLIENT_ID: client.clientId,
    CLIENT_SECRET: client.clientSecret,
    SIGNATURE: scheme === "fields" ? scheme : undefined,
    MERCHANT_ID: merchantId,
    SIGNATURE_HEADER: header === "Service-Signature" ? undefined : header,
    SIGNATURE_ALGORITHM: algorithm === "sha256" ? undefined : algorithm,
    WEBHOOK_SECRET: webhookSecret,
    WEBHOOK_SECRET_PREVIOUS: previousSecret,
  };
  const given = Object.entries(variables).filter(([, value]) => value !== undefined);
  return given.map(([name, value]) => `TILLKIT_${name}=${value}`).join("\n");
}

function tokens(view: Developer): Html {
  const { sandbox, language, text } = view;
  const all = sandbox.accessTokens();
  const now = sandbox.clock.now();
  const lifetime = timeSpan(sandbox.settings.accessTokenTtlSeconds * 1000, language);
  const path = `${places.developer}/tokens/revoke`;
  const empty = html`<strong>${text.noTokens}</strong> ${text.noTokensText}`;
  const items = all.slice(0, maxTokens).map((token) => tokenItem(token, now, view));
  const list = liveList({ id: "tokens-list", live: text.tokensLive(all.length), empty }, items);
  const revokeAll = postForm(view, path, button(text.revokeAll, { kind: "danger" }));
  const heading = { id: "tokens", title: text.tokens, lead: text.tokensLead(lifetime) };
  return section({ ...heading, action: all.length > 0 && revokeAll }, postForm(view, path, list));
}

function tokenItem({ id, issuedAt, expiresAt, revoked }: SandboxToken, now: Date, view: Developer): Html {
  const { language, text } = view;
  const isExpired = now.getTime() >= Date.parse(expiresAt);
  const revoke = button(text.revoke, { kind: "danger control", about: `…${id}`, name: "id", value: id });
  const why = html`<span class="badge">${revoked ? text.revoked : text.expired}</span>`;
  return html`<li class="row">
    <code class="what">…${id}</code>
    ${revoked || isExpired ? why : revoke}
    <span class="more">
      ${text.issued} ${moment(issuedAt, language)} · ${text.expires} ${moment(expiresAt, language)}
    </span>
  </li>`;
}

import { type Router } from "express";
import { type Html, html } from "../../../pages/html.js";
import { type Page } from "../../http/page.js";
import { shopVariables } from "../../state/shop-variables.js";
import { type SandboxToken } from "../../state/tokens.js";
import { copyable, copyButton, secret, section } from "../frame/components.js";
import { button, postForm } from "../frame/form.js";
import { type DashboardContext, FormProblem, pageRoutes, type View } from "../frame/page-routes.js";
import { dashboardPage, places } from "../frame/dashboard-page.js";
import { moment, timeSpan } from "../frame/format.js";
import { liveList } from "../frame/lists.js";

const maxTokens = 20;

/** Returns the routes of `/developer`: the credentials, and the access tokens. */
export function developerRoutes(context: DashboardContext): Router {
  return pageRoutes(context, "/", developerPage, {
    "/tokens/revoke": (input) => {
      const id = input.get("id") ?? undefined;
      if (id === undefined && !input.has("all")) throw new FormProblem("The form names no token.");
      context.sandbox.revokeAccessTokens(id);
      return `${places.developer}?done=${id === undefined ? "revoked-all" : "revoked"}`;
    },
  });
}

function developerPage(view: View): Page {
  const content = [access(view), environment(view), tokenSection(view)];
  return dashboardPage(view, {
    place: "developer",
    title: "Credentials",
    lead: "What your shop needs to create payments here. These values work with this sandbox only.",
    done: {
      revoked: "The token stopped working.",
      "revoked-all": "Every token issued so far stopped working.",
    },
    content,
  });
}

function access(view: View): Html {
  const { baseUrl, sandbox } = view;
  const content = html`<dl class="panel facts">
    ${copyable("base-url", "Base address", baseUrl)}
    ${copyable("token-url", "Token address", `${baseUrl}/oauth/token`)}
    ${copyable("client-id", "Client id", sandbox.client.clientId)}
    ${secret("client-secret", "Client secret", sandbox.client.clientSecret)}
  </dl>`;
  return section({ id: "access", title: "Access" }, content);
}

function environment(view: View): Html {
  const { sandbox } = view;
  const content = html`<div class="panel">
    <div class="value">
      <details>
        <summary>Show the lines, with their secrets</summary>
        <pre id="environment-lines">${environmentLines(view)}</pre>
      </details>
      ${copyButton("environment-lines", "For a shop made with tillkit")}
    </div>
    ${sandbox.signing.scheme === "custom" && html`<p class="hint">The signature scheme was given by the program that started this sandbox: configure the same one.</p>`}
  </div>`;
  return section(
    {
      id: "environment",
      title: "For a shop made with tillkit",
      lead: "Put these lines into its environment. The public address and the database are examples; set your own.",
    },
    content,
  );
}

/** Returns the environment of a tillkit application that uses this sandbox, with one variable a line. */
function environmentLines({ sandbox, baseUrl }: View): string {
  // The kit's webhook address ends with /webhook. The part before /webhook is the router's address.
  const own = sandbox.webhookAddresses.find(({ url }) => url.endsWith("/webhook"));
  const { client, signing } = sandbox;
  const variables = {
    TILLKIT_PUBLIC_URL: own?.url.slice(0, -"/webhook".length) ?? "http://localhost:3000/payments",
    TILLKIT_DATABASE: "shop.db",
    ...shopVariables({ url: baseUrl, client, signing }),
  };
  return Object.entries(variables)
    .map(([name, value]) => `${name}=${value}`)
    .join("\n");
}

function tokenSection(view: View): Html {
  const { sandbox } = view;
  const all = sandbox.accessTokens();
  const now = sandbox.clock.now();
  const lifetime = timeSpan(sandbox.settings.accessTokenTtlSeconds * 1000);
  const path = `${places.developer}/tokens/revoke`;
  const empty = html`<strong>No token was issued yet</strong> Your shop asks for one at the token address
    before it creates a payment.`;
  const items = all.slice(0, maxTokens).map((token) => tokenItem(token, now));
  const list = liveList({ id: "tokens-list", live: `Access tokens: ${all.length}`, empty }, items);
  const revokeAll = postForm(view, path, button("Revoke all", { kind: "danger", name: "all", value: "all" }));
  const heading = {
    id: "tokens",
    title: "Access tokens",
    lead: `A token is obtained with the client id and secret, and is valid for ${lifetime}.`,
  };
  return section({ ...heading, action: all.length > 0 && revokeAll }, postForm(view, path, list));
}

function tokenItem({ id, issuedAt, expiresAt, revoked }: SandboxToken, now: Date): Html {
  const isExpired = now.getTime() >= Date.parse(expiresAt);
  const revoke = button("Revoke", { kind: "danger control", about: `…${id}`, name: "id", value: id });
  const why = html`<span class="badge">${revoked ? "revoked" : "expired"}</span>`;
  return html`<li class="row">
    <code class="what">…${id}</code>
    ${revoked || isExpired ? why : revoke}
    <span class="more"> issued ${moment(issuedAt)} · expires ${moment(expiresAt)} </span>
  </li>`;
}

import { dataStyle, formStyle, frameStyle } from "../../../pages/design/components.js";
import { problemId, problemNotice } from "./form.js";
import { type View } from "./page-routes.js";
import { type HtmlFragment, type Html, html } from "../../../pages/html.js";
import { drawing } from "../../../pages/page.js";
import { type Page } from "../../http/page.js";
import { dashboardScript } from "./script.js";

/** The paths of the pages in the navigation. */
export const places = {
  overview: "/",
  payments: "/payments",
  developer: "/developer",
  webhooks: "/developer/webhooks",
  scenarios: "/developer/scenarios",
  behaviour: "/developer/behaviour",
} as const;

type Place = keyof typeof places;

const placeNames: Readonly<Record<Place, string>> = {
  overview: "Overview",
  payments: "Payments",
  developer: "Developer",
  webhooks: "Webhooks",
  scenarios: "Scenarios",
  behaviour: "Behaviour",
};

const tabs: readonly Place[] = ["overview", "payments", "developer"];
const developerLinks: readonly Place[] = ["developer", "webhooks", "scenarios", "behaviour"];

interface Content {
  /** The page's entry in the navigation. */
  place: Place;
  title: string;
  /** @default the title */
  heading?: HtmlFragment;
  lead?: HtmlFragment;
  /** A link back to a list, which is shown before the heading. */
  back?: { path: string; text: string };
  /** A badge, which is shown beside the heading. */
  badge?: Html;
  /** The page's path without the root, if it differs from the path of `place`. */
  path?: string;
  /** Messages by the name of an action. The address names the action whose message is shown. */
  done?: Readonly<Record<string, string>>;
  /** A notice that replaces the message. */
  notice?: Html | undefined;
  status?: number;
  content?: HtmlFragment;
}

/** Returns a page of the dashboard, with the content in the frame of all pages. */
export function dashboardPage(view: View, page: Content): Page {
  const { root, problem } = view;
  const { place, title, path = places[place], heading = title, lead, back, badge, content } = page;
  const done = doneIn(page.done, view);
  // A refused form shows its problem. If the page no longer has this form, the page itself shows the problem.
  const isAtForm = problem && html`${content}`.toString().includes(`id="${problemId}"`);
  return {
    language: "en",
    title: `${title} · Payment sandbox`,
    ...(page.status !== undefined && { status: page.status }),
    style: dashboardStyle + dataStyle + formStyle + frameStyle,
    script: dashboardScript,
    skip: html`<a class="skip" href="#content">Skip to content</a>`,
    main: html`<div class="sides">
      ${navigation(place, view)}
      <main
        class="content sections"
        id="content"
        tabindex="-1"
        data-page="${root}${path}"
        data-events="${root}/sandbox/api/events"
      >
        <header>
          ${back !== undefined && html`<a class="back" href="${root}${back.path}">← ${back.text}</a>`}
          <div class="title">
            <h1>${heading}</h1>
            ${badge}
          </div>
          ${lead !== undefined && html`<p class="lead">${lead}</p>`}
        </header>
        ${page.notice ?? (done !== undefined && notice("good", done, html`role="status"`))}
        ${problem && !isAtForm && problemNotice(problem)} ${content}
        <p class="hidden" role="status" id="live-status"></p>
      </main>
    </div>`,
  };
}

/** Returns a notice about something done, something wrong or something unusual. */
export function notice(tone: "good" | "bad" | "warn", content: HtmlFragment, attributes?: Html): Html {
  return html`<p class="notice ${tone}" ${attributes}>${content}</p>`;
}

/** Returns the page for a payment or a delivery that does not exist. */
export function unknownDashboardPage(view: View, place: Place): Page {
  const back = { path: places[place], text: placeNames[place] };
  const lead = "Perhaps the sandbox was restarted: without a state file it forgets everything when it stops.";
  return dashboardPage(view, { place, title: "Nothing here", lead, back, status: 404 });
}

/** Returns the message that the address names; `undefined` if the page has no such message. */
function doneIn(messages: Readonly<Record<string, string>> = {}, { query }: View): string | undefined {
  const done = query["done"] ?? "";
  return Object.hasOwn(messages, done) ? messages[done] : undefined;
}

function navigation(place: Place, { root, sandbox }: View): Html {
  const isDevelopers = place !== "overview" && place !== "payments";
  const item = (to: Place, name: string, current: string | false): Html => {
    const here = current && html`aria-current="${current}"`;
    return html`<li><a href="${root}${places[to]}" ${here}>${name}</a></li>`;
  };
  const first = tabs.map((to) => {
    const isHere = to === "developer" ? isDevelopers && "true" : to === place && "page";
    return item(to, placeNames[to], isHere);
  });
  const second = developerLinks.map((to) => {
    const name = to === "developer" ? "Credentials" : placeNames[to];
    return item(to, name, to === place && "page");
  });
  return html`<nav class="nav" aria-label="Dashboard">
    <p class="brand">
      ${drawing("tick")} <span>Sandbox <small>Merchant: ${sandbox.merchantName}</small></span>
    </p>
    <ul class="tabs">
      ${first}
    </ul>
    <ul class="section ${isDevelopers && "open"}" aria-label="Developer">
      ${second}
    </ul>
  </nav>`;
}

/** The dashboard is violet, so that it does not look like a shop. Only the script shows the copy buttons. */
const dashboardStyle = `
:root { --accent: #5b3fb0; --accent-strong: #472f91; --tint: #f0ecfb; }
@media (prefers-color-scheme: dark) {
  :root { --accent: #b9a5ff; --accent-strong: #cfc2ff; --on-accent: #1d1240; --tint: #272044; }
}
.good { --tone: #0b6650; --paper: #e8f4ee; }
@media (prefers-color-scheme: dark) { .good { --tone: #46cfa6; --paper: #16302a; } }
html:not(.can-copy) [data-copy] { display: none; }
`;

import { type Fragment, type Html, html } from "../../pages/html.js";
import { type Page } from "../page.js";
import { deskStyle } from "./style/dashboard-style.js";
import { frameWords } from "./frame-words.js";
import { deskScript } from "./script.js";
import { type View } from "./view.js";

/** The pages of the navigation, by their paths. */
export const places = {
  overview: "/",
  payments: "/payments",
  developer: "/developer",
  webhooks: "/developer/webhooks",
  scenarios: "/developer/scenarios",
  behaviour: "/developer/behaviour",
  choices: "/not-shown",
} as const;

type Place = keyof typeof places;

const first = ["overview", "payments", "developer"] as const satisfies Place[];
const second = ["developer", "webhooks", "scenarios", "behaviour", "choices"] as const satisfies Place[];

interface Framed {
  /** Where the page belongs in the navigation. */
  place: Place;
  title: string;
  /** The page's own address without the root, where it is not the place's. */
  path?: string;
  /** Said at the top: what was done just now. */
  done?: Html | string | undefined;
  /** The page's way up, heading and introduction. */
  head: Html;
  content: Fragment;
}

/** What every page of the dashboard has around its content. */
export function framed(view: View, { place, title, path, done, head, content }: Framed): Page {
  const { language, root, problem, merchantName } = view;
  const words = frameWords[language];
  return {
    language,
    title: `${title} · ${words.sandbox}`,
    style: deskStyle,
    script: deskScript,
    skip: html`<a class="skip" href="#content">${words.skip}</a>`,
    main: html`<div class="sides">
      <nav class="nav" aria-label="${words.navigation}">
        <p class="brand">${mark} <span>${merchantName}</span></p>
        <ul class="tabs">
          ${first.map((each) => tab(view, each, place))}
        </ul>
        <ul class="section ${isDevelopers(place) && "open"}" aria-label="${words.places.developer}">
          ${second.map((each) => link(view, each, each === "developer" ? words.credentials : undefined, place))}
        </ul>
      </nav>
      <main
        class="desk"
        id="content"
        tabindex="-1"
        data-page="${root}${path ?? places[place]}"
        data-events="${root}/sandbox/api/events"
      >
        <header>${head}</header>
        ${done !== undefined && html`<p class="told" role="status">${done}</p>`}
        ${
          problem !== undefined &&
          html`<p class="told bad" role="alert" lang="${problem.language ?? language}">${problem.text}</p>`
        }
        ${content}
        <p class="hidden" role="status" id="live-status"></p>
      </main>
    </div>`,
  };
}

function isDevelopers(place: Place): boolean {
  return place !== "overview" && place !== "payments";
}

function tab(view: View, each: (typeof first)[number], place: Place): Html {
  const words = frameWords[view.language];
  if (each === "developer" && isDevelopers(place)) {
    return html`<li>
      <a href="${view.root}${places[each]}" aria-current="true">${words.places[each]}</a>
    </li>`;
  }
  return link(view, each, words.places[each], place);
}

function link({ language, root }: View, each: Place, text: string | undefined, place: Place): Html {
  const name = text ?? frameWords[language].places[each];
  const href = `${root}${places[each]}`;
  return each === place
    ? html`<li><a href="${href}" aria-current="page">${name}</a></li>`
    : html`<li><a href="${href}">${name}</a></li>`;
}

const mark = html`<svg viewBox="0 0 32 32" aria-hidden="true">
  <rect width="32" height="32" rx="9" fill="#0b6650" />
  <path
    d="m9 16.5 5 5 9-10"
    fill="none"
    stroke="#fff"
    stroke-width="3.2"
    stroke-linecap="round"
    stroke-linejoin="round"
  />
</svg>`;

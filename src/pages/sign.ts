import { type Html, html } from "./html.js";

/** The lines of each drawing, 24 by 24. */
const drawings = {
  tick: html`<path d="m5 12.5 4.5 4.5L19 7.5" />`,
  cross: html`<path d="m7 7 10 10m0-10L7 17" />`,
  clock: html`<path d="M12 6v6.5l4 2.5" />`,
  circle: html`<path d="M12 3a9 9 0 1 0 9 9" />`,
  back: html`<path d="M10 7 5 12l5 5M5 12h14" />`,
  alert: html`<path d="M12 5v9M12 18.5h.01" />`,
  search: html`<path d="M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 1 0 0-13M15.5 15.5 20 20" />`,
} as const;

type Drawing = keyof typeof drawings;

/** Returns a round sign with one drawing in the colours of a tone. Screen readers ignore it: the heading says the same. */
export function statusSign(name: Drawing, tone?: "good" | "bad" | "info"): Html {
  return html`<div class="sign ${tone}" aria-hidden="true">${drawing(name)}</div>`;
}

/** Returns a drawing alone. */
export function drawing(name: Drawing): Html {
  return html`<svg class="drawing ${name}" viewBox="0 0 24 24" aria-hidden="true">${drawings[name]}</svg>`;
}

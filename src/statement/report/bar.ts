import { html, type Html } from "../../pages/html.js";

/** What a piece of a bar says by its colour. */
export type Tone = "good" | "loss" | "change" | "twice" | "note";

/** A horizontal bar. Widths are shares of `whole`; what is not nothing is never too thin to be seen. */
export function bar(
  pieces: readonly { tone: Tone; size: number }[],
  whole: number,
  label: string,
  thin = false,
): Html {
  let at = 0;
  const rects = pieces.flatMap(({ tone, size }) => {
    if (size <= 0 || whole <= 0) return [];
    const width = Math.max(6, Math.round((1000 * size) / whole));
    const x = Math.min(at, 1000 - width);
    at = x + width;
    return html`<g class="${tone}"><rect x="${x}" y="0" width="${width}" height="10" /></g>`;
  });
  return html`<svg
    class="bar${thin ? " thin" : ""}"
    viewBox="0 0 1000 10"
    preserveAspectRatio="none"
    role="img"
    aria-label="${label}"
  >
    ${rects}
  </svg>`;
}

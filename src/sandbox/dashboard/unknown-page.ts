import { html } from "../../pages/html.js";
import { type Page } from "../page.js";
import { framed } from "./frame.js";
import { frameWords } from "./frame-words.js";
import { type View } from "./view.js";

/** There is no payment, or no delivery, of this id. */
export function unknownPlace(view: View, place: "payments" | "webhooks"): Page {
  const words = frameWords[view.language];
  return framed(view, {
    place,
    title: words.unknownTitle,
    head: html`<h1>${words.unknownTitle}</h1>
      <p class="lead">${words.unknownText}</p>`,
    content: undefined,
  });
}

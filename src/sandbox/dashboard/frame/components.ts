import { type HtmlFragment, type Html, html } from "../../../pages/html.js";
import { timeSpan } from "./format.js";
import { type View } from "./page-routes.js";

/** Returns a section of a page with a heading. `action` is shown beside the heading. */
export function section(
  { id, title, lead, action }: { id: string; title: string; lead?: string; action?: HtmlFragment },
  content: HtmlFragment,
): Html {
  return html`<section aria-labelledby="${id}">
    <div class="head">
      <h2 id="${id}">${title}</h2>
      ${action}
    </div>
    ${lead !== undefined && html`<p class="lead">${lead}</p>`} ${content}
  </section>`;
}

export function code(value: HtmlFragment): Html {
  return html`<code>${value}</code>`;
}

/** Returns an address that a narrow screen can break after a slash. */
export function urlText(url: string): Html {
  return code(breakable(url));
}

function breakable(text: string): readonly Html[] {
  const parts = text.split(/(?<=[^/]\/)(?=[^/])/);
  return parts.map((part, index) => html`${index > 0 && html`<wbr />`}${part}`);
}

/** Returns a link to a path of the sandbox. */
export function link({ root }: View, path: string, text: HtmlFragment, className?: string): Html {
  return html`<a ${className && html`class="${className}"`} href="${root}${path}">${text}</a>`;
}

/** Returns one named value of a list of facts. */
export function namedValue(name: HtmlFragment, value: HtmlFragment): Html {
  return html`<div>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`;
}

/** Returns one named value. If the browser can copy, the value has a button for copying. */
export function copyable(id: string, name: string, value: string): Html {
  return copyableFact(id, name, html`<code id="${id}">${breakable(value)}</code>`);
}

/**
 * Returns one named secret. The secret is shown only after a click, and can be copied without being shown.
 */
export function secret(id: string, name: string, value: string): Html {
  const shown = html`<details>
    <summary>Show <span class="hidden">${name}</span></summary>
    <code id="${id}">${value}</code>
  </details>`;
  return copyableFact(id, name, shown);
}

function copyableFact(id: string, name: string, shown: Html): Html {
  return html`<div class="centred">
    <dt>${name}</dt>
    <dd class="value">${shown} ${copyButton(id, name)}</dd>
  </div>`;
}

/** Returns a button that copies the text of the element with this id. */
export function copyButton(id: string, name: string): Html {
  return html`<button type="button" class="button" data-copy="${id}" data-copied="Copied">
    <span>Copy</span> <span class="hidden">${name}</span>
  </button>`;
}

/** Returns a sentence that says how far the sandbox's time is ahead of the machine's clock. */
export function timeAhead(now: Date): string {
  const aheadMs = now.getTime() - Date.now();
  return aheadMs < 1000
    ? "The same as the machine’s clock."
    : `It is ${timeSpan(aheadMs)} ahead of the machine.`;
}

import { type HtmlFragment, type Html, html } from "../../../pages/html.js";
import { timeSpan } from "./format.js";
import { type View } from "./context.js";

/** Returns a section of a page with its heading; `action` stands beside the heading. */
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

/** Returns a value in the typeface of code. */
export function code(value: HtmlFragment): Html {
  return html`<code>${value}</code>`;
}

/** Returns an address, which a narrow screen breaks after a slash. */
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

/** Returns a button that sends its form. `about` completes its name for a screen reader. */
export function button(
  text: HtmlFragment,
  {
    kind = "",
    about,
    name,
    value,
  }: { kind?: string; about?: HtmlFragment; name?: string; value?: string } = {},
): Html {
  const field = name !== undefined && html`name="${name}" value="${value}"`;
  return html`<button class="button ${kind}" ${field}>
    ${text} ${about !== undefined && html`<span class="hidden">${about}</span>`}
  </button>`;
}

/** Returns a form that is sent to a path of the sandbox. */
export function postForm({ root }: View, path: string, content: HtmlFragment, className = ""): Html {
  return html`<form class="${className}" method="post" action="${root}${path}">${content}</form>`;
}

/** Returns one named value of a list of facts. */
export function namedValue(name: HtmlFragment, value: HtmlFragment): Html {
  return html`<div>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`;
}

/** Returns one named value. Where the browser can copy, it has a button for that. */
export function copyable(id: string, name: string, value: string): Html {
  return copyableFact(id, name, html`<code id="${id}">${breakable(value)}</code>`);
}

/** Returns one named secret, which is shown after a click and copied without being shown. */
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

export interface Field {
  /** The field's id, and its name in the form. */
  id: string;
  label: HtmlFragment;
  hint?: HtmlFragment;
  error?: HtmlFragment;
}

/** Returns a control under its label and its hint, and over what is wrong with it. */
export function labelled({ id, label, hint, error }: Field, control: Html): Html {
  return html`<div class="field">
    <label for="${id}">${label}</label>
    ${hint && html`<p class="hint" id="${id}-hint">${hint}</p>`} ${control}
    ${error && html`<p class="hint bad" id="${id}-error">${error}</p>`}
  </div>`;
}

const describedBy = ({ id, hint }: Field) => hint && html`aria-describedby="${id}-hint"`;

/** Returns a field of one line; `attributes` are further attributes of its control. */
export function textField(field: Field, value: HtmlFragment, attributes?: Html): Html {
  const { id, error } = field;
  const wrong = error && html`aria-invalid="true" aria-errormessage="${id}-error"`;
  const more = html`${attributes} ${describedBy(field)} ${wrong}`;
  return labelled(field, html`<input id="${id}" name="${id}" autocomplete="off" ${more} value="${value}" />`);
}

type Option = string | readonly [value: string, text: string];

/** Returns a field that offers values, each with its text where that differs. */
export function selectField(field: Field, options: readonly Option[], chosen?: string | null): Html {
  const { id } = field;
  const choices = options.map((option) => {
    const [value, text] = typeof option === "string" ? [option, option] : option;
    return html`<option value="${value}" ${value === chosen && html`selected`}>${text}</option>`;
  });
  return labelled(
    field,
    html`<select id="${id}" name="${id}" ${describedBy(field)}>
      ${choices}
    </select>`,
  );
}

/** Returns a box that is ticked or not. */
export function checkbox({ id, label, hint }: Field, isTicked: boolean, name = id, value = "on"): Html {
  return html`<div class="check">
    <input type="checkbox" id="${id}" name="${name}" value="${value}" ${isTicked && html`checked`} />
    <label for="${id}">${label}</label>
    ${hint && html`<span class="hint">${hint}</span>`}
  </div>`;
}

/** Returns a sentence that says how far the sandbox's time is ahead of the machine's clock. */
export function timeAhead(now: Date): string {
  const aheadMs = now.getTime() - Date.now();
  return aheadMs < 1000
    ? "The same as the machine’s clock."
    : `It is ${timeSpan(aheadMs)} ahead of the machine.`;
}

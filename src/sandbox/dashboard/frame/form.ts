import { type HtmlFragment, type Html, html } from "../../../pages/html.js";
import { type Problem, type View } from "./page-routes.js";

/** Returns a button that sends its form. `about` completes the button's name for screen readers. */
export function button(
  text: HtmlFragment,
  options: { kind?: string; about?: HtmlFragment; name?: string; value?: string } = {},
): Html {
  const { kind = "", about, name, value } = options;
  const field = name !== undefined && html`name="${name}" value="${value}"`;
  return html`<button class="button ${kind}" ${field}>
    ${text} ${about !== undefined && html`<span class="hidden">${about}</span>`}
  </button>`;
}

export function postForm({ root }: View, path: string, content: HtmlFragment, className = ""): Html {
  return html`<form class="${className}" method="post" action="${root}${path}">${content}</form>`;
}

/** Returns a form with fields. A refused form begins with the reason, and the browser scrolls there. */
export function fieldForm(view: View, path: string, content: HtmlFragment, className = ""): Html {
  const reason = view.problem?.path === path && problemNotice(view.problem);
  return postForm(view, `${path}#${problemId}`, [reason, content], className);
}

/** The id of the notice that says why a form was refused. A page has at most one such notice. */
export const problemId = "problem";

export function problemNotice({ text }: Problem): Html {
  return html`<p class="notice bad" id="${problemId}" role="alert">${text}</p>`;
}

export interface Field {
  /** The id of the field, which is also the field's name in the form. */
  id: string;
  label: HtmlFragment;
  hint?: HtmlFragment;
  error?: HtmlFragment;
}

/** Returns a control below its label and its hint, and above its error. */
export function labelled({ id, label, hint, error }: Field, control: Html): Html {
  return html`<div class="field">
    <label for="${id}">${label}</label>
    ${hint && html`<p class="hint" id="${id}-hint">${hint}</p>`} ${control}
    ${error && html`<p class="hint bad" id="${id}-error">${error}</p>`}
  </div>`;
}

const describedBy = ({ id, hint }: Field) => hint && html`aria-describedby="${id}-hint"`;

/** Returns a field of one line. `attributes` are added to the control. */
export function textField(field: Field, value: HtmlFragment, attributes?: Html): Html {
  const { id, error } = field;
  const wrong = error && html`aria-invalid="true" aria-errormessage="${id}-error"`;
  const more = html`${attributes} ${describedBy(field)} ${wrong}`;
  return labelled(field, html`<input id="${id}" name="${id}" autocomplete="off" ${more} value="${value}" />`);
}

type Option = string | readonly [value: string, text: string];

/** Returns a field that offers values. A value may have a different text for people. */
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

export function checkbox({ id, label, hint }: Field, isTicked: boolean, name = id, value = "on"): Html {
  return html`<div class="check">
    <input type="checkbox" id="${id}" name="${name}" value="${value}" ${isTicked && html`checked`} />
    <label for="${id}">${label}</label>
    ${hint && html`<span class="hint">${hint}</span>`}
  </div>`;
}

const escapes: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Markup that the tag below made. Everything else in a page is escaped. */
export class Html {
  constructor(readonly markup: string) {}
}

export type Fragment = Html | string | number | undefined | false | readonly Fragment[];

/** Makes markup from a template, and escapes its placeholders: html`<h1>${name}</h1>`. */
export function html(parts: TemplateStringsArray, ...fragments: Fragment[]): Html {
  return new Html(parts.reduce((markup, part, index) => markup + render(fragments[index - 1]) + part));
}

function render(fragment: Fragment): string {
  if (fragment === undefined || fragment === false) return "";
  if (fragment instanceof Html) return fragment.markup;
  if (typeof fragment === "object") return fragment.map(render).join("");
  return String(fragment).replace(/[&<>"']/g, (character) => escapes[character]!);
}

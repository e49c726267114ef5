const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
  "`": "&#96;",
};

/** Markup that is safe to send. Use the {@link html} tag. Pass only constants to the constructor. */
export class Html {
  readonly #markup: string;

  constructor(markup: string) {
    this.#markup = markup;
  }

  toString(): string {
    return this.#markup;
  }
}

/** A value for a placeholder. `undefined`, `null` and `false` print nothing; lists print in order. */
export type HtmlFragment = string | number | Html | undefined | null | false | readonly HtmlFragment[];

/**
 * Builds markup from a template, and escapes everything in a placeholder that this tag did not make. Put
 * placeholders only in text and in quoted attributes. Escaping does not make a value safe in a script, a
 * style, an unquoted attribute, or an address with an unchecked scheme.
 */
export function html(strings: TemplateStringsArray, ...fragments: HtmlFragment[]): Html {
  let markup = strings[0]!;
  for (const [index, fragment] of fragments.entries()) markup += render(fragment) + strings[index + 1]!;
  return new Html(markup);
}

function render(fragment: HtmlFragment): string {
  if (fragment instanceof Html) return fragment.toString();
  if (fragment === undefined || fragment === null || fragment === false) return "";
  if (typeof fragment === "object") return fragment.map(render).join("");
  return String(fragment).replace(/[&<>"'`]/g, (character) => escapes[character]!);
}

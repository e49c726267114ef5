/** The languages of every page. The first is for browsers that ask for neither. */
export const languages = ["en", "fr"] as const;

/** A language of the pages. */
export type Language = (typeof languages)[number];

/** One text in each language. */
export type Pair = readonly [english: string, french: string];

/** The texts of a page by their names. A text with values in it is a function; texts may be grouped. */
interface Table {
  readonly [name: string]: Pair | ((...values: never[]) => Pair) | Table;
}

/** The texts of a table in one language. */
export type Texts<T> = {
  readonly [Name in keyof T]: T[Name] extends Pair
    ? string
    : T[Name] extends (...values: infer Values) => Pair
      ? (...values: Values) => string
      : Texts<T[Name]>;
};

/** Returns the texts of a table in each language. A text without its French does not compile. */
export function translate<const T extends Table>(table: T): Readonly<Record<Language, Texts<T>>> {
  return { en: textsIn("en", table) as Texts<T>, fr: textsIn("fr", table) as Texts<T> };
}

function textsIn(language: Language, entry: Table[string]): unknown {
  if (typeof entry === "function") return (...values: never[]) => inLanguage(entry(...values), language);
  if (isPair(entry)) return inLanguage(entry, language);
  return Object.fromEntries(Object.entries(entry).map(([name, each]) => [name, textsIn(language, each)]));
}

function isPair(entry: Pair | Table): entry is Pair {
  return Array.isArray(entry);
}

/** Returns the text of this language. */
export function inLanguage([english, french]: Pair, language: Language): string {
  return language === "fr" ? french : english;
}

/** The part of an Express request that reads its `Accept-Language` header. */
interface LanguageRequest {
  acceptsLanguages(...offered: string[]): string | false;
}

/** Returns the language of a tag such as `fr-KM`, where the pages have it; otherwise the one that the browser asks for. */
export function readLanguage(req: LanguageRequest, tag?: string): Language {
  const own = languages.find((language) => language === tag?.toLowerCase().split("-")[0]);
  return own ?? ((req.acceptsLanguages(...languages) || languages[0]) as Language);
}

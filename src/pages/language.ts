/** The languages of every page. The first language is the default. */
export const languages = ["en", "fr"] as const;

/** A language of the pages. */
export type Language = (typeof languages)[number];

/** One text in each language. */
export type Pair = readonly [english: string, french: string];

/** A page's translations by name. A translation with values is a function. A nested table is a group. */
interface TranslationTable {
  readonly [name: string]: Pair | ((...values: never[]) => Pair) | TranslationTable;
}

/** The translations of a table in one language. */
export type Translations<T> = {
  readonly [Name in keyof T]: T[Name] extends Pair
    ? string
    : T[Name] extends (...values: infer Values) => Pair
      ? (...values: Values) => string
      : Translations<T[Name]>;
};

/** Returns the translations of a table by language. An entry without a French text does not compile. */
export function translate<const T extends TranslationTable>(
  table: T,
): Readonly<Record<Language, Translations<T>>> {
  return { en: tableIn("en", table) as Translations<T>, fr: tableIn("fr", table) as Translations<T> };
}

function tableIn(language: Language, entry: TranslationTable[string]): unknown {
  if (typeof entry === "function") return (...values: never[]) => inLanguage(entry(...values), language);
  if (isPair(entry)) return inLanguage(entry, language);
  return Object.fromEntries(Object.entries(entry).map(([name, each]) => [name, tableIn(language, each)]));
}

function isPair(entry: Pair | TranslationTable): entry is Pair {
  return Array.isArray(entry);
}

/** Returns the text of a pair in this language. */
export function inLanguage([english, french]: Pair, language: Language): string {
  return language === "fr" ? french : english;
}

/** The part of an Express request that reads its `Accept-Language` header. */
interface LanguageRequest {
  acceptsLanguages(...offered: string[]): string | false;
}

/**
 * Returns the language of a tag such as `fr-KM`, if the pages have it, or else the browser's language, or
 * English. `more` adds languages that a page has besides `languages`.
 */
export function readLanguage(req: LanguageRequest, tag?: string): Language;
export function readLanguage(req: LanguageRequest, tag: string | undefined, more: readonly string[]): string;
export function readLanguage(req: LanguageRequest, tag?: string, more: readonly string[] = []): string {
  const offered = [...languages, ...more];
  const own = offered.find((language) => language === tag?.toLowerCase().split("-")[0]);
  return own ?? (req.acceptsLanguages(...offered) || languages[0]);
}

/** The languages of every page. */
export const languages = ["en", "fr"] as const;

export type Language = (typeof languages)[number];

/** The words of a page. The English list says which words there are; a French one that lacks a word does not compile. */
export function inLanguages<Words>(lists: {
  en: Words;
  fr: NoInfer<Words>;
}): Readonly<Record<Language, Words>> {
  return lists;
}

import { type View } from "./view.js";

/** What the address says was done just now, in words; `undefined` where it names nothing that this page knows. */
export function doneIn(words: Readonly<Record<string, string>>, { query }: View): string | undefined {
  const done = query["done"] ?? "";
  return Object.hasOwn(words, done) ? words[done] : undefined;
}

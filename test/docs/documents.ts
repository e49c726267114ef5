import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/** The top of the repository. */
export const root = path.resolve(__dirname, "../..");

/** A file of the repository, by its path from the top. */
export function read(file: string): string {
  return readFileSync(path.join(root, file), "utf8");
}

/** Every document: those at the top, and those in `docs`. */
export const documents = [
  ...readdirSync(root).filter((file) => file.endsWith(".md")),
  ...readdirSync(path.join(root, "docs")).map((file) => `docs/${file}`),
].map((file) => ({ file, text: read(file) }));

/** The TypeScript blocks of a document, in order. */
export function codeBlocks(text: string): string[] {
  return [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map((match) => match[1]!);
}

/** The text without its code blocks. */
export function prose(text: string): string {
  return text.replaceAll(/^```.*?^```$/gms, "");
}

/** The names of an interface's members, in order. */
export function membersOf(file: string, name: string): string[] {
  const body = new RegExp(`interface ${name}\\b[^\\n]*\\{\\n(.*?)^\\}`, "ms").exec(read(file))?.[1];
  if (body === undefined) throw new Error(`${file} has no interface ${name}`);
  return [...body.matchAll(/^ {2}(?:readonly )?"?([a-zA-Z._]+)"?\??[:(<]/gm)].map((match) => match[1]!);
}

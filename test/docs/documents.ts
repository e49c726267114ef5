import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/** The root folder of the repository. */
export const root = path.resolve(__dirname, "../..");

/** Returns the text of a file; `file` is relative to the root folder. */
export function read(file: string): string {
  return readFileSync(path.join(root, file), "utf8");
}

/** Every document of the root folder and of these folders. `bench/results` is written by the benchmark. */
export const documents = ["", ".github", "bench", "docs", "docs/adr", "docs/fr"].flatMap((folder) =>
  readdirSync(path.join(root, folder))
    .filter((file) => file.endsWith(".md"))
    .map((file) => path.posix.join(folder, file))
    .map((file) => ({ file, text: read(file) })),
);

/** Returns the TypeScript blocks of a document, in order. */
export function codeBlocks(text: string): string[] {
  return [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map((match) => match[1]!);
}

/** Returns the text without its code blocks. */
export function prose(text: string): string {
  return text.replaceAll(/^```.*?^```$/gms, "");
}

/** Returns the names of an interface's members, in order. */
export function membersOf(file: string, name: string): string[] {
  const body = new RegExp(`interface ${name}\\b[^\\n]*\\{\\n(.*?)^\\}`, "ms").exec(read(file))?.[1];
  if (body === undefined) throw new Error(`${file} has no interface ${name}`);
  return [...body.matchAll(/^ {2}(?:readonly )?"?([a-zA-Z._]+)"?\??[:(<]/gm)].map((match) => match[1]!);
}

/** An entry of the index, docs/README.md. The page is relative to the root folder. */
export interface IndexEntry {
  section: string;
  title: string;
  page: string;
  about: string;
}

/** Returns the entries of an index: one for each link in its tables, with the other cell of the row. */
export function indexEntries(index = "docs/README.md"): IndexEntry[] {
  return read(index)
    .split(/^## /m)
    .slice(1)
    .flatMap((part) => {
      const [section = ""] = part.split("\n");
      const rows = [...part.matchAll(/^\| (.+) \| (.+) \|$/gm)].filter(([row]) => row.includes("]("));
      return rows.flatMap(([row, first, second]) =>
        [...row.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)].map(([, title, link]) => ({
          section,
          title: title!,
          page: path.posix.join(path.posix.dirname(index), link!),
          about: first!.includes("](") ? second! : first!,
        })),
      );
    });
}

import { readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { indexEntries, read, root } from "./documents.js";

const entries = indexEntries();

/** Returns llms.txt, which is for programs that read: the index as a list of links. */
function llmsText(): string {
  const [, about] = /^# tillkit\n\n(.*?)\n\n/s.exec(read("README.md"))!;
  const sections = [...new Set(entries.map(({ section }) => section))].map((section) => {
    const own = entries.filter((entry) => entry.section === section);
    const lines = own.map(({ title, page, about: text }) => `- [${title}](${page}): ${text}`);
    return `## ${section}\n\n${lines.join("\n")}\n`;
  });
  return `# tillkit\n\n> ${about!.replaceAll("\n", " ")}\n\n${sections.join("\n")}`;
}

describe("the index of the documents", () => {
  it("has every page of docs", () => {
    const pages = ["docs", "docs/fr"].flatMap((folder) =>
      readdirSync(path.join(root, folder))
        .filter((file) => file.endsWith(".md") && file !== "README.md")
        .map((file) => `${folder}/${file}`),
    );
    const listed = new Set(entries.map(({ page }) => page.split("#")[0]!));
    expect(pages.filter((page) => !listed.has(page))).toEqual([]);
  });

  it("has every decision in the list of the decisions, which names the numbers that are missing", () => {
    const list = read("docs/adr/README.md");
    const files = readdirSync(path.join(root, "docs/adr")).filter((file) => /^\d/.test(file));
    expect(files.filter((file) => !list.includes(`](${file})`))).toEqual([]);
    const numbers = new Set(files.map((file) => Number.parseInt(file, 10)));
    const missing = Array.from({ length: Math.max(...numbers) }, (_, index) => index + 1).filter(
      (number) => !numbers.has(number),
    );
    const named = [...list.matchAll(/The numbers ([\d, and]+) were never given/g)].flatMap(([, text]) =>
      (text!.match(/\d+/g) ?? []).map(Number),
    );
    expect(named).toEqual(missing);
  });

  it("has French pages with the programs and commands of the English ones", () => {
    const blocks = (page: string) => [...read(page).matchAll(/^```\w+\n.*?^```$/gms)].map(([block]) => block);
    expect(blocks("docs/fr/start.md")).toEqual(blocks("docs/start.md"));
  });

  it("is also llms.txt", () => {
    const made = llmsText();
    // Set by `npm run tables`, which writes the file and commits nothing.
    if (process.env["TILLKIT_TEST_WRITE_TABLE"] === "1") writeFileSync(path.join(root, "llms.txt"), made);
    expect(read("llms.txt")).toBe(made);
  });
});

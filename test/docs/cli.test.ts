import { writeFileSync } from "node:fs";
import path from "node:path";
import { commandSummaries, loadCommand } from "../../src/cli/commands.js";
import { exitCodes } from "../../src/cli/terminal/command.js";
import { type DiagnosisCode, hypotheses } from "../../src/cli/verify/hypotheses.js";
import { referenceOf } from "./cli-reference.js";
import { read, root } from "./documents.js";

let page = read("docs/cli.md");

if (process.env["TILLKIT_TEST_WRITE_TABLE"] === "1")
  beforeAll(async () => {
    for (const { name } of commandSummaries) {
      const made = referenceOf(await loadCommand(name)).trimEnd();
      const written = new RegExp(
        `(?<=^## tillkit ${name}\\n\\n)\`\`\`sh\\n.*?\\n\\| Exit code \\| Means \\|\\n.*?(?=\\n\\n|\\n?$(?![\\s\\S]))`,
        "ms",
      );
      page = page.replace(written, () => made);
    }
    writeFileSync(path.join(root, "docs/cli.md"), page);
  });

/** Returns the text under a heading, up to the next heading of its level. A single # is a comment of a shell. */
function section(heading: string): string {
  const [, text] =
    new RegExp(`^${heading}\\n(.*?)(?=^#{2,${heading.indexOf(" ")}} |(?![\\s\\S]))`, "ms").exec(page) ?? [];
  if (text === undefined) throw new Error(`docs/cli.md has no heading "${heading}".`);
  return text;
}

describe("the page on the command line", () => {
  it("has a section for each command, in their order, and no others", () => {
    const headings = [...page.matchAll(/^## tillkit (\w+)$/gm)].map(([, name]) => name);
    expect(headings).toEqual(commandSummaries.map(({ name }) => name));
  });

  it.each(commandSummaries)("has the help of tillkit $name", async ({ name }) => {
    expect(section(`## tillkit ${name}`)).toContain(referenceOf(await loadCommand(name)));
  });

  it("has a row for every exit code", () => {
    for (const [code, meaning] of Object.entries(exitCodes))
      expect(page).toContain(`| ${code} | ${meaning} |`);
  });

  it("has a row for every diagnosis of verify, with its fix, and no others", () => {
    const rows = [...section("### Why it does not match").matchAll(/^\| `(\w+)` \| (.+?) \| (.+) \|$/gm)];
    expect(rows.map(([, code]) => code)).toEqual(Object.keys(hypotheses));
    for (const [, code, , fix] of rows) expect(fix).toBe(hypotheses[code as DiagnosisCode].fix);
  });
});

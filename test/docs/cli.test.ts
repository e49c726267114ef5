import { commands } from "../../src/cli/commands.js";
import { exitCodes } from "../../src/cli/terminal/exit-code.js";
import { diagnoses } from "../../src/cli/verify/diagnoses.js";
import { referenceOf } from "./cli-reference.js";
import { read } from "./documents.js";

const page = read("docs/cli.md");

/** The text under a heading, up to the next that is not below it; a single # is a comment of a shell. */
function section(heading: string): string {
  const [, text] =
    new RegExp(`^${heading}\\n(.*?)(?=^#{2,${heading.indexOf(" ")}} |(?![\\s\\S]))`, "ms").exec(page) ?? [];
  if (text === undefined) throw new Error(`docs/cli.md has no heading "${heading}".`);
  return text;
}

describe("the page on the command line", () => {
  it("has a section for every command, in their order, and for no other", () => {
    const headings = [...page.matchAll(/^## tillkit (\w+)$/gm)].map(([, name]) => name);
    expect(headings).toEqual(commands.map(({ name }) => name));
  });

  it.each(commands)("says of tillkit $name what its help says", (command) => {
    expect(section(`## tillkit ${command.name}`)).toContain(referenceOf(command));
  });

  it("has a row for every exit code", () => {
    for (const [code, meaning] of Object.entries(exitCodes))
      expect(page).toContain(`| ${code} | ${meaning} |`);
  });

  it("has a row for every diagnosis of verify, with its fix, and for no other", () => {
    const rows = [...section("### Why it does not match").matchAll(/^\| `(\w+)` \| (.+?) \| (.+) \|$/gm)];
    expect(rows.map(([, code]) => code)).toEqual(Object.keys(diagnoses));
    for (const [, code, , fix] of rows) expect(fix).toBe(diagnoses[code as keyof typeof diagnoses]);
  });
});

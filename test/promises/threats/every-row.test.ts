import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { endpointThreats, fieldListThreats } from "./threats.js";

/** The tests of this folder, by the name that jest prints, each with whatever follows it in its title. */
const titles = readdirSync(__dirname)
  .filter((file) => file.endsWith(".test.ts") && file !== path.basename(__filename))
  .flatMap((file) => [
    ...readFileSync(path.join(__dirname, file), "utf8").matchAll(/(?:\bit|\))\(\s*(["'`])(.*?)\1,\s/gs),
  ])
  .map((match) => match[2]!);

it.each([...fieldListThreats, ...endpointThreats])("has a test that is named after the row: %s", (row) => {
  expect(titles.filter((title) => title.startsWith(`${row}: `))).not.toEqual([]);
});

const page = path.resolve(__dirname, "../../../../shared/THREATS.md");

describe("the page of threats", () => {
  // It lies beside the checkout where the project is built, and is no part of it.
  if (!existsSync(page)) {
    it("leaves out the comparison with the list here, because the page is not there", () => {
      expect(existsSync(page)).toBe(false);
    });
    return;
  }
  const [, first = "", second = ""] = readFileSync(page, "utf8").split(/^## \d+\. .*$/m);

  it("has the rows on public endpoints that the list here has", () => {
    const cells = [...second.matchAll(/^\| (.+?) \|/gm)].map((match) => match[1]!.replaceAll("`", ""));
    expect(cells.filter((cell) => cell !== "Threat")).toEqual(endpointThreats);
  });

  it("has no row on the signature over fields whose words the list here lacks", () => {
    const rows = first.split(/^(?=\d+\. )/m).slice(1);
    expect(rows.length).toBeGreaterThan(8);
    const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\d]+/gu) ?? [];
    const isAbout = (row: string) => {
      const words = wordsOf(row);
      return fieldListThreats.filter((threat) => wordsOf(threat).every((word) => words.includes(word)));
    };
    const lacking = rows.filter((row) => isAbout(row).length === 0);
    expect(lacking).toEqual([]);
  });
});

import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { endpointThreats, fieldListThreats } from "./threats.js";

/** The titles of the tests of this folder. */
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
  // The page is beside the checkout where the project is developed, and not part of it.
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

  it("has no row on the signature over fields that is missing in the list here", () => {
    const rows = first.split(/^(?=\d+\. )/m).slice(1);
    expect(rows.length).toBeGreaterThan(8);
    const tokensOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\d]+/gu) ?? [];
    const isAbout = (row: string) => {
      const tokens = tokensOf(row);
      return fieldListThreats.filter((threat) => tokensOf(threat).every((token) => tokens.includes(token)));
    };
    const lacking = rows.filter((row) => isAbout(row).length === 0);
    expect(lacking).toEqual([]);
  });
});

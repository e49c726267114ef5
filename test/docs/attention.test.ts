import { readFileSync } from "node:fs";
import path from "node:path";
import { attentionRules } from "tillkit";

describe("the page about what needs a person", () => {
  it("has every rule, in the order of the list", () => {
    const page = readFileSync(path.join(__dirname, "../../docs/attention.md"), "utf8");
    const table = page.slice(page.indexOf("| Rule |"), page.indexOf("The last two"));
    expect([...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, rule]) => rule)).toEqual([...attentionRules]);
  });
});

import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { faults } from "./faults.js";

const titles = readdirSync(__dirname)
  .filter((file) => file.endsWith(".test.ts") && file !== path.basename(__filename))
  .flatMap((file) => [
    ...readFileSync(path.join(__dirname, file), "utf8").matchAll(
      /\bit(?:\.each\(\w+\))?\(\s*(["'`])(.*?)\1,\s/gs,
    ),
  ])
  .map((match) => match[2]!);

it.each(faults)("has a test that is named after the fault: %s", (fault) => {
  expect(titles.filter((title) => title.startsWith(`${fault}: `))).not.toEqual([]);
});

it("has no test here that is not named after a fault", () => {
  const named = (title: string) => faults.some((fault) => title.startsWith(`${fault}: `));
  expect(titles.filter((title) => !named(title))).toEqual([]);
});

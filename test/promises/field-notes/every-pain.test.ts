import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { pains } from "./pains.js";

const titles = readdirSync(__dirname)
  .filter((file) => file.endsWith(".test.ts") && file !== path.basename(__filename))
  .flatMap((file) => [
    ...readFileSync(path.join(__dirname, file), "utf8").matchAll(/\bit\(\s*(["'`])(.*?)\1,\s/gs),
  ])
  .map((match) => match[2]!);

it("has sixteen different names", () => {
  expect(new Set(pains).size).toBe(16);
});

it.each(pains)("has a test that is named after the mistake: %s", (pain) => {
  expect(titles.filter((title) => title.startsWith(`${pain}: `))).not.toEqual([]);
});

it("has no test here that is not named after a mistake", () => {
  const named = (title: string) => pains.some((pain) => title.startsWith(`${pain}: `));
  expect(titles.filter((title) => !named(title))).toEqual([]);
});

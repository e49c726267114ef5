import { writeFileSync } from "node:fs";
import path from "node:path";
import { reconciliationPage } from "../webhook/reconciliation/reconciliation-table.js";
import { read, root } from "./documents.js";

const page = "docs/reconciliation-table.md";

it(`${page} says what the code decides`, () => {
  const made = reconciliationPage();
  // Set by `npm run tables`, which writes the file and commits nothing.
  if (process.env["TILLKIT_TEST_WRITE_TABLE"] === "1") writeFileSync(path.join(root, page), made);
  expect(read(page)).toBe(made);
});

import { writeFileSync } from "node:fs";
import path from "node:path";
import { decisionsDocument } from "../webhook/reconciliation/decision-table.js";
import { read, root } from "./documents.js";

const file = path.join(root, "docs/decisions.md");

it("docs/decisions.md is what the code decides", () => {
  const made = decisionsDocument();
  // `npm run decisions` sets this, and commits nothing.
  if (process.env["TILLKIT_WRITE_DECISIONS"] === "1") writeFileSync(file, made);
  expect(read("docs/decisions.md")).toBe(made);
});

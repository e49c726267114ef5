import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { apiReport } from "./api-report.js";

const root = path.resolve(__dirname, "../..");
const file = path.join(__dirname, "api-report.txt");

it("the public interface is that of the report, so that no change of it goes unseen", () => {
  const made = apiReport(root);
  // Set by `npm run tables`, which writes the file and commits nothing.
  if (process.env["TILLKIT_TEST_WRITE_TABLE"] === "1") writeFileSync(file, made);
  expect(readFileSync(file, "utf8")).toBe(made);
});

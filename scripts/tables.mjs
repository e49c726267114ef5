// Writes what is made from the sources: parts of documents, and the report of the public interface. The tests below
// write them when TILLKIT_TEST_WRITE_TABLE is set.
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";

const jest = createRequire(import.meta.url).resolve("jest/bin/jest");
const tests = [
  "test/docs/reconciliation-table.test.ts",
  "test/docs/option-tables.test.ts",
  "test/docs/cli.test.ts",
  "test/docs/index.test.ts",
  "test/interfaces/documents.test.ts",
  "test/package/api-report.test.ts",
];
const { status } = spawnSync(process.execPath, [jest, ...tests], {
  stdio: "inherit",
  env: { ...process.env, TILLKIT_TEST_WRITE_TABLE: "1" },
});
process.exitCode = status ?? 1;

// Writes docs/reconciliation-table.md by calling the function that decides what a webhook means.
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";

const jest = createRequire(import.meta.url).resolve("jest/bin/jest");
const { status } = spawnSync(process.execPath, [jest, "test/docs/reconciliation-table.test.ts"], {
  stdio: "inherit",
  env: { ...process.env, TILLKIT_TEST_WRITE_TABLE: "1" },
});
process.exitCode = status ?? 1;

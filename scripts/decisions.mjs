// Writes docs/decisions.md: the decision function's whole table, made by calling it.
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";

const jest = createRequire(import.meta.url).resolve("jest/bin/jest");
const { status } = spawnSync(process.execPath, [jest, "test/docs/decisions.test.ts"], {
  stdio: "inherit",
  env: { ...process.env, TILLKIT_WRITE_DECISIONS: "1" },
});
process.exitCode = status ?? 1;

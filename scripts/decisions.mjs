// Writes docs/decisions.md: the table of all decisions, made by calling the decision function.
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";

const jest = createRequire(import.meta.url).resolve("jest/bin/jest");
const { status } = spawnSync(process.execPath, [jest, "test/docs/decisions.test.ts"], {
  stdio: "inherit",
  env: { ...process.env, TILLKIT_WRITE_DECISIONS: "1" },
});
process.exitCode = status ?? 1;

import { existsSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

/** The prefix of every webhook secret of the tests. Random characters follow it. */
const prefix = "whsec_";
const forms = {
  plain: new RegExp(`${prefix}[\\w.-]{12,}`),
  hexadecimal: new RegExp(Buffer.from(prefix).toString("hex"), "i"),
  base64: new RegExp(Buffer.from(prefix).toString("base64")),
};

/** Checks that no output of the tests contains one of their secrets. A stage that counts as one test. */
export async function searchPrinted(files) {
  const name = "Secrets: none in what the tests printed";
  console.log(`\n── ${name} ${"─".repeat(Math.max(0, 76 - name.length))}\n`);
  // The last output of a stage may not be in its file yet.
  await pause(500);
  const found = files.filter(existsSync).flatMap((file) =>
    readFileSync(file, "latin1")
      .split("\n")
      .flatMap((line, index) =>
        Object.entries(forms)
          .filter(([, form]) => form.test(line))
          .map(([form]) => `${file}, line ${index + 1}: a secret, ${form}`),
      ),
  );
  for (const where of found) console.log(where);
  const passed = found.length === 0;
  console.log(`${passed ? "✓" : "✗"} ${name}: ${passed ? "passed" : `${found.length} lines`}`);
  return {
    name,
    passed,
    seconds: 0.5,
    totals: { passed: Number(passed), failed: Number(!passed), skipped: 0 },
  };
}

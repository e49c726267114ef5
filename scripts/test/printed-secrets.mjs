import { existsSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

/** Every webhook secret of the suite begins so: with this, and with what can be guessed by nobody. */
const beginning = "whsec_";
const forms = {
  plain: new RegExp(`${beginning}[\\w.-]{12,}`),
  hexadecimal: new RegExp(Buffer.from(beginning).toString("hex"), "i"),
  base64: new RegExp(Buffer.from(beginning).toString("base64")),
};

/** Looks whether one of the suite's secrets stands in what was printed; as a stage that counts as one test. */
export async function searchPrinted(files) {
  const name = "Secrets: none in what the tests printed";
  console.log(`\n── ${name} ${"─".repeat(Math.max(0, 76 - name.length))}\n`);
  // The last words of a stage may be on their way to its file.
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

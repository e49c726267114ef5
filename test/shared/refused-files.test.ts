import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { refusedDirectoryOf, refusedFiles, replayFile, verifyLast } from "../../src/shared/refused-files.js";

it("the refused webhooks of a directory are those with their ending, the newest first", async () => {
  const directory = mkdtempSync(path.join(tmpdir(), "tillkit-refused-"));
  const names = ["2026-11-20T10.http", "2026-11-21T09.http", "2026-11-20T11.http", "2026-11-22.tmp"];
  for (const name of names) writeFileSync(path.join(directory, name), "");
  expect(await refusedFiles(directory)).toEqual([names[1], names[2], names[0]]);
  rmSync(directory, { recursive: true });
});

it.each([
  ["./refused", "./refused"],
  ["./refused?inProduction=true", "./refused"],
  ["./refused?inProduction=true/x", "./refused?inProduction=true/x"],
  ["?inProduction=true", undefined],
  ["", undefined],
  [undefined, undefined],
])("the directory in %j is %j", (text, directory) => {
  expect(refusedDirectoryOf(text)).toBe(directory);
});

it("a command for the shop's folder has quotes around names with spaces, and each file of variables", () => {
  expect(verifyLast()).toBe("npx tillkit verify --last --kept ./refused --env-file .env");
  expect(verifyLast("my refused", [])).toBe('npx tillkit verify --last --kept "my refused"');
  expect(replayFile("a b.http", [".env", "my env"])).toBe(
    'npx tillkit replay "a b.http" --env-file .env --env-file "my env"',
  );
});

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/** Returns a function that returns paths for SQLite files, in a directory that is removed after the tests of the file. */
export function temporaryFiles(): () => string {
  const directory = mkdtempSync(path.join(tmpdir(), "tillkit-sqlite-"));
  let count = 0;
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  return () => path.join(directory, `${count++}.db`);
}

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

/** The folder with public test data, which is not part of the project. */
export const corporaFolder = process.env["CORPORA_DIR"] ?? resolve(__dirname, "../../../../shared/corpora");

/** Runs tests over a part of the public test data. If it is missing, prints that and adds a test that notes it. */
export function withCorpus(part: string, tests: (path: string) => void): void {
  const path = join(corporaFolder, part);
  if (existsSync(path)) {
    tests(path);
    return;
  }
  console.info(`Left out: the test data "${part}" is not there; set CORPORA_DIR to its folder.`);
  // oxlint-disable-next-line jest/require-top-level-describe -- called inside a describe of the test file
  it(`leaves out the corpus ${part}, which is not there`, () => {
    expect(existsSync(path)).toBe(false);
  });
}

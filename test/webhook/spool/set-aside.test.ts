import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { createSetAside } from "../../../src/webhook/spool/set-aside.js";
import { realFileSystem, SpoolDirectory } from "../../../src/webhook/spool/spool-directory.js";
import { spoolBench } from "./fixtures.js";

const bench = spoolBench();
const now = () => new Date("2026-11-20T10:00:06.000Z");

/** Sets a line aside with this reason. Returns the names of the files, and the text beside the line. */
async function filesAfter(reason: Error) {
  const directory = new SpoolDirectory(bench.directory, realFileSystem);
  await createSetAside(directory, { now, onSetAside: undefined })(Buffer.from("a line"), reason);
  const names = (await readdir(bench.directory)).toSorted();
  const text = await readFile(
    path.join(
      bench.directory,
      names.find((name) => name.endsWith(".txt"))!,
    ),
    "utf8",
  );
  return { names, text };
}

describe("the text beside a line that was set aside", () => {
  it("has the time and the reason, whose spaces are joined", async () => {
    const { names, text } = await filesAfter(new Error("no \n\t such column"));
    expect(text).toBe("2026-11-20T10:00:06.000Z no such column\n");
    expect(names).toEqual([
      expect.stringMatching(/^[0-9a-f]{32}\.spool$/),
      expect.stringMatching(/^[0-9a-f]{32}\.txt$/),
    ]);
  });

  it("has at most 1,000 characters of the reason", async () => {
    const { text } = await filesAfter(Object.assign(new Error("x".repeat(5000)), { code: "E" }));
    expect(text).toBe(`2026-11-20T10:00:06.000Z E: ${"x".repeat(997)}\n`);
  });
});

import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { createSetAside } from "../../../src/webhook/spool/set-aside.js";
import {
  type FileSystem,
  realFileSystem,
  SpoolDirectory,
} from "../../../src/webhook/spool/spool-directory.js";
import { spoolBench } from "./fixtures.js";
import { hooked, systemError } from "./hooked-file-system.js";

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

it("a line is on disk when it is set aside again, after the first try could not sync the directory", async () => {
  const synced: string[] = [];
  let failure: Error | undefined = systemError("EIO");
  const syncDirectory = (file: string) => {
    // The directory itself is made, and its parent synced, before the line is written.
    if (file === bench.directory && failure) throw failure;
    synced.push(file);
  };
  const directory = new SpoolDirectory(bench.directory, hooked({ syncDirectory }));
  const told: string[] = [];
  const setAside = createSetAside(directory, { now, onSetAside: ({ message }) => void told.push(message) });
  const line = Buffer.from("a line");
  await expect(setAside(line, new Error("a reason"))).rejects.toThrow("EIO");
  expect(await bench.segments()).toHaveLength(1);
  failure = undefined;
  synced.length = 0;
  await setAside(line, new Error("a reason"));
  expect(synced).toEqual([bench.directory]);
  expect(told).toEqual(["a reason"]);
});

it("the reason is on disk before the line, because nothing adds it after a crash between the two", async () => {
  const named: string[] = [];
  const rename: FileSystem["rename"] = (from, to) => {
    named.push(path.extname(String(to)));
    return realFileSystem.rename(from, to);
  };
  const directory = new SpoolDirectory(bench.directory, { ...realFileSystem, rename });
  await createSetAside(directory, { now, onSetAside: undefined })(Buffer.from("a line"), new Error("why"));
  expect(named).toEqual([".txt", ".spool"]);
});

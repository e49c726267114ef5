import { readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import {
  realFileSystem,
  SpoolDirectory,
  type FileSystem,
} from "../../../src/webhook/spool/spool-directory.js";
import { readSpoolKey, readOrMakeKey } from "../../../src/webhook/spool/spool-key.js";
import { spoolBench, webhook } from "./fixtures.js";
import { systemError } from "./hooked-file-system.js";

const bench = spoolBench();

async function directoryWith(changes: Partial<FileSystem> = {}): Promise<SpoolDirectory> {
  const directory = new SpoolDirectory(bench.directory, { ...realFileSystem, ...changes });
  await directory.make();
  return directory;
}

describe("the key of a spool's directory", () => {
  it("is the same for processes that make it at the same time", async () => {
    const directories = await Promise.all([1, 2, 3].map(() => directoryWith()));
    const keys = await Promise.all(directories.map((directory) => readOrMakeKey(directory)));
    const [first, ...others] = keys.map((key) => key.export().toString("hex"));
    expect(others).toEqual([first, first]);
    expect(await readdir(bench.directory)).toEqual(["key"]);
  });

  it("is the one that another process wrote between the look and the write", async () => {
    const theirs = Buffer.alloc(32, 7);
    const link: FileSystem["link"] = async (from, to) => {
      await writeFile(path.join(bench.directory, "key"), theirs, { mode: 0o600 });
      return realFileSystem.link(from, to);
    };
    const key = await readOrMakeKey(await directoryWith({ link }));
    expect(key.export()).toEqual(theirs);
  });

  it("cannot be made where the disk fails, and leaves no file", async () => {
    const link = () => Promise.reject(systemError("EIO"));
    await expect(readOrMakeKey(await directoryWith({ link }))).rejects.toMatchObject({ code: "EIO" });
    expect(await readdir(bench.directory)).toEqual([]);
  });

  it("is not missed where another process made it with its first segment after the look", async () => {
    await bench.open().append(webhook(1));
    let looks = 0;
    const lstat = (async (file: string) => {
      if (path.basename(file) === "key" && ++looks === 1) throw systemError("ENOENT");
      return realFileSystem.lstat(file);
    }) as FileSystem["lstat"];
    await bench.open({ fs: { ...realFileSystem, lstat } }).check();
    expect(looks).toBeGreaterThan(1);
  });

  it("is refused where its file has another length", async () => {
    const directory = await directoryWith();
    await writeFile(directory.file("key"), Buffer.alloc(31), { mode: 0o600 });
    await expect(readSpoolKey(directory)).rejects.toThrow("32 bytes");
  });
});

import { writeFile } from "node:fs/promises";
import path from "node:path";
import { type FileSystem, realFileSystem } from "../../../src/webhook/spool/spool-directory.js";
import { spoolBench, webhook } from "./fixtures.js";
import { systemError } from "./hooked-file-system.js";

const bench = spoolBench();

describe("the check of a spool", () => {
  it("passes before anything was spooled, creates nothing, and passes while webhooks wait", async () => {
    const spool = bench.open();
    await spool.check();
    expect(await bench.segments()).toEqual([]);
    await spool.append(webhook(1));
    await spool.check();
  });

  it("finds a directory that could not be written to or created: the nearest one that exists counts", async () => {
    const asked: string[] = [];
    const access: FileSystem["access"] = async (file) => {
      asked.push(String(file));
      await realFileSystem.access(file);
      throw systemError("EROFS");
    };
    const directory = path.join(bench.directory, "deep", "spool");
    const fs = { ...realFileSystem, access };
    await expect(bench.open({ directory, fs }).check()).rejects.toMatchObject({
      code: "spool_unavailable",
      cause: { code: "EROFS" },
    });
    const below = [directory, path.dirname(directory), bench.directory, path.dirname(bench.directory)];
    expect(asked).toEqual(below);
  });

  it("finds a file where a directory must be", async () => {
    await writeFile(bench.directory, "");
    await expect(bench.open().check()).rejects.toMatchObject({ code: "path_exposed" });
    const below = bench.open({ directory: path.join(bench.directory, "spool") });
    await expect(below.check()).rejects.toMatchObject({ code: "spool_unavailable" });
  });
});

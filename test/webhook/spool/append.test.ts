import { existsSync, rmdirSync } from "node:fs";
import { type FileHandle, rename, stat, unlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { type FileSystem, realFileSystem } from "../../../src/webhook/spool/spool-directory.js";
import { keeper, spoolBench, until, webhook } from "./fixtures.js";
import { gate, hooked, systemError } from "./hooked-file-system.js";

const bench = spoolBench();

describe("append", () => {
  it("writes nothing to disk before the first call", () => {
    bench.open();
    expect(existsSync(bench.directory)).toBe(false);
  });

  it("resolves after the directory entry and the bytes are fsynced, in that order", async () => {
    const seen: string[] = [];
    const fs = hooked({
      syncFile: () => void seen.push("key"),
      syncDirectory: (file) => void seen.push(`directory ${path.basename(file)}`),
      datasynced: () => void seen.push("bytes"),
    });
    await bench.open({ fs }).append(webhook(1));
    const parent = expect.stringMatching(/^directory tillkit-spool-/) as string;
    // The key has its bytes before the entry that leads to it.
    expect(seen).toEqual([parent, "key", "directory spool", "bytes"]);
    expect(await bench.spooled()).toEqual(["r1"]);
  });

  it("creates files that only this user can read", async () => {
    await bench.open().append(webhook(1));
    const [file] = await bench.segments();
    expect((await stat(bench.directory)).mode & 0o777).toBe(0o700);
    expect((await stat(file!)).mode & 0o777).toBe(0o600);
    expect((await stat(path.join(bench.directory, "key"))).mode & 0o777).toBe(0o600);
  });

  it("shares one fsync with appends that arrive during another fsync", async () => {
    const { opened, open } = gate();
    let fsyncs = 0;
    const fs = hooked({ datasync: () => (++fsyncs === 1 ? opened : undefined) });
    const spool = bench.open({ fs });
    const first = spool.append(webhook(0));
    await until(() => fsyncs === 1);
    const rest = Array.from({ length: 100 }, (_, index) => spool.append(webhook(index + 1)));
    open();
    await Promise.all([first, ...rest]);
    expect(fsyncs).toBe(2);
    expect(await bench.spooled()).toEqual(Array.from({ length: 101 }, (_, index) => `r${index}`));
  });

  it("goes to a new segment after an fsync error, and never writes to the old one again", async () => {
    const synced: string[] = [];
    const fs = hooked({
      datasync: (file) => {
        synced.push(file);
        if (synced.length === 2) throw systemError("EIO");
      },
    });
    const spool = bench.open({ fs });
    await spool.append(webhook(1));
    await spool.append(webhook(2));
    await spool.append(webhook(3));
    expect(synced[1]).toBe(synced[0]);
    expect(synced[2]).not.toBe(synced[0]);
    expect(synced[3]).toBe(synced[2]);

    const { ids, record } = keeper();
    await spool.drain(record);
    expect(ids.filter((id, index) => ids.indexOf(id) === index)).toEqual(["r1", "r2", "r3"]);
    expect(await bench.segments()).toEqual([]);
  });

  it("rejects with the cause if the second segment fails too, and works again after the disk recovers", async () => {
    let broken = true;
    const cause = systemError("EIO");
    const fs = hooked({
      datasync: () => {
        if (broken) throw cause;
      },
    });
    const spool = bench.open({ fs });
    const both = await Promise.allSettled([spool.append(webhook(1)), spool.append(webhook(2))]);
    expect(both.map((settled) => settled.status === "rejected" && settled.reason)).toEqual([
      expect.objectContaining({ code: "spool_unavailable", cause }),
      expect.objectContaining({ code: "spool_unavailable", cause }),
    ]);
    broken = false;
    await spool.append(webhook(3));
    expect(await bench.spooled()).toEqual(["r3"]);
  });

  it("is refused on a full disk, without a loss of other webhooks and without a file for each refusal", async () => {
    let full = false;
    const fs = hooked({
      async write(handle, bytes) {
        if (!full) return false;
        await handle.appendFile(bytes.subarray(0, bytes.length / 2));
        throw systemError("ENOSPC");
      },
    });
    const spool = bench.open({ fs });
    await spool.append(webhook(1));
    full = true;
    for (const id of [2, 3, 4])
      await expect(spool.append(webhook(id))).rejects.toMatchObject({
        code: "spool_full",
        cause: { code: "ENOSPC" },
      });
    full = false;
    await spool.append(webhook(5));
    expect(await bench.segments()).toHaveLength(2);

    const { ids, record } = keeper();
    expect(await spool.drain(record)).toEqual({ drained: 2, setAside: 0 });
    expect(ids).toEqual(["r1", "r5"]);
  });

  it("is acknowledged only in a file that still has its name and is still the same", async () => {
    const written: string[] = [];
    const fs = hooked({
      async datasynced(file) {
        written.push(file);
        if (written.length > 1) return;
        await rename(file, `${file}.moved`);
        await writeFile(file, "", { mode: 0o600 });
      },
    });
    await bench.open({ fs }).append(webhook(1));
    expect(written).toHaveLength(2);
    expect(await bench.spooled()).toEqual(["r1"]);
  });

  it("is refused after four segments that other processes took before it was acknowledged", async () => {
    let taken = 0;
    const fs = hooked({
      async datasynced(file) {
        taken += 1;
        await unlink(file);
      },
    });
    await expect(bench.open({ fs }).append(webhook(1))).rejects.toMatchObject({
      code: "spool_unavailable",
      cause: { message: expect.stringContaining("clocks") },
    });
    expect(taken).toBe(4);
  });

  it.each(["ENOSPC", "EDQUOT"])("is refused as full where the disk answers %s", async (code) => {
    const fs = hooked({
      write: () => {
        throw systemError(code);
      },
    });
    await expect(bench.open({ fs }).append(webhook(1))).rejects.toMatchObject({ code: "spool_full" });
  });

  it("resolves after the entries of all new directories are fsynced", async () => {
    const seen: string[] = [];
    const fs = hooked({ syncDirectory: (file) => void seen.push(path.basename(file)) });
    await bench.open({ fs, directory: path.join(bench.directory, "a", "b") }).append(webhook(1));
    expect(seen).toEqual(["a", "spool", expect.stringMatching(/^tillkit-spool-/), "b"]);
  });

  it("syncs the entries of all new directories after a first try that could not", async () => {
    const seen: string[] = [];
    let failure: Error | undefined = systemError("EIO");
    const syncDirectory = (file: string) => {
      if (failure) throw failure;
      seen.push(path.basename(file));
    };
    const spool = bench.open({ fs: hooked({ syncDirectory }), directory: path.join(bench.directory, "a") });
    await expect(spool.append(webhook(1))).rejects.toMatchObject({ code: "spool_unavailable" });
    failure = undefined;
    await spool.append(webhook(2));
    expect(seen).toEqual(["spool", expect.stringMatching(/^tillkit-spool-/), "a"]);
  });

  it("syncs the entries of a first try also after somebody removed the lowest directory", async () => {
    const seen: string[] = [];
    let failure: Error | undefined = systemError("EIO");
    const syncDirectory = (file: string) => {
      if (failure) throw failure;
      seen.push(path.basename(file));
    };
    const directory = path.join(bench.directory, "a");
    const spool = bench.open({ fs: hooked({ syncDirectory }), directory });
    await expect(spool.append(webhook(1))).rejects.toMatchObject({ code: "spool_unavailable" });
    failure = undefined;
    rmdirSync(directory);
    await spool.append(webhook(2));
    expect(seen).toEqual(["spool", expect.stringMatching(/^tillkit-spool-/), "a"]);
  });

  it("is refused if no segment can be created, and leaves neither a segment nor an open file", async () => {
    const handles: FileHandle[] = [];
    let syncs = 0;
    const fs = hooked({
      syncDirectory: (file) => {
        // The directory itself is made, and its parent synced, before its segment is created.
        if (file === bench.directory && ++syncs > 0) throw systemError("EIO");
      },
    });
    const open = async (...given: Parameters<FileSystem["open"]>) => {
      const handle = await fs.open(...given);
      handles.push(handle);
      return handle;
    };
    const spool = bench.open({ fs: { ...fs, open } });
    await expect(spool.append(webhook(1))).rejects.toMatchObject({ code: "spool_unavailable" });
    expect(syncs).toBe(2);
    expect(await bench.segments()).toEqual([]);
    expect(handles.filter(({ fd }) => fd !== -1)).toEqual([]);
  });

  it("is awaited by a drain that begins meanwhile, and is written once", async () => {
    const { opened, open } = gate();
    const synced: string[] = [];
    const fs = hooked({ datasync: (file) => (synced.push(file), opened) });
    const spool = bench.open({ fs });
    const appending = spool.append(webhook(1));
    await until(() => synced.length === 1);
    const { ids, record } = keeper();
    const draining = spool.drain(record);
    // The drain has looked for other segments by then.
    await bench.open().drain(record);
    open();
    await appending;
    expect(await draining).toEqual({ drained: 1, setAside: 0 });
    expect([ids, synced.length]).toEqual([["r1"], 1]);
  });

  it("of more than a segment is on disk when a close resolves", async () => {
    const spool = bench.open();
    // A segment has two of these appends, so the close has more than one group to write.
    const appends = [1, 2, 3, 4, 5].map((id) => spool.append(webhook(id, "x".repeat(3_000_000))));
    await spool.close();
    expect(await bench.spooled()).toEqual(["r1", "r2", "r3", "r4", "r5"]);
    await Promise.all(appends);
  });

  it("leaves no file open after close", async () => {
    const handles: FileHandle[] = [];
    const open = async (...given: Parameters<FileSystem["open"]>) => {
      const handle = await realFileSystem.open(...given);
      handles.push(handle);
      return handle;
    };
    const spool = bench.open({ fs: { ...realFileSystem, open } });
    await spool.append(webhook(1));
    await spool.stats();
    await spool.drain(() => Promise.reject(new Error("hopeless")), { isHopeless: () => true });
    await spool.append(webhook(2));
    await spool.close();
    expect(handles.length).toBeGreaterThan(5);
    expect(handles.filter(({ fd }) => fd !== -1)).toEqual([]);
  });

  it("is refused after close, which waits for earlier appends", async () => {
    const spool = bench.open();
    const appends = [1, 2, 3].map((id) => spool.append(webhook(id)));
    await spool.close();
    expect(await bench.spooled()).toEqual(["r1", "r2", "r3"]);
    await Promise.all(appends);
    await expect(spool.append(webhook(4))).rejects.toMatchObject({ code: "spool_unavailable" });
  });
});

import { chmod, type FileHandle, readFile, stat, writeFile } from "node:fs/promises";
import { type FileSystem, realFileSystem } from "../../../src/webhook/spool/spool-directory.js";
import { keeper, spoolBench, until, webhook } from "./fixtures.js";
import { gate, hooked, systemError } from "./hooked-file-system.js";

const bench = spoolBench();

describe("stats", () => {
  it("are all zero if nothing was ever spooled", async () => {
    expect(await bench.open().stats()).toStrictEqual({ records: 0, bytes: 0, segments: 0, setAside: 0 });
  });

  it("count the waiting webhooks of all processes, and follow appends and drains", async () => {
    const [one, other] = [bench.open(), bench.open()];
    for (const id of [3, 4]) await one.append(webhook(id));
    await other.append(webhook(2));
    const sizes = await Promise.all((await bench.segments()).map(async (file) => (await stat(file)).size));
    expect(await one.stats()).toEqual({
      records: 3,
      bytes: sizes[0]! + sizes[1]!,
      segments: 2,
      setAside: 0,
      oldestAt: webhook(2).receivedAt,
    });

    await other.append(webhook(5));
    expect(await one.stats()).toMatchObject({ records: 4, segments: 2 });
    await other.drain(keeper().record);
    expect(await one.stats()).toMatchObject({ records: 2, segments: 1, oldestAt: webhook(3).receivedAt });
  });

  it("count the webhooks that a drain has left in a segment, and not those that it has recorded or set aside", async () => {
    const spool = bench.open();
    for (const id of [1, 2, 3, 4]) await spool.append(webhook(id));
    expect(await spool.stats()).toMatchObject({ records: 4, oldestAt: webhook(1).receivedAt });
    const drain = (refused: readonly string[]) =>
      spool.drain(
        async ({ receiptId }) => {
          if (refused.includes(receiptId)) throw new Error(receiptId);
        },
        { isSkipped: () => true, isHopeless: (error) => (error as Error).message === "r4" },
      );
    await drain(["r2", "r3", "r4"]);
    const left = { records: 2, segments: 1, setAside: 1, oldestAt: webhook(2).receivedAt };
    expect(await spool.stats()).toMatchObject(left);
    await drain(["r3"]);
    expect(await spool.stats()).toMatchObject({ ...left, records: 1, oldestAt: webhook(3).receivedAt });
    expect(await spool.stats()).toMatchObject({ records: 1 });
    await drain([]);
    expect(await spool.stats()).toStrictEqual({ records: 0, bytes: 0, segments: 0, setAside: 1 });
  });

  it("count again what a drain has recorded during the last count", async () => {
    let duringCount: (() => Promise<unknown>) | undefined;
    const fs = hooked({ open: (file) => void (isCounting = file.endsWith(".spool")) });
    let isCounting = false;
    const readFile = async (file: string): Promise<Buffer> => {
      if (isCounting && file.endsWith("key")) await duringCount?.();
      return realFileSystem.readFile(file);
    };
    const spool = bench.open({ fs: { ...fs, readFile: readFile as never } });
    for (const id of [1, 2, 3]) await spool.append(webhook(id));
    const { opened, open } = gate();
    let isWaiting = false;
    const draining = spool.drain(
      async ({ receiptId }) => {
        if (receiptId === "r3") throw new Error("locked");
        if (receiptId === "r2") await ((isWaiting = true), opened);
      },
      { isSkipped: () => true },
    );
    await until(() => isWaiting);
    duringCount = () => (open(), draining);
    await spool.stats();
    duringCount = undefined;
    expect(await spool.stats()).toMatchObject({ records: 1, oldestAt: webhook(3).receivedAt });
  });

  it("tell when the oldest webhook arrived, also if it is not in the first segment", async () => {
    const spool = bench.open();
    for (const id of [9, 2]) {
      await spool.append(webhook(id));
      await spool.drain(() => Promise.reject(new Error("the store is down")));
    }
    expect(await spool.stats()).toMatchObject({ segments: 2, oldestAt: webhook(2).receivedAt });
  });

  it("count nothing of a segment that others could have written, and know no time where no line can be read", async () => {
    const spool = bench.open();
    await spool.append(webhook(1));
    const [file] = await bench.segments();
    await chmod(file!, 0o666);
    expect(await spool.stats()).toMatchObject({ records: 0, bytes: 0, segments: 1 });
    await chmod(file!, 0o600);
    await bench.damage((bytes) => bytes.fill("#", 0, bytes.length - 1));
    expect(await spool.stats()).toStrictEqual({
      records: 1,
      bytes: (await stat(file!)).size,
      segments: 1,
      setAside: 0,
    });
  });

  it("reject while a sync has not ended for more than 5 s, and not after it has ended", async () => {
    const { opened, open } = gate();
    let isWaiting = false;
    const fs = hooked({ datasync: () => ((isWaiting = true), opened) });
    const spool = bench.open({ fs });
    const appended = spool.append(webhook(1));
    await until(() => isWaiting);
    expect(await spool.stats()).toMatchObject({ segments: 1 });
    const later = performance.now() + 6000;
    const clock = jest.spyOn(performance, "now").mockReturnValue(later);
    await expect(spool.stats()).rejects.toMatchObject({
      code: "spool_unavailable",
      message: expect.stringMatching(/The disk has not ended a write for \d{4} ms\.$/) as unknown,
    });
    open();
    await appended;
    await new Promise(setImmediate);
    expect(await spool.stats()).toMatchObject({ records: 1 });
    clock.mockRestore();
  });

  it("share one read between calls, so that a disk that hangs does not block more and more threads", async () => {
    const readdir = jest.fn(realFileSystem.readdir as (directory: string) => Promise<string[]>);
    const spool = bench.open({ fs: { ...realFileSystem, readdir: readdir as never } });
    const readsOf = async (calls: number): Promise<number> => {
      const before = readdir.mock.calls.length;
      await Promise.all(Array.from({ length: calls }, () => spool.stats()));
      return readdir.mock.calls.length - before;
    };
    const one = await readsOf(1);
    expect(one).toBeGreaterThan(0);
    expect(await readsOf(10)).toBe(one);
  });

  it("read a segment again only after it has grown, and then only the added bytes", async () => {
    const lengths: number[] = [];
    const open: FileSystem["open"] = async (...given) => {
      const handle = await realFileSystem.open(...given);
      const read = handle.read.bind(handle) as (...range: unknown[]) => unknown;
      const counted = (...range: unknown[]) => (lengths.push(range[2] as number), read(...range));
      return given[1] === "r" ? Object.assign(handle, { read: counted }) : handle;
    };
    const spool = bench.open({ fs: { ...realFileSystem, open } });
    const size = async () => (await stat((await bench.segments())[0]!)).size;
    await spool.append(webhook(1));
    const first = await size();
    await spool.stats();
    await spool.stats();
    expect(lengths).toEqual([first]);
    await spool.append(webhook(2));
    expect(await spool.stats()).toMatchObject({ records: 2, oldestAt: webhook(1).receivedAt });
    const second = await size();
    expect(lengths).toEqual([first, second - first]);
    await spool.append(webhook(3));
    expect(await spool.stats()).toMatchObject({ records: 3, bytes: await size() });
    expect(lengths).toEqual([first, second - first, (await size()) - second]);
  });

  it("tell when a webhook arrived whose line was only half written at the last count", async () => {
    await bench.open().append(webhook(1));
    const [file] = await bench.segments();
    const line = await readFile(file!);
    await writeFile(file!, line.subarray(0, 20));
    const other = bench.open();
    expect(await other.stats()).toMatchObject({ records: 0, bytes: 20 });
    await writeFile(file!, line);
    expect(await other.stats()).toMatchObject({ records: 1, oldestAt: webhook(1).receivedAt });
  });

  it("count nothing of a segment that was drained after it was listed", async () => {
    let isGone = false;
    const open: FileSystem["open"] = async (...given) => {
      if (isGone && given[1] === "r") throw systemError("ENOENT");
      return realFileSystem.open(...given);
    };
    const spool = bench.open({ fs: { ...realFileSystem, open } });
    await spool.append(webhook(1));
    await spool.stats();
    await spool.append(webhook(2));
    isGone = true;
    expect(await spool.stats()).toEqual({ records: 0, bytes: 0, segments: 1, setAside: 0 });
  });

  it("leave no file open where a segment cannot be read", async () => {
    const handles: FileHandle[] = [];
    const open: FileSystem["open"] = async (...given) => {
      const handle = await realFileSystem.open(...given);
      handles.push(handle);
      return Object.assign(handle, { read: () => Promise.reject(systemError("EIO")) });
    };
    await bench.open().append(webhook(1));
    const failed = { code: "spool_unavailable", cause: { code: "EIO" } };
    await expect(bench.open({ fs: { ...realFileSystem, open } }).stats()).rejects.toMatchObject(failed);
    expect(handles.map(({ fd }) => fd)).toEqual([-1]);
  });
});

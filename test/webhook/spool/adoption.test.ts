import { rename, stat, utimes } from "node:fs/promises";
import path from "node:path";
import { realFileSystem, type FileSystem } from "../../../src/webhook/spool/spool-directory.js";
import { keeper, spoolBench, until, webhook } from "./fixtures.js";
import { gate, hooked } from "./hooked-file-system.js";

const bench = spoolBench();

/** Dates every segment back by an hour, as if its owner had not shown a heartbeat since. */
async function silence(): Promise<void> {
  const longAgo = new Date(Date.now() - 3_600_000);
  for (const file of await bench.segments()) await utimes(file, longAgo, longAgo);
}

/** Returns a file system in which every fifth segment seems to have no heartbeat. */
function hasty(): FileSystem {
  let calls = 0;
  const lstat = async (file: string, options?: object) => {
    const stats = await realFileSystem.lstat(file, options);
    return ++calls % 5 === 0 ? Object.assign(stats, { mtimeMs: 0 }) : stats;
  };
  return { ...realFileSystem, lstat } as FileSystem;
}

describe("adoption", () => {
  it("does not take the segment of a living owner", async () => {
    await bench.open().append(webhook(1));
    const { ids, record } = keeper();
    expect(await bench.open().drain(record)).toEqual({ drained: 0, setAside: 0 });
    expect(ids).toEqual([]);
  });

  it("does not happen while the owner shows a heartbeat", async () => {
    await bench.open({ heartbeatMs: 20 }).append(webhook(1));
    await silence();
    await until(async () => (await stat((await bench.segments())[0]!)).mtimeMs > Date.now() - 5000);
    expect(await bench.open().drain(keeper().record)).toEqual({ drained: 0, setAside: 0 });
  });

  it("does not take the segment of another host, where no process of this one has the owner's number", async () => {
    await bench.open().append(webhook(1));
    const [file] = await bench.segments();
    const elsewhere = path.basename(file!).replace(/^[0-9a-f]{12}-\d+/, "000000000000-2147483647");
    await rename(file!, path.join(bench.directory, elsewhere));
    const { ids, record } = keeper();
    expect(await bench.open().drain(record)).toEqual({ drained: 0, setAside: 0 });
    await silence();
    await bench.open().drain(record);
    expect(ids).toEqual(["r1"]);
  });

  it("takes a segment whose heartbeat is too old, or in the future", async () => {
    const spools = [bench.open(), bench.open()];
    await spools[0]!.append(webhook(1));
    await silence();
    const { ids, record } = keeper();
    await bench.open().drain(record);
    await spools[1]!.append(webhook(2));
    const ahead = new Date(Date.now() + 3_600_000);
    for (const file of await bench.segments()) await utimes(file, ahead, ahead);
    await bench.open().drain(record);
    expect(ids).toEqual(["r1", "r2"]);
  });

  it("happens after ten seconds without a heartbeat, which a spool shows every two seconds", async () => {
    const interval = jest.spyOn(globalThis, "setInterval");
    await bench.open().append(webhook(1));
    expect(interval.mock.calls.map(([, ms]) => ms)).toEqual([2000]);
    interval.mockRestore();
    const drainAfter = async (seconds: number) => {
      const time = Date.now() / 1000 - seconds;
      for (const file of await bench.segments()) await utimes(file, time, time);
      return (await bench.open().drain(keeper().record)).drained;
    };
    expect([await drainAfter(9), await drainAfter(11)]).toEqual([0, 1]);
  });

  it("happens without a delay if the owner closed its spool", async () => {
    const owner = bench.open();
    await owner.append(webhook(1));
    await owner.close();
    const { ids, record } = keeper();
    await bench.open().drain(record);
    expect(ids).toEqual(["r1"]);
  });

  it("succeeds for only one of several adopters", async () => {
    const owner = bench.open();
    for (const id of [1, 2, 3]) await owner.append(webhook(id));
    await owner.close();
    const { ids, record } = keeper();
    const results = await Promise.all([1, 2, 3, 4].map(() => bench.open().drain(record)));
    expect(results.map(({ drained }) => drained).filter(Boolean)).toEqual([3]);
    expect(ids).toEqual(["r1", "r2", "r3"]);
  });

  it("keeps the order of the segments of a dead owner", async () => {
    const owner = bench.open();
    const body = "x".repeat(60_000);
    await Promise.all(Array.from({ length: 150 }, (_, id) => owner.append(webhook(id, body))));
    await owner.close();
    expect((await bench.segments()).length).toBeGreaterThan(1);
    const { ids, record } = keeper();
    await bench.open().drain(record);
    expect(ids).toEqual(Array.from({ length: 150 }, (_, id) => `r${id}`));
  });

  it("lasts by the adopter's own heartbeat while the store is down", async () => {
    const owner = bench.open();
    await owner.append(webhook(1));
    await owner.close();
    const adopter = bench.open({ heartbeatMs: 20 });
    await adopter.drain(() => Promise.reject(new Error("down")));
    const { ids, record } = keeper();
    expect((await bench.open().drain(record)).drained).toBe(0);
    expect((await adopter.drain(record)).drained).toBe(1);
    expect(ids).toEqual(["r1"]);
  });
});

describe("an owner whose segment was adopted", () => {
  it("acknowledges its next append only in a new segment", async () => {
    const owner = bench.open();
    await owner.append(webhook(1));
    await silence();
    const { ids, record } = keeper();
    await bench.open().drain(record);
    expect(await bench.segments()).toEqual([]);

    await owner.append(webhook(2));
    expect(await bench.segments()).toHaveLength(1);
    await owner.drain(record);
    expect(ids).toEqual(["r1", "r2"]);
  });

  it("does not acknowledge bytes that it fsynced into the adopted file, even before the adopter reads them", async () => {
    const { opened, open } = gate();
    let synced = 0;
    const fs = hooked({ datasynced: () => (++synced === 2 ? opened : undefined) });
    const owner = bench.open({ fs });
    await owner.append(webhook(1));
    const second = owner.append(webhook(2));
    await until(() => synced === 2);
    await silence();
    const { ids, record } = keeper();
    await bench.open().drain(record);
    expect(ids).toEqual(["r1", "r2"]);
    open();
    await second;
    expect(await bench.segments()).toHaveLength(1);
    await owner.drain(record);
    expect(ids).toEqual(["r1", "r2", "r2"]);
  });

  it("continues its own drain if one of its closed segments is gone", async () => {
    const owner = bench.open();
    await owner.append(webhook(1));
    await owner.drain(() => Promise.reject(new Error("down")));
    await owner.append(webhook(2));
    const files = await bench.segments();
    expect(files).toHaveLength(2);
    await silence();
    const { ids, record } = keeper();
    await bench.open().drain(record);
    expect(await owner.drain(record)).toEqual({ drained: 0, setAside: 0 });
    expect(ids).toEqual(["r1", "r2"]);
  });

  it("loses no acknowledged webhook to an adopter that repeatedly takes segments of living owners", async () => {
    const { ids, record } = keeper();
    const owner = bench.open();
    const adopter = bench.open({ fs: hasty() });
    const acknowledged: string[] = [];
    let taken = 0;
    const appending = { isOver: false };
    const adopting = (async () => {
      while (!appending.isOver) {
        taken += (await adopter.drain(record)).drained;
        await new Promise(setImmediate);
      }
    })();
    try {
      for (let id = 0; id < 200; id += 1) {
        const appends = [`${id}a`, `${id}b`].map((name) =>
          owner.append(webhook(name)).then(() => acknowledged.push(`r${name}`)),
        );
        await Promise.allSettled(appends);
      }
    } finally {
      appending.isOver = true;
      await adopting;
    }
    await owner.drain(record);
    await adopter.drain(record);
    expect(taken).toBeGreaterThan(0);
    expect(acknowledged.length).toBeGreaterThan(0);
    const kept = new Set(ids);
    expect(acknowledged.filter((id) => !kept.has(id))).toEqual([]);
  });
});

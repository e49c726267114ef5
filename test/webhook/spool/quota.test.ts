import { encodeContent, lineOverhead } from "../../../src/webhook/spool/record-line.js";
import { createQuota } from "../../../src/webhook/spool/quota.js";
import {
  type FileSystem,
  realFileSystem,
  SpoolDirectory,
} from "../../../src/webhook/spool/spool-directory.js";
import { keeper, spoolBench, until, webhook } from "./fixtures.js";
import { gate, hooked, systemError } from "./hooked-file-system.js";

const bench = spoolBench();

describe("an append", () => {
  it("is refused over maxBytes, and accepted again after a drain has freed bytes", async () => {
    const spool = bench.open({ maxBytes: 800 });
    const body = "x".repeat(300);
    await spool.append(webhook(1, body));
    const [second, third] = await Promise.allSettled([2, 3].map((id) => spool.append(webhook(id, body))));
    expect(second?.status).toBe("rejected");
    expect(third).toMatchObject({ status: "rejected", reason: { code: "spool_full" } });

    const { ids, record } = keeper();
    await spool.drain(record);
    await spool.append(webhook(4, body));
    await spool.drain(record);
    expect(ids).toEqual(["r1", "r4"]);
  });

  it("counts the bytes of other processes towards maxBytes", async () => {
    await bench.open().append(webhook(1, "x".repeat(600)));
    await expect(bench.open({ maxBytes: 1000 }).append(webhook(2, "x".repeat(300)))).rejects.toMatchObject({
      code: "spool_full",
    });
    // No empty segment for what was refused.
    expect(await bench.segments()).toHaveLength(1);
  });

  it("counts after a heartbeat what other processes have written meanwhile", async () => {
    const spool = bench.open({ maxBytes: 1000, heartbeatMs: 1, deadAfterMs: 60_000 });
    await spool.append(webhook(1));
    await bench.open().append(webhook(2, "x".repeat(600)));
    const from = performance.now();
    while (performance.now() - from < 1) await new Promise(setImmediate);
    await expect(spool.append(webhook(3))).rejects.toMatchObject({ code: "spool_full" });
  });

  it("lists the directory only once within a heartbeat and for a new key, and again after a drain", async () => {
    let lists = 0;
    const readdir = ((directory: string) => {
      lists += 1;
      return realFileSystem.readdir(directory);
    }) as FileSystem["readdir"];
    const spool = bench.open({
      fs: { ...realFileSystem, readdir },
      heartbeatMs: 60_000,
      deadAfterMs: 120_000,
    });
    await spool.append(webhook(1));
    expect(lists).toBe(2);
    for (const id of [2, 3]) await spool.append(webhook(id));
    expect(lists).toBe(2);
    await spool.drain(keeper().record);
    lists = 0;
    for (const id of [4, 5]) await spool.append(webhook(id));
    expect(lists).toBe(1);
  });

  it("is accepted where it fills maxBytes exactly, and refused where it needs one byte more", async () => {
    const needed = encodeContent(webhook(1)).length + lineOverhead;
    await expect(bench.open({ maxBytes: needed - 1 }).append(webhook(1))).rejects.toMatchObject({
      code: "spool_full",
    });
    await bench.open({ maxBytes: needed }).append(webhook(1));
    expect(await bench.spooled()).toEqual(["r1"]);
  });

  it("is refused without a wait where the appends that wait for the disk fill maxBytes already", async () => {
    const { opened, open } = gate();
    let fsyncs = 0;
    const fs = hooked({ datasync: () => (fsyncs++ === 0 ? opened : undefined) });
    const body = "x".repeat(300);
    const line = encodeContent(webhook(1, body)).length + lineOverhead;
    const spool = bench.open({ fs, maxBytes: 3 * line });
    const first = spool.append(webhook(1, body));
    await until(() => fsyncs === 1);
    const waiting = [2, 3, 4].map((id) => spool.append(webhook(id, body)));
    await expect(spool.append(webhook(5, body))).rejects.toMatchObject({ code: "spool_full" });
    open();
    const settled = await Promise.allSettled([first, ...waiting]);
    expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "fulfilled", "rejected"]);
    await spool.drain(keeper().record);
    await spool.append(webhook(6, body));
    expect(await bench.spooled()).toEqual(["r6"]);
  });

  it("needs none of the bytes that a failed append was to have", async () => {
    let failure: Error | undefined = systemError("EIO");
    const datasync = () => {
      if (failure) throw failure;
    };
    const maxBytes = encodeContent(webhook(1)).length + lineOverhead;
    const spool = bench.open({ fs: hooked({ datasync }), maxBytes, heartbeatMs: 60_000 });
    await expect(spool.append(webhook(1))).rejects.toMatchObject({ code: "spool_unavailable" });
    failure = undefined;
    await spool.append(webhook(2));
    expect(await bench.spooled()).toEqual(["r2"]);
  });
});

it("a quota keeps its last count while the directory cannot be listed", async () => {
  const readdir = () => Promise.reject(systemError("EIO"));
  const directory = new SpoolDirectory(bench.directory, { ...realFileSystem, readdir });
  const quota = createQuota(directory, { maxBytes: 100, maxAgeMs: 0 });
  await directory.make();
  expect(quota.take(60)).toBe(true);
  await quota.refresh();
  expect(quota.take(60)).toBe(false);
});

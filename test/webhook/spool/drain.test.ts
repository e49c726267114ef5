import { mkdir, readdir, readFile, rename } from "node:fs/promises";
import path from "node:path";
import { type SpooledWebhook } from "../../../src/webhook/spool/index.js";
import { keeper, spoolBench, until, webhook } from "./fixtures.js";
import { gate, hooked, systemError } from "./hooked-file-system.js";

jest.setTimeout(30_000);
const bench = spoolBench();
const down = new Error("the store is down");
const range = (count: number) => Array.from({ length: count }, (_, index) => index);

describe("drain", () => {
  it("records 1,000 appended webhooks exactly once, in order, and leaves no file", async () => {
    const spool = bench.open();
    const appends = range(1000).map((id) => spool.append(webhook(id)));
    await Promise.all(appends);
    const { ids, record } = keeper();
    expect(await spool.drain(record)).toEqual({ drained: 1000, setAside: 0 });
    expect(ids).toEqual(range(1000).map((id) => `r${id}`));
    expect(await readdir(bench.directory)).toEqual(["key"]);
  });

  it("keeps the order over many segments", async () => {
    const spool = bench.open();
    const body = "x".repeat(60_000);
    await Promise.all(range(200).map((id) => spool.append(webhook(id, body))));
    expect((await bench.segments()).length).toBeGreaterThan(2);
    const { ids, record } = keeper();
    await spool.drain(record);
    expect(ids).toEqual(range(200).map((id) => `r${id}`));
  });

  it("passes on the exact bytes", async () => {
    const rawBody = Buffer.from([0, 10, 13, 255, 0x7b, 0xc3, 0x28]);
    const spool = bench.open();
    await spool.append({ ...webhook(1), rawBody });
    const got: SpooledWebhook[] = [];
    await spool.drain(async (webhook) => void got.push(webhook));
    expect(got).toEqual([{ ...webhook(1), rawBody }]);
  });

  it("stops if the store is down, and leaves the rest in order without a new file for each try", async () => {
    const spool = bench.open();
    for (const id of range(5)) await spool.append(webhook(id));
    const { ids, record } = keeper();
    const failing = async (webhook: SpooledWebhook) => {
      if (webhook.receiptId === "r2") throw down;
      await record(webhook);
    };
    for (let tries = 0; tries < 3; tries += 1) {
      expect(await spool.drain(failing)).toEqual({ drained: 2, setAside: 0, leftBecause: down });
      await spool.append(webhook(5 + tries));
    }
    expect(await bench.segments()).toHaveLength(2);

    ids.length = 0;
    expect(await spool.drain(record)).toEqual({ drained: 8, setAside: 0 });
    expect(ids).toEqual(range(8).map((id) => `r${id}`));
  });

  it("leaves webhooks that are appended meanwhile to the next drain", async () => {
    const spool = bench.open();
    await spool.append(webhook(1));
    const { ids, record } = keeper();
    await spool.drain(async (each) => {
      await spool.append(webhook(2));
      await record(each);
    });
    expect(ids).toEqual(["r1"]);
    await spool.drain(record);
    expect(ids).toEqual(["r1", "r2"]);
  });

  it("is joined by a second call", async () => {
    const spool = bench.open();
    await spool.append(webhook(1));
    const { opened, open } = gate();
    const { ids, record } = keeper();
    const first = spool.drain(async (each) => (await opened, record(each)));
    const second = spool.drain(record);
    open();
    expect(await second).toEqual({ drained: 1, setAside: 0 });
    expect(await first).toEqual(await second);
    expect(ids).toEqual(["r1"]);
  });

  it("records groups, and records one by one if a group is rejected", async () => {
    const spool = bench.open();
    await Promise.all(range(10).map((id) => spool.append(webhook(id))));
    const groups: string[][] = [];
    const { ids, record } = keeper();
    const recordMany = async (webhooks: readonly SpooledWebhook[]) => {
      const group = webhooks.map(({ receiptId }) => receiptId);
      groups.push(group);
      if (group.includes("r5")) throw new Error("one bad row");
      ids.push(...group);
    };
    expect(await spool.drain(record, { recordMany, maxGroup: 4 })).toEqual({ drained: 10, setAside: 0 });
    expect(groups.map(({ length }) => length)).toEqual([4, 4, 2]);
    expect(ids).toEqual(range(10).map((id) => `r${id}`));
  });

  it("stops between two records when the spool is closed, and leaves the rest to the next process", async () => {
    const spool = bench.open();
    await Promise.all(range(3).map((id) => spool.append(webhook(id))));
    const { ids, record } = keeper();
    let closing: Promise<void> | undefined;
    const result = await spool.drain(async (each) => {
      closing ??= spool.close();
      await record(each);
    });
    await closing;
    expect(result).toMatchObject({ drained: 1, leftBecause: { code: "spool_unavailable" } });

    await bench.open().drain(record);
    expect(ids).toEqual(["r0", "r0", "r1", "r2"]);
  });

  it("records nothing if there is no directory", async () => {
    expect(await bench.open().drain(keeper().record)).toEqual({ drained: 0, setAside: 0 });
  });

  it("continues with the next segment if one cannot be read", async () => {
    const { ids, record } = keeper();
    const dead = [bench.open(), bench.open()];
    for (const [index, spool] of dead.entries()) await spool.append(webhook(index));
    for (const spool of dead) await spool.close();
    let renames = 0;
    const fs = hooked({
      rename: () => {
        if (++renames === 1) throw systemError("EACCES");
      },
    });
    const result = await bench.open({ fs }).drain(record);
    expect(result).toMatchObject({ drained: 1, leftBecause: { code: "spool_unavailable" } });
    expect(ids).toHaveLength(1);
  });
});

describe("a line that cannot be drained", () => {
  it("is skipped if it is the torn last line of a write that was never acknowledged", async () => {
    const told: unknown[] = [];
    const spool = bench.open({ onSetAside: (reason) => told.push(reason) });
    for (const id of [1, 2]) await spool.append(webhook(id));
    await bench.damage((bytes) => bytes.subarray(0, -9));
    const { ids, record } = keeper();
    expect(await spool.drain(record)).toEqual({ drained: 1, setAside: 0 });
    expect(ids).toEqual(["r1"]);
    expect(told).toEqual([]);
  });

  it("is set aside and reported if its bytes were damaged, and the other lines are drained", async () => {
    const told: unknown[] = [];
    const spool = bench.open({ onSetAside: (reason, file) => told.push([reason, file]) });
    for (const id of [1, 2, 3]) await spool.append(webhook(id));
    await bench.damage((bytes) => {
      bytes.fill("#", bytes.indexOf("r2"), bytes.indexOf("r2") + 20);
      return bytes;
    });
    const { ids, record } = keeper();
    expect(await spool.drain(record)).toEqual({ drained: 2, setAside: 1 });
    expect(ids).toEqual(["r1", "r3"]);
    expect(told).toEqual([
      [
        expect.objectContaining({
          code: "spool_record_unreadable",
          message: expect.stringContaining("Line 2"),
        }),
        expect.stringContaining(path.join(bench.directory, "set-aside")),
      ],
    ]);
    expect(await bench.segments()).toEqual([]);
  });

  it("is set aside only once with the reason if it is hopeless, also after several drains", async () => {
    const told: string[] = [];
    const hopeless = Object.assign(new Error("no such\ncolumn"), { code: "hopeless" });
    const spool = bench.open({
      now: () => new Date("2026-01-02T03:04:05.678Z"),
      onSetAside: (reason, file) => {
        told.push(file);
        throw reason;
      },
    });
    for (const id of [1, 2, 3]) await spool.append(webhook(id));
    let isDown = true;
    const { ids, record } = keeper();
    const failing = async (webhook: SpooledWebhook) => {
      if (webhook.receiptId === "r2") throw hopeless;
      if (webhook.receiptId === "r3" && isDown) throw down;
      await record(webhook);
    };
    const isHopeless = (error: unknown) => error === hopeless;
    expect(await spool.drain(failing, { isHopeless })).toEqual({
      drained: 1,
      setAside: 1,
      leftBecause: down,
    });
    isDown = false;
    expect(await spool.drain(failing, { isHopeless })).toEqual({ drained: 2, setAside: 1 });
    expect(ids).toEqual(["r1", "r1", "r3"]);

    expect(told).toHaveLength(1);
    const why = await readFile(told[0]!.replace(/spool$/, "txt"), "utf8");
    expect(why).toBe("2026-01-02T03:04:05.678Z hopeless: no such column\n");
    expect(await spool.stats()).toMatchObject({ records: 0, setAside: 1 });
  });

  it("is on disk where it was set aside before its segment is removed", async () => {
    const seen: string[] = [];
    const fs = hooked({
      syncDirectory: (file) => void seen.push(`sync ${path.basename(file)}`),
      unlink: (file) => void seen.push(`remove ${path.extname(file)}`),
    });
    const spool = bench.open({ fs });
    await spool.append(webhook(1));
    seen.length = 0;
    await spool.drain(() => Promise.reject(down), { isHopeless: () => true });
    expect(seen).toEqual(["sync spool", "sync set-aside", "remove .spool", "sync spool"]);
  });

  it("is tried again after its file was moved back into the directory", async () => {
    const files: string[] = [];
    const spool = bench.open({ onSetAside: (_, file) => files.push(file), heartbeatMs: 5, deadAfterMs: 20 });
    await spool.append(webhook(1));
    await spool.drain(() => Promise.reject(down), { isHopeless: () => true });
    await rename(files[0]!, path.join(bench.directory, path.basename(files[0]!)));
    const { ids, record } = keeper();
    await until(async () => (await spool.drain(record)).drained > 0);
    expect(ids).toEqual(["r1"]);
  });

  it("stays in its segment while it cannot be set aside, and the other lines are drained", async () => {
    const setAside = path.join(bench.directory, "set-aside");
    let full = true;
    const fs = hooked({
      open: (file) => {
        if (full && file.startsWith(setAside + path.sep)) throw systemError("ENOSPC");
      },
    });
    const spool = bench.open({ fs });
    for (const id of [1, 2, 3]) await spool.append(webhook(id));
    const { ids, record } = keeper();
    const failing = (each: SpooledWebhook) => (each.receiptId === "r2" ? Promise.reject(down) : record(each));
    const options = { isHopeless: () => true };
    expect(await spool.drain(failing, options)).toMatchObject({
      drained: 2,
      setAside: 0,
      leftBecause: { code: "ENOSPC" },
    });
    full = false;
    expect(await spool.drain(failing, options)).toEqual({ drained: 2, setAside: 1 });
    expect(ids).toEqual(["r1", "r3", "r1", "r3"]);
    expect(await bench.segments()).toEqual([]);
  });

  it("does not stop the drain of other segments if its drained segment cannot be removed", async () => {
    await mkdir(bench.directory, { recursive: true });
    let unlinks = 0;
    const fs = hooked({
      unlink: (file) => {
        if (file.endsWith(".spool") && ++unlinks === 1) throw systemError("EPERM");
      },
    });
    const spool = bench.open({ fs });
    await spool.append(webhook(1));
    await spool.drain(() => Promise.reject(down));
    await spool.append(webhook(2));
    const { ids, record } = keeper();
    expect(await spool.drain(record)).toMatchObject({
      drained: 2,
      leftBecause: { cause: { code: "EPERM" } },
    });
    expect(await spool.drain(record)).toEqual({ drained: 1, setAside: 0 });
    expect(ids).toEqual(["r1", "r2", "r1"]);
  });
});

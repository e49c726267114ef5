import { readFile, rename } from "node:fs/promises";
import path from "node:path";
import { type SpooledWebhook } from "../../../src/webhook/spool/record-line.js";
import { keeper, spoolBench, until, webhook } from "./fixtures.js";
import { hooked, systemError } from "./hooked-file-system.js";

const bench = spoolBench();
const down = new Error("the store is down");

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

  it.each([
    ["a text", "no such table", "no such table"],
    ["null", null, "null"],
    ["an object without a message", { code: "E" }, "[object Object]"],
  ])("is set aside with its reason where the store rejects with %s", async (_, rejection, reason) => {
    const told: string[] = [];
    const spool = bench.open({ onSetAside: ({ message }) => told.push(message) });
    await spool.append(webhook(1));
    const rejecting = async () => {
      throw rejection;
    };
    expect(await spool.drain(rejecting, { isHopeless: () => true })).toEqual({ drained: 0, setAside: 1 });
    expect(told).toEqual([reason]);
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
});

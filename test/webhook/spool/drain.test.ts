import { mkdir, readdir, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { type SpooledWebhook } from "../../../src/webhook/spool/record-line.js";
import { keeper, spoolBench, until, webhook } from "./fixtures.js";
import { gate, hooked, systemError } from "./hooked-file-system.js";

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

  it("leaves a skipped webhook in its segment, and records those after it", async () => {
    const spool = bench.open();
    for (const id of range(3)) await spool.append(webhook(id));
    const { ids, record } = keeper();
    const failing = (each: SpooledWebhook) => (each.receiptId === "r1" ? Promise.reject(down) : record(each));
    const skipped = await spool.drain(failing, { isSkipped: (error) => error === down });
    expect(skipped).toEqual({ drained: 2, setAside: 0, leftBecause: down });
    expect(await spool.drain(record)).toEqual({ drained: 3, setAside: 0 });
    expect(ids).toEqual(["r0", "r2", "r0", "r1", "r2"]);
  });

  it("returns the first of several errors that skipped webhooks", async () => {
    const spool = bench.open();
    for (const id of range(2)) await spool.append(webhook(id));
    const failing = ({ receiptId }: SpooledWebhook) => Promise.reject(new Error(receiptId));
    const { leftBecause } = await spool.drain(failing, { isSkipped: () => true });
    expect(leftBecause).toMatchObject({ message: "r0" });
  });

  it("records at most 100 webhooks in a group where no other number is given", async () => {
    const spool = bench.open();
    await Promise.all(range(202).map((id) => spool.append(webhook(id))));
    const groups: number[] = [];
    await spool.drain(keeper().record, { recordMany: async ({ length }) => void groups.push(length) });
    expect(groups).toEqual([100, 100, 2]);
  });

  it("is awaited by a close, which then leaves the segments to others", async () => {
    const spool = bench.open();
    await spool.append(webhook(1));
    const { opened, open } = gate();
    const steps: string[] = [];
    const draining = spool.drain(async () => {
      steps.push("started");
      await opened;
      steps.push("recorded");
    });
    await until(() => steps.length === 1);
    const closing = spool.close().then(() => steps.push("closed"));
    // The close has its time for everything else.
    for (const _ of range(20)) await readdir(bench.directory);
    open();
    await Promise.all([draining, closing]);
    expect(steps).toEqual(["started", "recorded", "closed"]);
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

  it("removes what a crash has left of a key or of a webhook that was set aside", async () => {
    const aside = path.join(bench.directory, "set-aside");
    await mkdir(aside, { recursive: true, mode: 0o700 });
    const drafts = [bench.directory, aside].map((folder) => path.join(folder, `.${"a".repeat(16)}.tmp`));
    for (const draft of drafts) {
      await writeFile(draft, "");
      await utimes(draft, 0, 0);
    }
    const spool = bench.open();
    await spool.append(webhook(1));
    await spool.drain(() => Promise.reject(down), { isHopeless: () => true });
    expect((await readdir(bench.directory)).toSorted()).toEqual(["key", "set-aside"]);
    expect((await readdir(aside)).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  it("leaves a draft that another process may still write", async () => {
    const spool = bench.open();
    await spool.append(webhook(1));
    const draft = path.join(bench.directory, `.${"a".repeat(16)}.tmp`);
    await writeFile(draft, "");
    const age = Date.now() / 1000 - 59 * 60;
    await utimes(draft, age, age);
    await spool.drain(keeper().record);
    expect(await readdir(bench.directory)).toContain(path.basename(draft));
  });

  it("records nothing if there is no directory", async () => {
    expect(await bench.open().drain(keeper().record)).toStrictEqual({ drained: 0, setAside: 0 });
  });

  it("records nothing after close", async () => {
    const spool = bench.open();
    await spool.append(webhook(1));
    await spool.close();
    const { ids, record } = keeper();
    expect(await spool.drain(record)).toMatchObject({
      drained: 0,
      setAside: 0,
      leftBecause: { code: "spool_unavailable" },
    });
    expect(ids).toEqual([]);
    expect(await bench.open().drain(record)).toEqual({ drained: 1, setAside: 0 });
  });

  it("leaves the names of its own segments, also after its process stood still for too long", async () => {
    const spool = bench.open();
    await spool.append(webhook(1));
    await spool.drain(() => Promise.reject(down));
    await spool.append(webhook(2));
    const files = await bench.segments();
    for (const file of files) await utimes(file, 0, 0);
    const renamed: string[] = [];
    const { ids, record } = keeper();
    const result = await spool.drain(async (each) => {
      renamed.push(...(await bench.segments()).filter((file) => !files.includes(file)));
      await record(each);
    });
    expect(result).toEqual({ drained: 2, setAside: 0 });
    expect([ids, renamed]).toEqual([["r1", "r2"], []]);
  });

  it("adopts the next segment only after it has drained the one before, and leaves it to others after close", async () => {
    const dead = [bench.open(), bench.open(), bench.open()];
    for (const [index, owner] of dead.entries()) await owner.append(webhook(index));
    for (const owner of dead) await owner.close();
    const [, second, third] = (await bench.segments()).toSorted();
    const spool = bench.open();
    let closing: Promise<void> | undefined;
    await spool.drain(async () => {
      expect(await bench.segments()).toContain(second);
      closing = spool.close();
    });
    await closing;
    expect((await bench.segments()).toSorted()).toEqual([second, third]);
    expect(await bench.open().drain(keeper().record)).toEqual({ drained: 2, setAside: 0 });
  });

  it("records a single webhook without its group, and no further group after close", async () => {
    const spool = bench.open();
    for (const id of range(7)) await spool.append(webhook(id));
    const groups: number[] = [];
    const { ids, record } = keeper();
    const recordMany = async ({ length }: readonly SpooledWebhook[]) => void groups.push(length);
    expect(await spool.drain(record, { recordMany, maxGroup: 3 })).toEqual({ drained: 7, setAside: 0 });
    expect([groups, ids]).toEqual([[3, 3], ["r6"]]);

    for (const id of range(4)) await spool.append(webhook(id));
    let closing: Promise<void> | undefined;
    const closed = await spool.drain(record, {
      maxGroup: 2,
      async recordMany() {
        closing ??= spool.close();
      },
    });
    await closing;
    expect(closed).toMatchObject({ drained: 2, leftBecause: { code: "spool_unavailable" } });
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

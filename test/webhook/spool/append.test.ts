import { createSecretKey } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import path from "node:path";
import { readLines } from "../../../src/webhook/spool/record-line.js";
import { keeper, spoolBench, until, webhook } from "./fixtures.js";
import { gate, hooked, systemError } from "./hooked-file-system.js";

const bench = spoolBench();

/** Returns the receipt ids in the segment files. */
async function spooled(): Promise<string[]> {
  const files = await Promise.all((await bench.segments()).map((file) => readFile(file)));
  const key = createSecretKey(await readFile(path.join(bench.directory, "key")));
  return files.flatMap((file) => readLines(file, key)).flatMap(({ webhook }) => webhook?.receiptId ?? []);
}

describe("append", () => {
  it("writes nothing to disk before the first call", () => {
    bench.open();
    expect(existsSync(bench.directory)).toBe(false);
  });

  it("resolves after the directory entry and the bytes are fsynced, in that order", async () => {
    const seen: string[] = [];
    const fs = hooked({
      syncDirectory: (file) => void seen.push(`directory ${path.basename(file)}`),
      datasynced: () => void seen.push("bytes"),
    });
    await bench.open({ fs }).append(webhook(1));
    expect(seen).toEqual([expect.stringMatching(/^directory tillkit-spool-/), "directory spool", "bytes"]);
    expect(await spooled()).toEqual(["r1"]);
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
    expect(await spooled()).toEqual(Array.from({ length: 101 }, (_, index) => `r${index}`));
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
    expect(await spooled()).toEqual(["r3"]);
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

  it("is refused if no segment can be created", async () => {
    const fs = hooked({
      syncDirectory: () => {
        throw systemError("EIO");
      },
    });
    await expect(bench.open({ fs }).append(webhook(1))).rejects.toMatchObject({ code: "spool_unavailable" });
    expect(await bench.segments()).toEqual([]);
  });

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
  });

  it("is refused after close, which waits for earlier appends", async () => {
    const spool = bench.open();
    const appends = [1, 2, 3].map((id) => spool.append(webhook(id)));
    await spool.close();
    expect(await spooled()).toEqual(["r1", "r2", "r3"]);
    await Promise.all(appends);
    await expect(spool.append(webhook(4))).rejects.toMatchObject({ code: "spool_unavailable" });
  });

  it.each([
    ["directory", { directory: " " }],
    ["maxBytes", { maxBytes: Number.NaN }],
    ["heartbeatMs", { heartbeatMs: 0 }],
    ["deadAfterMs", { heartbeatMs: 2000, deadAfterMs: 3000 }],
  ])("is not possible with an invalid %s: the spool is not opened", (option, options) => {
    expect(() => bench.open(options)).toThrow(
      expect.objectContaining({
        code: "option_invalid",
        problems: [expect.objectContaining({ option: `spool.${option}` })],
      }),
    );
  });
});

import { createSecretKey } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { openSpool, type Spool, type SpoolOptions } from "../../../src/webhook/spool/spool.js";
import { type SpooledWebhook } from "../../../src/webhook/spool/record-line.js";
import { readLines } from "../../../src/webhook/spool/record-line.js";

/** Provides a new directory for each test. The end of the test closes the spools and removes the directory. */
export function spoolBench() {
  let root = "";
  const opened: Spool[] = [];
  beforeEach(() => {
    root = mkdtempSync(path.join(tmpdir(), "tillkit-spool-"));
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((spool) => spool.close()));
    rmSync(root, { recursive: true, force: true });
  });

  return {
    get directory() {
      return path.join(root, "spool");
    },
    open(options: Partial<SpoolOptions> = {}): Spool {
      const spool = openSpool({ directory: this.directory, maxBytes: 2 ** 26, ...options });
      opened.push(spool);
      return spool;
    },
    async segments(): Promise<string[]> {
      const names = await readdir(this.directory).catch(() => []);
      return names.filter((name) => name.endsWith(".spool")).map((name) => path.join(this.directory, name));
    },
    /** Returns the receipt ids in the segment files. */
    async spooled(): Promise<string[]> {
      const files = await Promise.all((await this.segments()).map((file) => readFile(file)));
      const key = createSecretKey(await readFile(path.join(this.directory, "key")));
      return files.flatMap((file) => readLines(file, key)).flatMap(({ webhook }) => webhook?.receiptId ?? []);
    },
    /** Rewrites the bytes of the only segment. */
    async damage(change: (bytes: Buffer) => Buffer): Promise<void> {
      const [file, ...others] = await this.segments();
      if (file === undefined || others.length > 0) throw new Error("expected one segment");
      await writeFile(file, change(await readFile(file)));
    },
  };
}

export function webhook(id: string | number, rawBody = `{"n":"${id}"}`): SpooledWebhook {
  return {
    receiptId: `r${id}`,
    receivedAt: new Date(Date.UTC(2026, 0, 1) + Number(id) || 0).toISOString(),
    covers: "body",
    rawBody: Buffer.from(rawBody),
  };
}

/** Returns a store that records everything, with the receipt ids in their order. */
export function keeper() {
  const ids: string[] = [];
  return {
    ids,
    record: async ({ receiptId }: SpooledWebhook) => void ids.push(receiptId),
  };
}

/** Polls until the condition holds. */
export async function until(isSo: () => boolean | Promise<boolean>, deadlineMs = 10_000): Promise<void> {
  const from = performance.now();
  while (!(await isSo())) {
    if (performance.now() - from > deadlineMs) throw new Error("The condition did not hold in time.");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import request from "supertest";
import {
  type Changes,
  fieldsSignature,
  MemoryStore,
  TillkitError,
  type MemoryTx,
  type NoticeMap,
  type Saved,
} from "tillkit";
import { createIntake } from "../../../src/webhook/intake.js";
import { readMessage } from "../../../src/webhook/message/read-message.js";
import { openSpool } from "../../../src/webhook/spool/spool.js";
import { appOf, closeAll, secret, testKit } from "../../support/kit.js";
import { completedBody, pendingPayment, signed } from "../../support/webhooks.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "tillkit-keep-"));
});
afterEach(async () => {
  await closeAll();
  rmSync(folder, { recursive: true, force: true });
});

/** A store that can be made unavailable. */
class FailingStore extends MemoryStore {
  failure: Error | undefined;
  /** Rejects only webhooks. */
  refusal: Error | undefined;
  refusals = 0;

  override transaction<T>(run: (tx: MemoryTx) => Promise<T>): Promise<T> {
    return this.failure ? Promise.reject(this.failure) : super.transaction(run);
  }

  override save(tx: MemoryTx, changes: Changes): Promise<Saved> {
    if (!this.refusal || !changes.webhooks?.length) return super.save(tx, changes);
    this.refusals += 1;
    return Promise.reject(this.refusal);
  }
}

const away = new TillkitError("store_unavailable", "The database is restarting.");

async function spooling(directory = path.join(folder, "spool")) {
  const store = new FailingStore();
  await store.transaction((tx) => store.save(tx, { created: [pendingPayment()] }));
  const payments = testKit<never, MemoryTx>({ store, spool: { directory }, dispatch: { pollMs: 10 } });
  await payments.start({ keepAlive: false });
  const app = appOf(payments);
  const post = () => {
    const { headers, rawBody } = signed(completedBody());
    return request(app).post("/payments/webhook").set(headers).send(rawBody.toString());
  };
  return { store, payments, post, directory };
}

interface IntakeGiven {
  directory: string;
  maxBytes?: number;
  recordTimeoutMs?: number;
  maxGroup?: number;
}

/** An intake without a kit around it. */
function intakeOver(store: MemoryStore, { recordTimeoutMs = 60_000, maxGroup = 100, ...spool }: IntakeGiven) {
  let ids = 0;
  return createIntake(
    {
      store,
      now: () => new Date("2026-11-20T10:00:05.000Z"),
      newId: () => `id-${++ids}`,
      policy: { clientIdPrefix: undefined, confirms: false },
      maxGroup,
      ready: () => Promise.resolve(),
      announceEvents: () => undefined,
      notify: () => undefined,
    },
    { recordTimeoutMs, drainMs: 10, spool: { maxBytes: 2 ** 20, ...spool } },
  );
}

/** Spools webhooks of an ended process. */
async function spooledWebhooks(count: number): Promise<{ directory: string }> {
  const directory = path.join(folder, "spool");
  const spool = openSpool({ directory, maxBytes: 2 ** 20 });
  for (let n = 0; n < count; n++) {
    const rawBody = Buffer.from(JSON.stringify(completedBody({ clientId: `c-${n}`, id: `s-${n}` })));
    const receivedAt = "2026-11-20T10:00:05.000Z";
    await spool.append({ receiptId: `r-${n}`, receivedAt, covers: "body", rawBody });
  }
  await spool.close();
  return { directory };
}

/** Checks repeatedly until the condition holds. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe("a webhook that the store cannot take", () => {
  it("is spooled, answered 200, and recorded and dispatched when the store is back", async () => {
    const { store, payments, post } = await spooling();
    const spooled: NoticeMap["webhook.spooled"][] = [];
    payments.on("webhook.spooled", (notice) => void spooled.push(notice));
    const fulfilled = new Promise<void>((resolve) => payments.onPaymentCompleted(() => resolve()));
    await payments.start({ keepAlive: false });

    store.failure = away;
    expect((await post()).status).toBe(200);
    expect(spooled).toEqual([{ receiptId: expect.any(String) as string, error: away }]);
    expect(await payments.find("c-1")).toMatchObject({ state: "pending" });
    expect(await payments.health()).toMatchObject({ status: "degraded", spool: { records: 1 } });

    store.failure = undefined;
    await fulfilled;
    expect(await payments.find("c-1")).toMatchObject({ state: "completed" });
    await until(async () => (await payments.health()).spool?.records === 0);
  });

  it("is recorded by the next process when this one ends first", async () => {
    const { store, payments, post, directory } = await spooling();
    store.failure = away;
    expect((await post()).status).toBe(200);
    await payments.close();

    const next = await spooling(directory);
    await until(async () => (await next.payments.find("c-1"))?.state === "completed");
  });

  it("is left in the spool where the kit closes, but for the group that is being recorded", async () => {
    const { directory } = await spooledWebhooks(7);
    const store = new MemoryStore();
    const record = store.record.bind(store);
    let closing: Promise<void> | undefined;
    const groups: number[] = [];
    const isClosing = new Promise<void>((resolve) => {
      store.record = async (keys, decide) => {
        groups.push(keys.eventKeys!.length);
        closing ??= intake.keeper.close();
        resolve();
        return record(keys, decide);
      };
    });
    const intake = intakeOver(store, { directory, maxGroup: 2 });
    intake.keeper.start();
    await isClosing;
    await closing;
    expect(groups).toEqual([2]);
  });

  it("does not keep the kit from closing where the store hangs in everything but the record", async () => {
    const { directory } = await spooledWebhooks(1);
    const store = new MemoryStore();
    store.record = () => Promise.reject(new Error("this row is too much for the table"));
    const probing = new Promise<void>((resolve) => {
      store.transaction = () => (resolve(), new Promise(() => {}));
    });
    const intake = intakeOver(store, { directory, recordTimeoutMs: 50 });
    intake.keeper.start();
    await probing;
    await intake.keeper.close();
    expect(await intake.spool!.stats()).toMatchObject({ records: 1 });
  });

  it("is recorded with others from the spool, as many at a time as one transaction of the store takes", async () => {
    const { directory } = await spooledWebhooks(7);
    const store = Object.assign(new MemoryStore(), { maxGroup: 3 });
    const groups: number[] = [];
    const record = store.record.bind(store);
    store.record = (keys, decide) => (groups.push(keys.eventKeys!.length), record(keys, decide));
    const payments = testKit<never, MemoryTx>({ store, spool: { directory } });
    await payments.start({ keepAlive: false });
    await until(async () => (await payments.health()).spool?.records === 0);
    expect(groups).toEqual([3, 3, 1]);
  });

  it("is answered 503 when the spool cannot take it either", async () => {
    // A file has the name of the directory.
    const blocked = path.join(folder, "blocked");
    writeFileSync(blocked, "");
    const { store, post } = await spooling(blocked);
    store.failure = away;
    const response = await post();
    expect([response.status, response.headers["retry-after"]]).toEqual([503, "5"]);
  });

  it("is set aside for a person when an available store refuses it three times more", async () => {
    const { store, payments, post, directory } = await spooling();
    const setAside = new Promise<NoticeMap["webhook.set_aside"]>((resolve) =>
      payments.on("webhook.set_aside", resolve),
    );
    store.refusal = new Error("this row is too much for the table");
    expect((await post()).status).toBe(200);
    expect((await setAside).reason).toContain("too much for the table");
    expect(store.refusals).toBe(1 + 3);
    expect(readdirSync(path.join(directory, "set-aside"))).toHaveLength(2);
    // The notice comes before the segment is removed.
    await until(async () => (await payments.health()).spool?.records === 0);
    expect(await payments.health()).toMatchObject({ status: "degraded", spool: { records: 0, setAside: 1 } });
  });

  it("waits for as long as a lock is not free, however often it is tried", async () => {
    const { store, payments, post } = await spooling();
    const setAside: unknown[] = [];
    payments.on("webhook.set_aside", (notice) => setAside.push(notice));
    store.refusal = new TillkitError("store_busy", "Another transaction holds the payment.");
    expect((await post()).status).toBe(200);
    await until(async () => store.refusals > 5);
    store.refusal = undefined;
    await until(async () => (await payments.find("c-1"))?.state === "completed");
    expect(setAside).toEqual([]);
  });

  it("completes nothing if somebody else wrote it: without a key, or with the key of another spool", async () => {
    const told: string[] = [];
    const { payments, directory } = await spooling();
    payments.on("webhook.set_aside", ({ reason }) => told.push(reason));
    const earlier = openSpool({ directory, maxBytes: 2 ** 20 });
    await earlier.append({
      receiptId: "r-0",
      receivedAt: "2026-11-20T10:00:05.000Z",
      covers: "body",
      rawBody: Buffer.from("{}"),
    });
    await earlier.close();
    const { rawBody } = signed(completedBody());
    const forged = {
      receiptId: "forged",
      receivedAt: "2026-11-20T10:00:05.000Z",
      covers: "body",
      rawBody,
    } as const;
    const json = JSON.stringify({ ...forged, rawBody: rawBody.toString("base64") });
    const checksum = createHash("sha256").update(json).digest("hex").slice(0, 16);
    const elsewhere = openSpool({ directory: path.join(folder, "elsewhere"), maxBytes: 2 ** 20 });
    await elsewhere.append(forged);
    await elsewhere.close();
    const segment = readdirSync(path.join(folder, "elsewhere")).find((name) => name.endsWith(".spool"))!;

    renameSync(path.join(folder, "elsewhere", segment), path.join(directory, segment));
    const planted = path.join(directory, "planted.spool");
    writeFileSync(planted, `1 ${Buffer.byteLength(json)} ${checksum} ${json}\n`, { mode: 0o600 });
    utimesSync(planted, 0, 0);
    await until(async () => told.length === 2);
    expect(await payments.find("c-1")).toMatchObject({ state: "pending" });
    await until(async () => (await payments.health()).spool?.records === 0);
    expect(await payments.health()).toMatchObject({ spool: { records: 0, setAside: 2 } });
  });

  it("waits as long as the store is not available, whatever error the driver reports", async () => {
    const { store, payments, post } = await spooling();
    const setAside: unknown[] = [];
    payments.on("webhook.set_aside", (notice) => setAside.push(notice));
    let tries = 0;
    const refused = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    Object.defineProperty(store, "failure", { get: () => ((tries += 1), refused), configurable: true });
    expect((await post()).status).toBe(200);
    await until(async () => tries > 12);
    Object.defineProperty(store, "failure", { value: undefined });
    await until(async () => (await payments.find("c-1"))?.state === "completed");
    expect(setAside).toEqual([]);
  });

  it("is decided by the fields that were signed when it was verified, whatever is configured when it is recorded", async () => {
    const directory = path.join(folder, "spool");
    const store = new FailingStore();
    await store.transaction((tx) => store.save(tx, { created: [pendingPayment()] }));
    const fields = fieldsSignature({ secret, merchantId: "m-1" });
    const before = testKit({ store, spool: { directory }, signature: fields });
    store.failure = away;
    const unsignedType = completedBody({}, { type: "ping" });
    expect((await before.receiveWebhook(signed(unsignedType, fields))).outcome).toBe("spooled");
    store.close = async () => {};
    await before.close();

    store.failure = undefined;
    const after = testKit({ store, spool: { directory } });
    await after.start({ keepAlive: false });
    await until(async () => (await after.find("c-1"))?.state === "completed");
    expect(await after.find("c-1")).toMatchObject({ state: "completed" });
  });

  it("is not refused when the kit closes meanwhile", async () => {
    const payments = testKit();
    const bodies = Array.from({ length: 250 }, (_, index) =>
      signed(completedBody({ clientId: `c-${index}` })),
    );
    const underWay = bodies.map((body) => payments.receiveWebhook(body));
    await new Promise(setImmediate);
    await payments.close();
    const results = await Promise.allSettled(underWay);
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set(["fulfilled"]));
  });

  it("is awaited by every call of close", async () => {
    const payments = testKit();
    const underWay = payments.receiveWebhook(signed(completedBody()));
    await Promise.all([payments.close(), payments.close()]);
    expect(await underWay).toMatchObject({ outcome: "unmatched" });
  });

  it("is spooled once and recorded once when its commit succeeded but the reply was lost", async () => {
    const { store, payments, post } = await spooling();
    const effects: string[] = [];
    const fulfilled = new Promise<void>((resolve) => {
      payments.onPaymentCompleted(({ id }) => {
        effects.push(id);
        resolve();
      });
    });
    await payments.start({ keepAlive: false });
    const transaction = store.transaction.bind(store);
    store.transaction = async function lost<T>(run: (tx: MemoryTx) => Promise<T>): Promise<T> {
      store.transaction = transaction;
      await transaction(run);
      throw new TillkitError("store_unavailable", "The connection was lost during the commit.");
    };
    expect((await post()).status).toBe(200);
    await fulfilled;
    await until(async () => (await payments.health()).spool?.records === 0);
    await payments.close();
    expect(effects).toHaveLength(1);
  });
});

describe("the failure of a store", () => {
  it("is over when webhooks of an ended process were recorded from the spool in one commit", async () => {
    const directory = path.join(folder, "spool");
    const receivedAt = "2026-11-20T10:00:05.000Z";
    const arrivals = [1, 2, 3].map((n) => {
      const rawBody = Buffer.from(JSON.stringify(completedBody({ clientId: `c-${n}`, id: `s-${n}` })));
      return { receiptId: `r-${n}`, receivedAt, covers: "body" as const, rawBody };
    });
    const ended = openSpool({ directory, maxBytes: 2 ** 20 });
    for (const arrival of arrivals.slice(1)) await ended.append(arrival);
    await ended.close();

    const store = new FailingStore();
    // A spool without space left, so that this process's own webhook is refused.
    const intake = intakeOver(store, { directory, maxBytes: 1 });
    store.failure = away;
    const refused = intake.keeper.keep({ ...arrivals[0]!, message: readMessage(arrivals[0]!) });
    await expect(refused).rejects.toMatchObject({ code: "record_unavailable" });
    expect(intake.keeper.keeping).toMatchObject({ refused: "store" });
    store.failure = undefined;
    intake.keeper.start();
    await until(async () => intake.keeper.keeping.refused === undefined);
    expect(intake.keeper.keeping).toEqual({});
    await intake.keeper.close();
  });
});

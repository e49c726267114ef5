import { randomBytes } from "node:crypto";
import path from "node:path";
import { Client } from "pg";
import { hmacSignature, MemoryStore, type Health, type MemoryTx } from "tillkit";
import { sqliteStore } from "tillkit/sql";
import { completionOf, openShop, seedPayments } from "../promises/faults/shop.js";
import {
  onEachDatabase,
  openPlace,
  openStore,
  serverUrl,
  type Place,
} from "../promises/processes/databases.js";
import { until } from "../promises/processes/members.js";
import { closeAll, scheme, testKit } from "../support/kit.js";
import { completedBody, pendingPayment, signed } from "../support/webhooks.js";

const dayMs = 24 * 60 * 60 * 1000;
const minuteMs = 60_000;

const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  jest.restoreAllMocks();
  await closeAll();
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

async function placeOn(kind: Parameters<typeof openPlace>[0]): Promise<Place> {
  const place = await openPlace(kind);
  cleanUps.push(() => place.remove());
  return place;
}

/** Returns the status with the codes of its reasons. */
async function stateOf({ payments }: { payments: { health(): Promise<Health> } }): Promise<string[]> {
  const { status, reasons } = await payments.health();
  return [status, ...reasons.map(({ code }) => code)];
}

/** Returns a store that does not tell that the test's server runs without fsync. */
function storeOf(place: Place, url = place.address.url) {
  return Object.assign(openStore({ ...place.address, url }), { warnings: async () => [] });
}

/** Moves the clocks of this process. */
function moveClocks() {
  const moved = { wallMs: 0, monotonicMs: 0 };
  const { now } = Date;
  const monotonic = performance.now.bind(performance);
  jest.spyOn(Date, "now").mockImplementation(() => now() + moved.wallMs);
  jest.spyOn(performance, "now").mockImplementation(() => monotonic() + moved.monotonicMs);
  return moved;
}

describe("the health of a shop whose disk is full", () => {
  async function shopOnFullDisk(options: Parameters<typeof openShop>[1] = {}) {
    const place = await placeOn("sqlite");
    await seedPayments(place, 9);
    const store = sqliteStore(place.address.url, { tablePrefix: place.address.prefix });
    const shop = await openShop(place, { store, ...options });
    const limitPages = (count: number) =>
      store.transaction(async (tx) => (await tx.raw).exec(`pragma max_page_count = ${count}`));
    /** Sends a webhook that fits into no page with other rows. */
    const post = (n: number) => {
      const body = completionOf(n);
      return shop.post({ ...body, data: { ...body.data, note: "x".repeat(20_000) } });
    };
    // Takes the pages that the migrations left free.
    expect(await post(8)).toBe(200);
    return { ...shop, limitPages, post };
  }

  it("is down without a spool while webhooks are refused, although reads are answered, and ok when one can be kept", async () => {
    const shop = await shopOnFullDisk({ spool: false, dispatch: false });
    expect(await shop.post(0)).toBe(200);
    expect(await stateOf(shop)).toEqual(["ok"]);

    await shop.limitPages(1);
    expect(await shop.post(1)).toBe(503);
    for (let times = 0; times < 3; times++) {
      expect(await stateOf(shop)).toEqual(["down", "webhooks_refused"]);
      expect(await shop.payments.find("c-1")).toMatchObject({ state: "pending" });
    }
    // No other webhook arrives: the health tries the refused one again, which is then recorded once.
    await shop.limitPages(100_000);
    expect(await stateOf(shop)).toEqual(["ok"]);
    expect(await shop.payments.find("c-1")).toMatchObject({ state: "completed" });
    expect(await shop.post(1)).toBe(200);
    expect(await stateOf(shop)).toEqual(["ok"]);
  });

  it("is degraded while the spool keeps webhooks, down when its quota is used up, and ok after the drain", async () => {
    const shop = await shopOnFullDisk({
      spool: { directory: path.join((await placeOn("sqlite")).folder, "spool"), maxBytes: 40_000 },
    });
    await shop.limitPages(1);
    expect(await shop.post(0)).toBe(200);
    expect(await stateOf(shop)).toEqual(["degraded", "spool_waiting"]);
    expect(await shop.post(1)).toBe(503);
    expect(await stateOf(shop)).toEqual(["down", "webhooks_refused", "spool_waiting"]);
    await shop.limitPages(100_000);
    await until(async () => (await stateOf(shop))[0] === "ok", "the spool was drained");
    expect(await shop.payments.find("c-0")).toMatchObject({ state: "completed" });
  });

  it("is down for a liveness probe when the store has taken none of the spooled webhooks for too long", async () => {
    const moved = moveClocks();
    const shop = await shopOnFullDisk({ health: { spoolingDownAfterMs: 3 * minuteMs } });
    await shop.limitPages(1);
    expect(await shop.post(0)).toBe(200);
    expect(await stateOf(shop)).toEqual(["degraded", "spool_waiting"]);
    for (const each of ["wallMs", "monotonicMs"] as const) moved[each] += 4 * minuteMs;
    // The test moves no clock but that of this process.
    const state = ["down", "spooling_too_long", "spool_waiting", "database_clock_off"];
    expect(await stateOf(shop)).toEqual(state);
    moved.wallMs = 0;
    await shop.limitPages(100_000);
    await until(async () => (await stateOf(shop))[0] !== "down", "the spool was drained");
    expect(await stateOf(shop)).not.toContain("spool_waiting");
  });
});

const postgresUrl = serverUrl("postgres");
if (postgresUrl === undefined)
  it("leaves a read-only PostgreSQL out, because TILLKIT_TEST_POSTGRES_URL names no server", () => {
    expect([undefined, "none"]).toContain(process.env["TILLKIT_TEST_POSTGRES_URL"]);
  });
else
  it("is down while the database takes no writes, before any webhook shows it, and ok again later", async () => {
    const name = `health_${randomBytes(6).toString("hex")}`;
    const admin = new Client({ connectionString: postgresUrl });
    await admin.connect();
    await admin.query(`create database ${name}`);
    const url = new URL(postgresUrl);
    url.pathname = `/${name}`;
    /** New sessions of this database alone are read-only. */
    const setReadOnly = async (value: "on" | "off") => {
      await admin.query(`alter database ${name} set default_transaction_read_only = ${value}`);
      await admin.query("select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", [name]);
    };
    cleanUps.push(async () => {
      await admin.query(`drop database if exists ${name} with (force)`);
      await admin.end();
    });
    const place = await placeOn("postgres");
    const shop = await openShop(place, {
      store: storeOf(place, url.toString()),
      spool: false,
      dispatch: false,
    });
    expect(await stateOf(shop)).toEqual(["ok"]);

    await setReadOnly("on");
    await until(
      async () => (await stateOf(shop)).includes("store_not_writable"),
      "the sessions are read-only",
    );
    expect(await stateOf(shop)).toEqual(["down", "store_not_writable"]);
    expect(await shop.payments.find("c-0")).toBeUndefined();
    expect(await shop.post(completionOf(0))).toBe(503);
    expect(await stateOf(shop)).toEqual(["down", "webhooks_refused", "store_not_writable"]);

    await setReadOnly("off");
    await until(async () => (await stateOf(shop))[0] !== "down", "the sessions take writes");
    expect(await shop.post(completionOf(0))).toBe(200);
  });

describe("the health of a shop with a wrong secret", () => {
  const wrong = hmacSignature({ secret: "whsec_00000000000000000000000000000000" });
  async function openWithClocks() {
    const moved = moveClocks();
    const pass = (ms: number) => {
      moved.wallMs += ms;
      moved.monotonicMs += ms;
    };
    const place = await placeOn("sqlite");
    await seedPayments(place, 9);
    const shop = await openShop(place, { signature: scheme });
    const forge = async (times: number) => {
      const { headers, rawBody } = signed(completionOf(0), wrong);
      for (let n = 0; n < times; n++) expect(await shop.postSigned(headers, rawBody)).toBe(401);
    };
    return { pass, shop, forge };
  }

  it("is degraded when nothing has verified for a while, and ok when a webhook verifies", async () => {
    const { pass, shop, forge } = await openWithClocks();
    await forge(20);
    expect(await stateOf(shop)).toEqual(["ok"]);
    pass(2 * minuteMs);
    await forge(1);
    // The test does not move the database's clock.
    expect(await stateOf(shop)).toEqual(["degraded", "signatures_failing", "database_clock_off"]);
    expect(await shop.post(completionOf(0))).toBe(200);
    expect(await stateOf(shop)).not.toContain("signatures_failing");
  });

  it("is not degraded by forged webhooks between good ones, however many and for however long", async () => {
    const { pass, shop, forge } = await openWithClocks();
    for (let n = 0; n < 5; n++) {
      await forge(9);
      pass(2 * minuteMs);
      await forge(9);
      expect(await shop.post(completionOf(n))).toBe(200);
      expect(await stateOf(shop)).not.toContain("signatures_failing");
    }
  });
});

onEachDatabase("the health about handlers and clocks", (kind) => {
  it.each([
    ["recorded two minutes ago", -2 * minuteMs],
    ["recorded by a clock that was a day ahead", dayMs],
  ])("names the handler that no process runs, for an event %s", async (_, offMs) => {
    const place = await placeOn(kind);
    await seedPayments(place, 1);
    const web = await openShop(place, { dispatch: false, now: () => new Date(Date.now() + offMs) });
    expect(await web.post(completionOf(0))).toBe(200);
    await place.store.claim({ handlers: [{ event: "payment.overdue", name: "none" }], limit: 1, leaseMs: 1 });
    const told = async (shop: { payments: { health(): Promise<Health> } }) =>
      (await shop.payments.health()).reasons.find(({ code }) => code === "handler_missing")?.message;
    const onlyReads = { payments: testKit({ store: openStore(place.address), spool: false }) };
    expect(await told(onlyReads)).toContain("books");
    expect(await told(web)).toContain("books");

    const worker = await openShop(place);
    await until(async () => (await place.ledger()).length === 1, "the worker handled it");
    for (const shop of [onlyReads, web, worker]) expect(await told(shop)).toBeUndefined();
  });

  it("tells that the machine's clock jumped, that the database's clock differs, and forgets both", async () => {
    const moved = moveClocks();
    const place = await placeOn(kind);
    const shop = await openShop(place, { store: storeOf(place) });
    expect(await stateOf(shop)).toEqual(["ok"]);
    moved.wallMs += dayMs;
    expect(await stateOf(shop)).toEqual(["degraded", "clock_jumped", "database_clock_off"]);
    moved.wallMs -= dayMs;
    expect(await stateOf(shop)).toEqual(["degraded", "clock_jumped"]);
    for (const each of ["wallMs", "monotonicMs"] as const) moved[each] += 61 * minuteMs;
    expect(await stateOf(shop)).not.toContain("clock_jumped");
  });
});

describe("marks that are final, when the clock of the machine jumps forward by a day", () => {
  const now = () => new Date(Date.now());

  it("does not raise payments as overdue before the clock has stayed there for an hour", async () => {
    const moved = moveClocks();
    const place = await placeOn("sqlite");
    const shop = await openShop(place, { now });
    const at = now().toISOString();
    await place.store.transaction((tx) =>
      place.store.save(tx, { created: [pendingPayment({ createdAt: at, updatedAt: at })] }),
    );
    moved.wallMs += dayMs + 1000;
    expect(await shop.payments.sweep()).toMatchObject({ overdue: 0 });
    moved.wallMs -= dayMs + 1000;
    expect(await shop.payments.sweep()).toMatchObject({ overdue: 0 });
    moved.wallMs += dayMs + 1000;
    expect(await shop.payments.sweep()).toMatchObject({ overdue: 0 });
    for (const each of ["wallMs", "monotonicMs"] as const) moved[each] += 61 * minuteMs;
    expect(await shop.payments.sweep()).toMatchObject({ overdue: 1 });
  });

  it("does not raise webhooks as unmatched whose payment may still come", async () => {
    const moved = moveClocks();
    const shop = await openShop(await placeOn("sqlite"), { now });
    expect(await shop.post(completedBody({ clientId: "c-unknown", id: "s-unknown" }))).toBe(200);
    moved.wallMs += dayMs;
    expect(await shop.payments.sweep()).toMatchObject({ unmatched: 0 });
    moved.wallMs -= dayMs;
    for (const each of ["wallMs", "monotonicMs"] as const) moved[each] += 6 * minuteMs;
    expect(await shop.payments.sweep()).toMatchObject({ unmatched: 1 });
  });

  it("does not end the lookups of a payment, and leaves none of them a day late when the clock is put right", async () => {
    const moved = moveClocks();
    const store = new MemoryStore();
    const at = now().toISOString();
    const waiting = pendingPayment({ createdAt: at, updatedAt: at, nextLookupAt: at });
    await store.transaction((tx) => store.save(tx, { created: [waiting] }));
    const fetch = () => Promise.reject(new Error("The service cannot be reached."));
    const service = { baseUrl: "https://pay.invalid", accessToken: "a-token", fetch };
    const payments = testKit<never, MemoryTx>({ store, now, service, lookup: true });
    await payments.health();
    moved.wallMs += 4 * dayMs;
    moved.monotonicMs += 1000;
    expect(await payments.sweep()).toMatchObject({ lookups: 1 });
    expect(await payments.find("c-1")).toHaveProperty("nextLookupAt");
    moved.wallMs -= 4 * dayMs;
    moved.monotonicMs += 1000;
    await payments.sweep();
    const withinTenMinutes = Date.parse(at) + 10 * minuteMs;
    await until(
      async () => Date.parse((await payments.find("c-1"))!.nextLookupAt!) < withinTenMinutes,
      "the payment is looked up again, and planned by the right clock",
    );
  });
});

it("ends the wait for another call's creation in time, although the clock stands still or is put back", async () => {
  const moved = moveClocks();
  const at = new Date();
  const store = new MemoryStore();
  const { checkoutUrl: _, serviceId: __, ...intent } = pendingPayment({ state: "creating" });
  await store.transaction((tx) => store.save(tx, { created: [{ ...intent, createdAt: at.toISOString() }] }));
  const payments = testKit<never, MemoryTx>({ store, now: () => at });
  const locked = jest.spyOn(store, "lock");
  const creating = payments.create({ reference: intent.reference, total: intent.total });
  const refusal = creating.catch((error: unknown) => error);
  await until(async () => locked.mock.calls.length > 1, "the call waits");
  moved.monotonicMs += minuteMs;
  expect(await refusal).toMatchObject({ code: "creation_pending_elsewhere" });
});

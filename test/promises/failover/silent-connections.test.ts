import { createPool } from "mysql2/promise";
import { Pool } from "pg";
import { mysqlStore, postgresStore, type SqlPaymentStore, type SqlTx } from "tillkit/sql";
import { closeAll } from "../../support/kit.js";
import { onEachServer, openPlace, serverUrl, type Place } from "../processes/databases.js";
import { until } from "../processes/members.js";
import { proxyTo, type Proxy } from "../faults/proxy.js";
import { completionOf, openShop, seedPayments, type Shop } from "../faults/shop.js";

jest.setTimeout(90_000);

const connections = 16;
/** Far below the 130 seconds in which nothing recovered, and far above what a slow machine needs. */
const maxRecoveryMs = 15_000;

/** A store, and what the application does with the pool that it gave. */
interface Opened {
  store: SqlPaymentStore;
  /** Opens all connections of the pool, as other code of the application would. */
  fill: () => Promise<void>;
  end: () => Promise<unknown>;
}

function openAt(kind: "postgres" | "mysql", url: string, place: Place, isOwnPool: boolean): Opened {
  const options = { tablePrefix: place.address.prefix, busyTimeoutMs: 500, maxConnections: connections };
  const all = Array.from({ length: connections });
  if (kind === "postgres") {
    if (!isOwnPool)
      return { store: postgresStore(url, options), fill: async () => {}, end: () => Promise.resolve() };
    const pool = new Pool({ connectionString: url, max: connections, idleTimeoutMillis: 0 });
    pool.on("error", () => undefined);
    const fill = async () => void (await Promise.all(all.map(() => pool.query("select pg_sleep(0.2)"))));
    return { store: postgresStore(pool, options), fill, end: () => pool.end() };
  }
  if (!isOwnPool)
    return { store: mysqlStore(url, options), fill: async () => {}, end: () => Promise.resolve() };
  const pool = createPool({ uri: url, connectionLimit: connections });
  const fill = async () => void (await Promise.all(all.map(() => pool.query("select sleep(0.2)"))));
  return { store: mysqlStore(pool, options), fill, end: () => pool.end() };
}

onEachServer("connections that die silently", (kind) => {
  describe.each([
    ["a store of an address", false],
    ["a pool of the application", true],
  ])("with %s", (_, isOwnPool) => {
    let place: Place;
    let proxy: Proxy;
    let opened: Opened;
    let shop: Shop;
    beforeEach(async () => {
      place = await openPlace(kind);
      await seedPayments(place, 60);
      proxy = await proxyTo(serverUrl(kind)!);
      opened = openAt(kind, proxy.url, place, isOwnPool);
      shop = await openShop(place, { store: opened.store });
    });
    afterEach(async () => {
      await closeAll();
      // A connection that the pool of the application opened in the moment of silence would keep the pool from ending.
      proxy.cut();
      await opened.end();
      await proxy.close();
      await place.remove();
    });

    const post = (from: number, to: number) =>
      Promise.all(Array.from({ length: to - from }, (_, n) => shop.post(completionOf(from + n))));
    const handled = (count: number) =>
      until(async () => (await place.ledger()).length >= count, `${count} payments are handled`, 40_000);
    const expectOnce = async (count: number) => {
      // A webhook whose commit had no answer is recorded again, and changes nothing then.
      const isDrained = async () => (await shop.payments.health()).spool?.records === 0;
      await until(isDrained, "the spool is drained");
      const ids = (await place.ledger()).map(({ client_id }) => client_id);
      expect(ids.toSorted()).toEqual(Array.from({ length: count }, (_, n) => `c-${n}`).toSorted());
      const rows = await place.select("select receipt_id from @webhooks");
      expect(rows).toHaveLength(count);
    };

    it("webhooks are recorded and handled again after all connections went quiet in one moment", async () => {
      await opened.fill();
      expect(new Set(await post(0, 20))).toEqual(new Set([200]));
      await handled(20);
      proxy.silence();
      const from = performance.now();
      expect(new Set(await post(20, 30))).toEqual(new Set([200]));
      await handled(30);
      expect(performance.now() - from).toBeLessThan(maxRecoveryMs);
      await expectOnce(30);
    });

    it("the store closes although no connection says goodbye", async () => {
      await opened.fill();
      expect(new Set(await post(0, 10))).toEqual(new Set([200]));
      await handled(10);
      proxy.silence({ isDeaf: true });
      const from = performance.now();
      await opened.store.close();
      expect(performance.now() - from).toBeLessThan(maxRecoveryMs);
      proxy.cut();
    });

    it("nothing is lost or done twice where the connections go quiet while they are in use", async () => {
      await post(0, 10);
      const posting = post(10, 60);
      await handled(15);
      proxy.silence();
      const from = performance.now();
      expect(new Set(await posting)).toEqual(new Set([200]));
      await handled(60);
      expect(performance.now() - from).toBeLessThan(maxRecoveryMs);
      await expectOnce(60);
    });
  });
});

onEachServer("connections that are lost", (kind) => {
  let place: Place;
  beforeEach(async () => {
    place = await openPlace(kind);
    await seedPayments(place, 1);
  });
  afterEach(async () => {
    await closeAll();
    await place.remove();
  });
  const ownId = { postgres: "select pg_backend_pid() as id", mysql: "select connection_id() as id" }[kind];
  const end = (id: number) =>
    kind === "postgres" ? `select pg_terminate_backend(${id})` : `kill connection ${id}`;

  it.each([
    ["wraps the error", true],
    ["ignores the error", false],
  ])("do not use up the tries of a handler that %s", async (_, wraps) => {
    const attempts: number[] = [];
    const errors: unknown[] = [];
    const shop = await openShop(place, {
      dispatch: { pollMs: 20, firstDelayMs: 10, maxDelayMs: 50, maxFailures: 1, maxLostLeases: 1 },
    });
    const dead: unknown[] = [];
    shop.payments.on("dispatch.dead", (notice) => void dead.push(notice));
    shop.payments.on("dispatch.failed", (notice) => void dead.push(notice));
    const done = new Promise<void>((resolve) => {
      const handler = async (_event: unknown, { tx, attempt }: { tx: SqlTx; attempt: number }) => {
        attempts.push(attempt);
        const { rows } = await tx.query<{ id: number }>(ownId);
        if (attempts.length > 3) return resolve();
        await place.select(end(rows[0]!.id));
        await tx.query(ownId).catch((error: unknown) => {
          errors.push(error);
          if (wraps) throw new Error("the order could not be stored");
        });
      };
      shop.payments.onPaymentCompleted(handler, { name: "unlucky" });
      shop.payments.on("dispatch.dead", () => resolve());
    });
    expect(await shop.post(completionOf(0))).toBe(200);
    await done;
    expect(attempts).toEqual([1, 1, 1, 1]);
    expect(errors).toEqual(Array(3).fill(expect.objectContaining({ code: "store_unavailable" })));
    expect(dead).toEqual([]);
  });

  it("are not assumed where every answer of the server takes a tenth of a second", async () => {
    const proxy = await proxyTo(serverUrl(kind)!);
    const shop = await openShop(place, { url: proxy.url, webhook: {} });
    const unavailable: unknown[] = [];
    shop.payments.on("store.unavailable", (notice) => void unavailable.push(notice));
    proxy.delay(100);
    expect(await shop.post(completionOf(0))).toBe(200);
    await until(async () => (await place.ledger()).length === 1, "the payment is handled", 60_000);
    expect(unavailable).toEqual([]);
    await closeAll();
    await proxy.close();
  });

  it("do not end a statement of a handler that takes longer than the kit waits for its own", async () => {
    const { url, prefix } = place.address;
    const options = { tablePrefix: prefix, busyTimeoutMs: 0 };
    const store = kind === "postgres" ? postgresStore(url, options) : mysqlStore(url, options);
    const seconds = { postgres: "select pg_sleep(1.5) as slept", mysql: "select sleep(1.5) as slept" }[kind];
    const { rows } = await store.transaction((tx) => tx.query(seconds));
    expect(rows).toHaveLength(1);
    await store.close();
  });
});

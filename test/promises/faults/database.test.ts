import { closeAll } from "../../support/kit.js";
import { onEachDatabase, onEachServer, openPlace, serverUrl, type Place } from "../processes/databases.js";
import { until } from "../processes/members.js";
import { proxyTo, type Proxy } from "./proxy.js";
import { completionOf, openShop, seedPayments, type Shop } from "./shop.js";

const count = 20;
const all = Array.from({ length: count }, (_, n) => n);
const clientIds = all.map((n) => `c-${n}`);

/** Resolves when all webhooks are recorded and handled, and the spool is empty. */
async function allHandled(place: Place, { payments }: Shop, wanted: readonly string[]): Promise<void> {
  await until(async () => {
    const { spool } = await payments.health();
    return spool?.records === 0 && (await place.ledger()).length >= wanted.length;
  }, "everything drained and handled");
  const ledger = await place.ledger();
  expect(ledger.map(({ client_id }) => client_id).toSorted()).toEqual(wanted.toSorted());
}

onEachServer("faults of a connection", (kind) => {
  let place: Place;
  let proxy: Proxy;
  let shop: Shop;
  const open = async (options = {}) => {
    shop = await openShop(place, { url: proxy.url, ...options });
  };
  beforeEach(async () => {
    place = await openPlace(kind);
    await seedPayments(place, count);
    proxy = await proxyTo(serverUrl(kind)!);
  });
  afterEach(async () => {
    proxy.open();
    await closeAll();
    await proxy.close();
    await place.remove();
  });

  it("database down: webhooks are spooled and answered 200, and drained in order when the database is back", async () => {
    await open();
    proxy.cut();
    for (const n of all) expect(await shop.post(completionOf(n))).toBe(200);
    expect((await shop.payments.health()).spool).toMatchObject({ records: count });

    proxy.open();
    await allHandled(place, shop, clientIds);
    const events = await place.select<{ client_id: string }>("select client_id from @events order by seq");
    expect(events.map(({ client_id }) => client_id)).toEqual(clientIds);
  });

  it("database slow or locked: webhooks are spooled at the time limit, and few connections are held", async () => {
    await open();
    await shop.post(completionOf(0));
    proxy.hold();
    const from = performance.now();
    const statuses = await Promise.all(all.map((n) => shop.post(completionOf(n))));
    for (const n of all) statuses.push(await shop.post(completionOf(n)));
    expect(new Set(statuses)).toEqual(new Set([200]));
    // If each webhook waited for the limit of 500 ms, this would take 10.5 seconds.
    expect(performance.now() - from).toBeLessThan(10_000);
    // The pool has 10 connections: one hangs with the record, and the poll, the announcement and the listening take one each.
    expect(proxy.connections()).toBeLessThan(8);

    proxy.open();
    await allHandled(place, shop, clientIds);
  });

  it("commit's reply lost: the outcome is unknown, and the repetition makes no second row or effect", async () => {
    await open();
    let spooled = 0;
    shop.payments.on("webhook.spooled", () => void spooled++);
    // Only the record commits, because nothing is due. PostgreSQL ends a statement with a NUL, and MySQL does not.
    const lost = proxy.loseReplyTo(/\bcommit\0?$/);
    expect(await shop.post(completionOf(7))).toBe(200);
    await lost;
    expect(spooled).toBe(1);
    expect(await place.select("select receipt_id from @webhooks")).toHaveLength(1);
    await allHandled(place, shop, ["c-7"]);
    expect(await place.select("select receipt_id from @webhooks")).toHaveLength(1);
  });
});

onEachDatabase("locked rows", (kind) => {
  it("database slow or locked: a payment that another transaction locks waits until its time limit, and others do not wait", async () => {
    const place = await openPlace(kind);
    await seedPayments(place, 2);
    const shop = await openShop(place);
    let notices = 0;
    shop.payments.on("webhook.spooled", () => void notices++);
    await place.store.transaction(async (tx) => {
      await place.store.lock(tx, { clientIds: ["c-1"] });
      expect(await Promise.all(Array.from({ length: 30 }, () => shop.post(completionOf(1))))).toEqual(
        Array(30).fill(200),
      );
      // Connections are left for payments without a lock.
      expect(await shop.payments.find("c-0")).toMatchObject({ state: "pending" });
    });
    expect(notices).toBe(30);
    await allHandled(place, shop, ["c-1"]);
    await closeAll();
    await place.remove();
  });
});

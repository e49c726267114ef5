import { MemoryStore, type Payments, type SignedField } from "tillkit";
import { type SqlTx } from "tillkit/sql";
import { onEachDatabase } from "../../promises/processes/databases.js";
import { closeAll, testKit } from "../../support/kit.js";
import { completedBody, pendingPayment, signed } from "../../support/webhooks.js";
import { shopBench } from "../shop-bench.js";

onEachDatabase("webhooks that wait", (kind) => {
  let now: Date;
  beforeEach(() => {
    now = new Date("2026-11-20T10:00:00.000Z");
  });
  const bench = shopBench(kind);
  const { recorded } = bench;
  /** A process of the shop. Its events are read from the store, so that none is missed. */
  async function shop(options: Parameters<typeof bench.shop>[0] = {}) {
    const payments = bench.shop({ now: () => now, dispatch: false, ...options });
    await payments.start({ keepAlive: false });
    return payments;
  }
  const later = (ms: number) => (now = new Date(now.getTime() + ms));
  const receive = (payments: Payments<SignedField, SqlTx>, data: Record<string, unknown> = {}) =>
    payments.receiveWebhook(signed(completedBody(data)));
  const appear = () => bench.seed(pendingPayment());

  it("are raised as unmatched when the grace period is over, and not before", async () => {
    const payments = await shop({ unmatchedAfterMs: 60_000 });
    const { receiptId } = await receive(payments);
    later(60_000);
    expect(await payments.sweep()).toEqual({ overdue: 0, unmatched: 0, lookups: 0 });
    expect(await recorded()).toEqual([]);
    later(1);
    expect(await payments.sweep()).toEqual({ overdue: 0, unmatched: 1, lookups: 0 });
    const [{ payload }] = (await bench.place.select<{ payload: string }>("select payload from @events")) as [
      { payload: string },
    ];
    expect(JSON.parse(payload)).toMatchObject({
      clientId: "c-1",
      receiptId,
      receivedAt: "2026-11-20T10:00:00.000Z",
      reportedBy: "webhook",
      verified: { status: "completed", "total.value": "1475" },
    });
    later(600_000);
    expect(await payments.sweep()).toEqual({ overdue: 0, unmatched: 0, lookups: 0 });
  });

  it("are raised once, however many processes sweep at the same moment", async () => {
    const shops = await Promise.all([shop(), shop(), shop()]);
    for (let n = 0; n < 250; n++) await receive(shops[0], { clientId: `nobody-${n}`, id: `s-${n}` });
    later(600_000);
    const swept = await Promise.all(shops.map((payments) => payments.sweep()));
    const more = await shops[0].sweep();
    const total = [...swept, more].reduce((sum, { unmatched }) => sum + unmatched, 0);
    expect(total).toBe(250);
    expect(await recorded()).toEqual(Array(250).fill("payment.unmatched"));
  });

  it("are matched and not raised, although more of them wait than one page shows", async () => {
    const payments = await shop();
    const ids = Array.from({ length: 150 }, (_, n) => ({ clientId: `late-${n}`, id: `s-${n}` }));
    for (const data of ids) await receive(payments, data);
    await payments.sweep();
    await bench.seed(
      ...ids.map(({ clientId, id }) => pendingPayment({ clientId, reference: clientId, serviceId: id })),
    );
    later(600_000);
    expect(await payments.sweep()).toMatchObject({ unmatched: 0 });
    expect(await recorded()).toEqual(Array(150).fill("payment.completed"));
  });

  it("are matched without an event when the payment appears within the grace period", async () => {
    const payments = await shop();
    expect((await receive(payments)).outcome).toBe("unmatched");
    await appear();
    later(600_000);
    expect(await payments.sweep()).toEqual({ overdue: 0, unmatched: 0, lookups: 0 });
    expect(await payments.find("c-1")).toMatchObject({ state: "completed" });
    expect(await recorded()).toEqual(["payment.completed"]);
    expect(await bench.place.store.counts()).toMatchObject({ parked: 0 });
  });

  it("are matched also after they were raised", async () => {
    const payments = await shop();
    await receive(payments);
    later(600_000);
    await payments.sweep();
    await appear();
    await receive(payments, { status: "submitted", captured: false, clientId: "c-1" });
    later(100_000_000);
    await payments.sweep();
    expect(await payments.find("c-1")).toMatchObject({ state: "completed" });
    expect(await bench.place.store.counts()).toMatchObject({ parked: 0 });
  });

  it("are another shop's where the prefix says so: recorded, counted, and never raised", async () => {
    const payments = await shop({ clientIdPrefix: "north-" });
    expect((await receive(payments, { clientId: "south-1" })).outcome).toBe("foreign");
    expect((await receive(payments, { clientId: "south-1" })).outcome).toBe("duplicate");
    expect((await receive(payments, { clientId: "north-9", id: "s-9" })).outcome).toBe("unmatched");
    later(600_000);
    expect(await payments.sweep()).toEqual({ overdue: 0, unmatched: 1, lookups: 0 });
    expect(await payments.health()).toMatchObject({ foreign: 1, counts: { parked: 1 } });
    expect((await bench.place.store.history("south-1")).webhooks).toMatchObject([
      { outcome: "foreign", copies: 1 },
    ]);
  });

  it("find a payment that the store has, whatever its clientId begins with", async () => {
    const payments = await shop({ clientIdPrefix: "north-" });
    await appear();
    expect((await receive(payments)).outcome).toBe("applied");
  });
});

describe("a clientIdPrefix", () => {
  afterEach(closeAll);
  const order = { reference: "order-1", total: { value: "1475", currency: "KMF" } };

  it("begins every clientId that the kit makes", async () => {
    const store = new MemoryStore();
    const payments = testKit({ store: store, clientIdPrefix: "north-" });
    await payments.create(order).catch(() => undefined);
    const [payment] = await store.list({ newestFirst: true, limit: 1 });
    expect(payment!.clientId).toMatch(/^north-[0-9a-f-]{36}$/);
  });

  it("must begin a given clientId: any other would count as another shop's", async () => {
    const payments = testKit({ clientIdPrefix: "north-" });
    await expect(payments.create({ ...order, clientId: "c-1" })).rejects.toMatchObject({
      code: "client_id_invalid",
    });
  });

  it.each(["", "a b", "x".repeat(25), 7])("refuses %j", (clientIdPrefix) => {
    expect(() => testKit({ clientIdPrefix: clientIdPrefix as string })).toThrow(/clientIdPrefix/);
  });
});

import { fieldsSignature, type TillkitEvent } from "tillkit";
import { onEachDatabase } from "../promises/processes/databases.js";
import { closeAll, secret, testKit } from "../support/kit.js";
import { completedBody, pendingPayment, signed, statusBody } from "../support/webhooks.js";
import { shopBench } from "./shop-bench.js";

jest.setTimeout(60_000);

const why = { reason: "the till was wrong", by: "Amina" };

onEachDatabase("resolutions", (kind) => {
  const bench = shopBench(kind);
  const { shop, seed } = bench;
  const events = async (): Promise<TillkitEvent[]> =>
    (
      await bench.place.select<{ type: string; payload: string }>(
        "select type, payload from @events order by seq",
      )
    ).map(({ type, payload }) => ({ ...(JSON.parse(payload) as object), type }) as TillkitEvent);
  const types = async () => (await events()).map(({ type }) => type);
  const short = { total: { value: "1470", currency: "KMF" } };

  it("accept a mismatch as completed, with all events of a completion", async () => {
    const payments = shop();
    await seed(pendingPayment());
    const { receiptId } = await payments.receiveWebhook(signed(completedBody(short)));
    const { resolution, resolved, payment } = await payments.resolve({ action: "accept", receiptId, ...why });
    expect(resolved).toBe(true);
    expect(resolution).toMatchObject({ action: "accepted", clientId: "c-1", receiptId, ...why });
    expect(payment).toMatchObject({ state: "completed", total: { value: "1475" }, open: false });
    expect(payment).not.toHaveProperty("nextLookupAt");
    expect(await types()).toEqual(["payment.mismatched", "payment.completed", "payment.resolved"]);
    const [, completed, told] = await events();
    expect(completed).toMatchObject({ verified: { "total.value": "1470" }, reportedBy: "webhook" });
    expect(told).toMatchObject({ action: "accepted", receiptId, ...why, payment: { state: "completed" } });
    const { webhooks, resolutions } = await bench.place.store.history("c-1");
    expect(webhooks).toMatchObject([{ outcome: "mismatch" }]);
    expect(resolutions).toEqual([resolution]);
  });

  it("are stored once, however many people resolve the same thing at the same moment", async () => {
    const shops = [shop(), shop(), shop()];
    await seed(pendingPayment());
    const { receiptId } = await shops[0]!.receiveWebhook(signed(completedBody(short)));
    const answers = await Promise.allSettled(
      shops.map((payments, n) =>
        payments.resolve({ action: "accept", receiptId, ...why, by: `person ${n}` }),
      ),
    );
    const made = answers.filter((one) => one.status === "fulfilled" && one.value.resolved);
    expect(made).toHaveLength(1);
    expect((await types()).filter((type) => type === "payment.completed")).toHaveLength(1);
    const again = await shops[1]!.resolve({ action: "accept", receiptId, ...why, by: "late" });
    expect(again.resolved).toBe(false);
    expect(again.resolution.by).toMatch(/^person \d$/);
  });

  it("note a refund of the second payment, which stays completed", async () => {
    const payments = shop();
    await seed(
      pendingPayment({
        clientId: "c-0",
        serviceId: "s-0",
        state: "completed",
        status: "completed",
        open: false,
      }),
      pendingPayment(),
    );
    await payments.receiveWebhook(signed(completedBody()));
    const { payment } = await payments.resolve({ action: "refunded", clientId: "c-1", ...why });
    expect(payment).toMatchObject({ state: "completed" });
    expect(await types()).toEqual(["payment.paid_twice", "payment.resolved"]);
    expect((await payments.resolve({ action: "refunded", clientId: "c-1", ...why })).resolved).toBe(false);
    expect(await types()).toHaveLength(2);
  });

  it("dismiss an unmatched webhook, which is no longer raised, and is still matched later", async () => {
    const payments = shop();
    const { receiptId } = await payments.receiveWebhook(signed(completedBody()));
    expect((await payments.health()).counts).toMatchObject({ parked: 1 });
    await payments.resolve({ action: "dismiss", receiptId, ...why });
    expect((await payments.health()).counts).toMatchObject({ parked: 0 });
    expect(await types()).toEqual(["payment.resolved"]);
    expect(
      await bench.place.store.transaction((tx) => bench.place.store.stray(tx, { before: "3", limit: 9 })),
    ).toEqual([]);
    const { reference, total } = pendingPayment();
    const { payment } = await payments.adopt({ clientId: "c-1", reference, total });
    expect(payment).toMatchObject({ state: "completed" });
  });

  it("confirm a completion that no lookup confirmed", async () => {
    const scheme = fieldsSignature({ secret, merchantId: "m-1" });
    const payments = shop({ signature: scheme, lookup: true, confirm: "lookup" });
    await seed(pendingPayment());
    const { receiptId, outcome } = await payments.receiveWebhook(signed(completedBody(), scheme));
    expect(outcome).toBe("unconfirmed");
    expect(await payments.find("c-1")).toMatchObject({ state: "pending" });
    const { payment } = await payments.resolve({ action: "accept", receiptId, ...why });
    expect(payment).toMatchObject({ state: "completed" });
    const { webhooks } = await bench.place.store.history("c-1");
    expect(webhooks).toMatchObject([{ outcome: "applied", reason: "accepted by Amina: the till was wrong" }]);
    expect(await bench.place.store.counts()).toMatchObject({ parked: 0 });
  });

  it("keep a bound service id where a webhook with another one is accepted", async () => {
    const payments = shop();
    await seed(pendingPayment(), pendingPayment({ clientId: "c-2", reference: "order-2", serviceId: "s-2" }));
    const { receiptId } = await payments.receiveWebhook(signed(completedBody({ id: "s-2" })));
    const { payment } = await payments.resolve({ action: "accept", receiptId, ...why });
    expect(payment).toMatchObject({ state: "completed", serviceId: pendingPayment().serviceId });
  });
});

describe("a resolution", () => {
  afterEach(closeAll);

  it.each([
    ["an action that is none", { action: "forget" as never, clientId: "c-1" }],
    ["no subject", { action: "dismiss" as const }],
    ["two subjects", { action: "dismiss" as const, clientId: "c-1", receiptId: "r-1" }],
    ["an acceptance of no webhook", { action: "accept" as const, clientId: "c-1" }],
    ["a refund of no payment", { action: "refunded" as const, receiptId: "r-1" }],
    ["no reason", { action: "dismiss" as const, clientId: "c-1", reason: " " }],
    ["nobody", { action: "dismiss" as const, clientId: "c-1", by: "" }],
  ])("with %s is refused", async (_, given) => {
    const payments = testKit();
    await expect(payments.resolve({ ...why, ...given })).rejects.toMatchObject({
      code: "resolution_invalid",
    });
  });

  it("that does not fit the stored state is refused with the stored state", async () => {
    const payments = testKit();
    const { store } = payments;
    await store.transaction((tx) => store.save(tx, { created: [pendingPayment()] }));
    const impossible = async (
      given: Pick<Parameters<typeof payments.resolve>[0], "action" | "receiptId" | "clientId">,
    ) => payments.resolve({ ...why, ...given }).catch((error: unknown) => (error as Error).message);
    const failed = await payments.receiveWebhook(
      signed(statusBody("failed", { total: { value: "1", currency: "KMF" } })),
    );
    const applied = await payments.receiveWebhook(signed(completedBody()));
    const mismatch = await payments.receiveWebhook(
      signed(completedBody({ total: { value: "2", currency: "KMF" } })),
    );

    expect(await impossible({ action: "accept", receiptId: "nobody" })).toMatch(/no webhook nobody/);
    expect(await impossible({ action: "accept", receiptId: applied.receiptId })).toMatch(
      /applied, not a mismatch/,
    );
    expect(await impossible({ action: "accept", receiptId: mismatch.receiptId })).toMatch(
      /completed already/,
    );
    expect(await impossible({ action: "dismiss", receiptId: applied.receiptId })).toMatch(/it is applied/);
    expect(await impossible({ action: "refunded", clientId: "nobody" })).toMatch(/only a completed payment/);
    expect(await impossible({ action: "dismiss", clientId: "nobody" })).toMatch(/has no payment nobody/);
    const open = pendingPayment({ clientId: "c-2", reference: "order-2", serviceId: "s-2" });
    await store.transaction((tx) => store.save(tx, { created: [open] }));
    expect(await impossible({ action: "refunded", clientId: "c-2" })).toMatch(/only a completed payment/);
    const late = { clientId: "c-2", id: "s-2", total: { value: "1", currency: "KMF" } };
    const said = await payments.receiveWebhook(signed(statusBody("failed", late)));
    expect(await impossible({ action: "accept", receiptId: said.receiptId })).toMatch(
      /says failed, not completed/,
    );
    expect(failed.outcome).toBe("mismatch");
  });

  it("needs a store with history", async () => {
    const payments = testKit();
    Object.defineProperty(payments.store, "history", { value: undefined });
    await expect(payments.resolve({ action: "dismiss", clientId: "c-1", ...why })).rejects.toMatchObject({
      code: "store_method_missing",
      message: expect.stringContaining("history()"),
    });
  });
});

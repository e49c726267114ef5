import { type TillkitEvent } from "tillkit";
import { onEachDatabase } from "../../promises/processes/databases.js";
import { completedBody, signed, statusBody } from "../../support/webhooks.js";
import { willingService } from "../../support/willing-service.js";
import { shopBench } from "../shop-bench.js";

const why = { reason: "the goods were sent", by: "Amina" };
const reference = "order-1";
const kmf = (value: string) => ({ value, currency: "KMF" });

onEachDatabase("a payment of another amount than was asked for last", (kind) => {
  const service = willingService();
  const bench = shopBench(kind, () => ({ service: service.options }));
  const { recorded } = bench;
  const ask = (payments: ReturnType<typeof bench.shop>, value: string) =>
    payments.create({ reference, total: kmf(value) });
  const paid = async (payments: ReturnType<typeof bench.shop>, clientId: string) => {
    const { serviceId: id, total } = (await payments.find(clientId))!;
    return payments.receiveWebhook(signed(completedBody({ id, clientId, total })));
  };
  const events = async (): Promise<TillkitEvent[]> =>
    (
      await bench.place.select<{ type: string; payload: string }>(
        "select type, payload from @events order by seq",
      )
    ).map(({ type, payload }) => ({ ...(JSON.parse(payload) as object), type }) as TillkitEvent);
  /** A shop that asked for 5 and then for 147500, and was paid 5. */
  const underpaid = async () => {
    const payments = bench.shop();
    const [small, large] = [await ask(payments, "5"), await ask(payments, "147500")];
    await paid(payments, small.clientId);
    return { payments, small: small.clientId, large: large.clientId };
  };
  /** A shop that asked for 5 and then for 147500, where a person accepted this amount for the first attempt. */
  const accepted = async (value: string) => {
    const payments = bench.shop();
    const [small] = [await ask(payments, "5"), await ask(payments, "147500")];
    const { serviceId: id } = (await payments.find(small.clientId))!;
    const other = signed(completedBody({ id, clientId: small.clientId, total: kmf(value) }));
    const { receiptId } = await payments.receiveWebhook(other);
    const { payment } = await payments.resolve({ action: "accept", receiptId, ...why });
    return { payments, payment };
  };

  it("is withheld from its order and told with both amounts", async () => {
    const { payments, small, large } = await underpaid();
    expect(await recorded()).toEqual(["payment.paid_other_amount"]);
    expect((await events())[0]).toMatchObject({
      payment: { clientId: small, total: kmf("5"), state: "completed", withheld: "unsettled" },
      lastAsked: { clientId: large, total: kmf("147500") },
      verified: { "total.value": "5" },
      reportedBy: "webhook",
    });
    expect(await payments.find(small)).toMatchObject({ state: "completed", withheld: "unsettled" });
  });

  it("leaves no overdue entry of the other attempts of the order once a person has accepted it", async () => {
    const { payments, small, large } = await underpaid();
    const stored = (await payments.find(large))!;
    const overdue = { ...stored, overdueAt: stored.createdAt };
    await payments.store.transaction((tx) => payments.store.save(tx, { updated: [overdue] }));
    const rule = ["overdue", "paid_other_amount", "paid_twice"] as const;
    const rules = async () => (await payments.attention({ rule })).entries.map(({ id }) => id).toSorted();
    expect(await rules()).toEqual([`overdue:${large}`, `paid_other_amount:${small}`]);
    await payments.resolve({ action: "accept", clientId: small, ...why });
    expect(await rules()).toEqual([]);
    await paid(payments, large);
    expect(await rules()).toEqual([`paid_twice:${large}`]);
  });

  it("stops new attempts with an error that says what happened", async () => {
    const { payments, small, large } = await underpaid();
    for (const value of ["147500", "5", "9"]) {
      const error = await ask(payments, value).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: "paid_other_amount" });
      for (const part of [small, "5 KMF", large, "147500 KMF", "payments.resolve"])
        expect((error as Error).message).toContain(part);
    }
  });

  it("stops new attempts with the received amount, which a person may have accepted", async () => {
    const { payments } = await accepted("7");
    await expect(ask(payments, "147500")).rejects.toThrow("was paid with 7 KMF");
  });

  it("fulfils the order with the received amount, also where its earlier events were pruned", async () => {
    const { payments, payment } = await accepted("7");
    expect(await payments.prune({ before: new Date(Date.now() + 60_000) })).toMatchObject({ events: 3 });
    await payments.resolve({ action: "accept", clientId: payment!.clientId, ...why });
    const [completed] = await events();
    expect(completed).toMatchObject({ type: "payment.completed", payment: { received: kmf("7") } });
    expect(completed).toMatchObject({ verified: { "total.value": "7", "total.currency": "KMF" } });
  });

  it("is not the payment with which a person accepted the amount that was asked for last", async () => {
    const { payments, payment } = await accepted("147500");
    expect(payment).toMatchObject({ state: "completed", total: kmf("5"), received: kmf("147500") });
    expect(payment).not.toHaveProperty("withheld");
    expect(await recorded()).toEqual([
      "payment.mismatched",
      "payment.completed",
      "payment.paid_late",
      "payment.resolved",
    ]);
    await expect(ask(payments, "147500")).rejects.toMatchObject({ code: "already_paid" });
  });

  it("does not make the right payment of the order a second one", async () => {
    const { payments, small, large } = await underpaid();
    await paid(payments, large);
    expect(await recorded()).toEqual(["payment.paid_other_amount", "payment.completed"]);
    await expect(ask(payments, "147500")).rejects.toMatchObject({ code: "already_paid" });
    const accepting = payments.resolve({ action: "accept", clientId: small, ...why });
    await expect(accepting).rejects.toMatchObject({ code: "resolution_not_possible" });
    await expect(accepting).rejects.toThrow(large);
    expect((await payments.resolve({ action: "refunded", clientId: small, ...why })).payment).toMatchObject({
      withheld: "refunded",
    });
    expect(await recorded()).toHaveLength(4);
  });

  it("fulfils the order once a person accepts it, and the next payment is the second one", async () => {
    const { payments, small, large } = await underpaid();
    const { payment } = await payments.resolve({ action: "accept", clientId: small, ...why });
    expect(payment).toMatchObject({ state: "completed" });
    expect(payment).not.toHaveProperty("withheld");
    const [told, completed] = await events();
    if (told?.type !== "payment.paid_other_amount") throw new Error(told?.type);
    expect(completed).toMatchObject({ type: "payment.completed", verified: told.verified });
    await expect(ask(payments, "147500")).rejects.toMatchObject({ code: "already_paid" });
    expect((await payments.resolve({ action: "accept", clientId: small, ...why })).resolved).toBe(false);
    await paid(payments, large);
    expect(await recorded()).toEqual([
      "payment.paid_other_amount",
      "payment.completed",
      "payment.resolved",
      "payment.paid_twice",
    ]);
  });

  it("is accepted once, however many people settle it at the same moment", async () => {
    const { small, payments } = await underpaid();
    const others = [bench.shop(), bench.shop()];
    const settled = await Promise.allSettled([
      ...others.map((each) => each.resolve({ action: "accept", clientId: small, ...why })),
      payments.resolve({ action: "refunded", clientId: small, ...why }),
    ]);
    const types = await recorded();
    const completions = types.filter((type) => type === "payment.completed").length;
    expect(completions).toBeLessThan(2);
    const accepted = settled.slice(0, 2).filter((one) => one.status === "fulfilled" && one.value.resolved);
    expect(accepted).toHaveLength(completions);
  });

  it("lets the customer pay again once a person refunded it, and can no longer be accepted", async () => {
    const { payments, small, large } = await underpaid();
    await payments.resolve({ action: "refunded", clientId: small, ...why });
    expect(await ask(payments, "147500")).toMatchObject({ clientId: large, reused: true });
    const accepting = payments.resolve({ action: "accept", clientId: small, ...why });
    await expect(accepting).rejects.toMatchObject({ code: "resolution_not_possible" });
    await paid(payments, large);
    expect(await recorded()).toEqual([
      "payment.paid_other_amount",
      "payment.refunded",
      "payment.resolved",
      "payment.completed",
    ]);
  });

  it("cannot be dismissed, because the money has arrived", async () => {
    const { payments, small } = await underpaid();
    const dismissing = payments.resolve({ action: "dismiss", clientId: small, ...why });
    await expect(dismissing).rejects.toMatchObject({ code: "resolution_not_possible" });
  });

  it("is every attempt whose amount differs from the last, and none that has it again", async () => {
    const payments = bench.shop();
    const ids: string[] = [];
    for (const value of ["5", "10", "5.00"]) ids.push((await ask(payments, value)).clientId);
    await paid(payments, ids[1]!);
    await paid(payments, ids[0]!);
    expect(await recorded()).toEqual(["payment.paid_other_amount", "payment.completed", "payment.paid_late"]);
  });

  it("is withheld where the creation of the newest attempt failed, too", async () => {
    const payments = bench.shop();
    const { clientId } = await ask(payments, "5");
    const { fetch } = service.options;
    service.options.fetch = () => Promise.resolve(Response.json({}, { status: 422 }));
    const failing = bench.shop({ service: service.options });
    await expect(ask(failing, "10")).rejects.toMatchObject({ certainty: "failed" });
    service.options.fetch = fetch;
    await paid(payments, clientId);
    expect(await recorded()).toEqual(["payment.paid_other_amount"]);
  });

  it("is every adopted payment whose amount differs from that of the payment adopted last", async () => {
    let now = Date.parse("2026-11-20T10:00:00.000Z");
    const payments = bench.shop({ now: () => new Date((now += 1000)) });
    await payments.adopt({ clientId: "old-2", serviceId: "s-2", reference, total: kmf("5") });
    await payments.adopt({ clientId: "old-1", serviceId: "s-1", reference, total: kmf("147500") });
    await paid(payments, "old-2");
    expect(await recorded()).toEqual(["payment.paid_other_amount"]);
    expect((await events())[0]).toMatchObject({ lastAsked: { clientId: "old-1", total: kmf("147500") } });
    await expect(ask(payments, "147500")).rejects.toThrow("old-1, asks for 147500 KMF");
    await paid(payments, "old-1");
    expect(await recorded()).toEqual(["payment.paid_other_amount", "payment.completed"]);
  });

  it("is decided under the locks of its order, also beside the call that replaces it", async () => {
    const [payments, other] = [bench.shop(), bench.shop()];
    const { clientId } = await ask(payments, "5");
    const [created] = await Promise.allSettled([ask(other, "147500"), paid(payments, clientId)]);
    const expected = created.status === "fulfilled" ? "payment.paid_other_amount" : "payment.completed";
    expect(await recorded()).toEqual([expected]);
    const code = created.status === "fulfilled" ? "paid_other_amount" : "already_paid";
    await expect(ask(payments, "147500")).rejects.toMatchObject({ code });
  });

  it("is applied once with a status that came before it", async () => {
    const { payments, small } = await underpaid();
    const { serviceId: id, total } = (await payments.find(small))!;
    await payments.receiveWebhook(signed(statusBody("failed", { id, clientId: small, total })));
    await paid(payments, small);
    expect(await recorded()).toEqual(["payment.paid_other_amount"]);
    expect(await payments.find(small)).toMatchObject({ state: "completed", withheld: "unsettled" });
  });
});

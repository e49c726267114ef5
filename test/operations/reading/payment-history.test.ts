import { onEachDatabase } from "../../promises/processes/databases.js";
import { until } from "../../promises/processes/members.js";
import { makeReturnToken } from "../../../src/checkout/return-token.js";
import { closeAll, testKit } from "../../support/kit.js";
import { completedBody, pendingPayment, signed, statusBody } from "../../support/webhooks.js";
import { shopBench } from "../shop-bench.js";

const lastSaid =
  "the service said last: completed, captured true, submittedAt 2026-11-20T10:00:00.000Z, providerId MVK-778, source MVK";

onEachDatabase("histories", (kind) => {
  let now: Date;
  beforeEach(() => {
    now = new Date("2026-11-20T10:00:00.000Z");
  });
  const bench = shopBench(kind, () => ({
    // Each reading of the clock is a second later, so that the order is visible.
    now: () => (now = new Date(now.getTime() + 1000)),
    dispatch: { pollMs: 20, firstDelayMs: 1, maxDelayMs: 1, maxFailures: 2 },
  }));
  const { shop, seed } = bench;

  it("list everything about a payment in order, with times and reasons", async () => {
    const { token, hash } = makeReturnToken("c-1");
    await seed(
      pendingPayment({ returnKeyHash: hash, replacedBy: "c-2", open: false }),
      pendingPayment({ clientId: "c-2", serviceId: "s-2", createdAt: "2026-11-20T09:59:30.000Z" }),
    );
    const payments = shop();
    payments.onPaymentCompleted(() => undefined, { name: "fulfil" });
    payments.on("payment.paid_late", () => Promise.reject(new Error("the goods are gone")), {
      name: "goods",
    });
    await payments.start({ keepAlive: false });

    await payments.handleReturn({ kind: "success", token, visit: true });
    await payments.receiveWebhook(signed(statusBody("submitted")));
    await payments.receiveWebhook(signed(completedBody()));
    await payments.receiveWebhook(signed(completedBody()));
    await payments.receiveWebhook(signed(statusBody("failed")));
    await payments.resolve({ action: "refunded", clientId: "c-1", reason: "asked for", by: "Amina" });
    await until(async () => {
      const { dispatches } = await bench.place.store.history("c-1");
      return dispatches.length === 2 && dispatches.every(({ state }) => state === "done" || state === "dead");
    }, "the dispatches to end");

    const { payment, others, entries } = await payments.history("c-1");
    expect(payment).toMatchObject({ clientId: "c-1", state: "completed" });
    expect(payment).not.toHaveProperty("returnKeyHash");
    expect(others.map(({ clientId }) => clientId)).toEqual(["c-2"]);
    const own = entries.filter(({ kind: one }) => one !== "dispatch");
    expect(own.map(({ text }) => text)).toEqual([
      "created: 1475 KMF for order-1; replaced by c-2",
      "the browser came back to success",
      "webhook: submitted",
      "decided: applied",
      "event: payment.updated",
      "webhook: completed, and 1 more of the same",
      lastSaid,
      "decided: applied",
      "event: payment.completed",
      "event: payment.paid_late",
      "webhook: failed",
      "decided: stale (failed after completed)",
      "refunded by Amina: 1475 KMF of 1475 KMF, all of it has gone back: asked for",
      "event: payment.refunded",
      "event: payment.resolved",
    ]);
    expect(entries.map(({ at }) => at)).toEqual(entries.map(({ at }) => at).toSorted());
    const dispatches = entries.filter(({ kind: one }) => one === "dispatch").map(({ text }) => text);
    expect(dispatches.toSorted()).toEqual([
      "dispatch of payment.completed to fulfil: done",
      "dispatch of payment.paid_late to goods: dead after 2 runs: Error: the goods are gone",
    ]);
  });

  it("show when a webhook arrived, and when it was decided", async () => {
    const payments = shop();
    await payments.receiveWebhook(signed(completedBody()));
    const stranger = await payments.history("c-1");
    expect(stranger).not.toHaveProperty("payment");
    expect(stranger.entries.map(({ text }) => text)).toEqual([
      "webhook: completed",
      "decided: unmatched (no payment with this clientId)",
    ]);
    const { reference, total } = pendingPayment();
    await payments.adopt({ clientId: "c-1", reference, total });
    const { entries } = await payments.history("c-1");
    expect(entries.map(({ text }) => text)).toEqual([
      "webhook: completed",
      lastSaid,
      "created: 1475 KMF for order-1",
      "decided: applied",
      "event: payment.completed",
    ]);
  });

  it("are read page by page, the newest first, each entry once", async () => {
    await seed(pendingPayment());
    const payments = shop();
    for (const status of ["submitted", "held", "failed"])
      await payments.receiveWebhook(signed(statusBody(status)));
    await payments.receiveWebhook(signed(completedBody()));
    await payments.resolve({ action: "refunded", clientId: "c-1", reason: "asked for", by: "Amina" });
    const all = await payments.history("c-1");
    expect(all).not.toHaveProperty("cursor");
    const pages = [await payments.history("c-1", { limit: 2 })];
    for (let { cursor } = pages[0]!; cursor !== undefined; cursor = pages.at(-1)!.cursor)
      pages.push(await payments.history("c-1", { limit: 2, cursor }));
    expect(pages.length).toBeGreaterThan(1);
    const textsOf = ({ entries }: typeof all) => entries.map(({ at, text }) => `${at} ${text}`);
    expect(pages.flatMap(textsOf).toSorted()).toEqual(textsOf(all).toSorted());
    expect(textsOf(pages[0]!).join()).toContain("created: ");
    expect(textsOf(pages[1]!).join()).not.toContain("created: ");
  });

  it.each<[object, string]>([
    [{ limit: 0 }, "limit must be"],
    [{ limit: 1001 }, "limit must be"],
    [{ cursor: "x" }, "cursor must be"],
    [{ cursor: Buffer.from('{"event":{}}').toString("base64url") }, "cursor must be"],
    [{ cursors: "x" }, "Did you mean cursor?"],
  ])("are refused for %j", async (query, message) => {
    const refused = shop().history("c-1", query);
    await expect(refused).rejects.toMatchObject({ code: "query_invalid" });
    await expect(refused).rejects.toThrow(message);
  });

  it("of an unknown clientId are empty", async () => {
    expect(await shop().history("nobody")).toEqual({
      clientId: "nobody",
      others: [],
      entries: [],
      attention: [],
    });
  });

  it("show the hash of a return token neither to people nor to handlers, and lists do not either", async () => {
    const { hash: returnKeyHash } = makeReturnToken("c-1");
    await seed(
      pendingPayment({ returnKeyHash, state: "completed", status: "completed", open: false }),
      pendingPayment({ returnKeyHash, clientId: "c-2", serviceId: "s-2" }),
    );
    const payments = shop();
    await payments.resolve({ action: "refunded", clientId: "c-1", reason: "asked for", by: "Amina" });
    const [history, list] = await Promise.all([payments.history("c-1"), payments.list()]);
    expect([history.others.length, list.payments.length]).toEqual([1, 2]);
    const { events } = await bench.place.store.history("c-1");
    expect(events).toMatchObject([
      { type: "payment.refunded", payload: { payment: { clientId: "c-1" } } },
      { type: "payment.resolved", payload: { payment: { clientId: "c-1" } } },
    ]);
    expect(JSON.stringify([history, list, events])).not.toContain(returnKeyHash);
  });

  it("come with lists of payments, page by page", async () => {
    const many = Array.from({ length: 25 }, (_, n) =>
      pendingPayment({
        clientId: `p-${String(n).padStart(2, "0")}`,
        reference: n % 5 === 0 ? "shared" : `order-${n}`,
        serviceId: `s-${n}`,
        open: false,
        state: n % 2 === 0 ? "completed" : "pending",
        createdAt: `2026-11-${String(1 + Math.floor(n / 2)).padStart(2, "0")}T10:00:00.000Z`,
      }),
    );
    await seed(...many);
    const payments = shop();
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await payments.list({ first: "oldest", limit: 10, cursor });
      seen.push(...page.payments.map(({ clientId }) => clientId));
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(seen).toEqual(many.map(({ clientId }) => clientId));
    const ids = async (query: Parameters<typeof payments.list>[0]) =>
      (await payments.list(query)).payments.map(({ clientId }) => clientId);
    expect(await ids({ reference: "shared", state: "completed" })).toEqual(["p-20", "p-10", "p-00"]);
    const [from, to] = [new Date("2026-11-02T00:00:00Z"), new Date("2026-11-03T00:00:00Z")];
    expect(await ids({ from, to })).toEqual(["p-03", "p-02"]);
    expect(await payments.list({ reference: "nobody" })).toEqual({ payments: [] });
  });

  it("come with lists of payments whose last page has no cursor, also where it is full", async () => {
    await seed(
      ...[1, 2].map((n) => pendingPayment({ clientId: `p-${n}`, reference: `${n}`, serviceId: `s-${n}` })),
    );
    const payments = shop();
    const { cursor } = await payments.list({ limit: 1 });
    expect(await payments.list({ limit: 1, cursor })).toEqual({
      payments: [expect.objectContaining({ clientId: "p-1" })],
    });
    expect(await payments.list({ limit: 2 })).not.toHaveProperty("cursor");
  });
});

describe("a list", () => {
  afterEach(closeAll);

  it.each([
    { state: "open" as never },
    { reference: 7 as never },
    { from: "2026-11-01" as never },
    { to: new Date("never") },
    { first: "latest" as never },
    { limit: 0 },
    { limit: 501 },
    { limit: 1.5 },
    { cursor: "abc" },
    { cursor: Buffer.from("[1,2]").toString("base64url") },
  ])("with %j is refused", async (query) => {
    await expect(testKit().list(query)).rejects.toMatchObject({ code: "query_invalid" });
  });
});

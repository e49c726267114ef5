import {
  type AttentionEntry,
  type AttentionQuery,
  attentionRules,
  type Payment,
  type Payments,
} from "tillkit";
import { event, webhook } from "../../../src/store/exam/checks/fixtures.js";
import { onEachDatabase } from "../../promises/processes/databases.js";
import { completedBody, pendingPayment, signed, statusBody } from "../../support/webhooks.js";
import { shopBench } from "../shop-bench.js";

const paid = { state: "completed", status: "completed", open: false } as const;

/** The rules about what is in the store. A server for tests may not sync, which its health says. */
const stored = attentionRules.filter((rule) => rule !== "health");

/** Returns a payment of an order of its own. */
const own = (clientId: string, over: Partial<Payment> = {}): Payment =>
  pendingPayment({ clientId, reference: `order-${clientId}`, serviceId: `s-${clientId}`, ...over });

onEachDatabase("what needs a person", (kind) => {
  const bench = shopBench(kind);
  const listed = async (payments: Payments, query?: AttentionQuery): Promise<AttentionEntry[]> =>
    (await payments.attention({ rule: stored, ...query })).entries;
  const ids = async (payments: Payments, query?: AttentionQuery) =>
    (await listed(payments, query)).map(({ id }) => id.replace(/:[\da-f-]{36}/, ":…"));

  it("is listed once for each fact, the most urgent first, with the next step, and closes with it", async () => {
    const payments = bench.shop();
    payments.onPaymentCompleted(() => Promise.reject(new Error("no paper")), { name: "printer" });
    await payments.start();
    await bench.seed(
      pendingPayment({ clientId: "c-0", serviceId: "s-0", ...paid, completedAt: "2026-11-20T10:00:00.000Z" }),
      pendingPayment(),
      own("c-2"),
      own("c-3", { cancelReturnedAt: "2026-11-20T10:00:00.000Z" }),
      own("c-4", { state: "uncertain", open: false }),
      own("c-5", { overdueAt: "2026-11-20T11:00:00.000Z" }),
      own("c-6", { ...paid, withheld: "unsettled" }),
      own("c-7", { ...paid }),
    );
    const send = (data: Record<string, unknown>) => payments.receiveWebhook(signed(completedBody(data)));
    await send({});
    const { receiptId } = await send({
      clientId: "c-2",
      id: "s-c-2",
      total: { value: "1470", currency: "KMF" },
    });
    await send({ clientId: "c-3", id: "s-c-3" });
    await payments.receiveWebhook(signed(statusBody("refunded", { clientId: "c-7", id: "s-c-7" })));
    await payments.receiveWebhook(signed({ ...completedBody(), data: { clientId: "c-8" } }));
    const waiting = completedBody({ clientId: "c-9", id: "s-c-9" });
    const old = { outcome: "unmatched", clientId: "c-9", receivedAt: "2026-11-20T10:00:00.000Z" } as const;
    await bench.save({
      webhooks: [webhook("w-9", { ...old, rawBody: Buffer.from(JSON.stringify(waiting)) })],
    });
    await payments.pauseHandler("printer", { reason: "no paper", by: "Said" });

    expect(await ids(payments)).toEqual([
      "paid_other_amount:c-6",
      "paid_twice:c-1",
      "mismatched:c-2",
      "paid_late:c-3",
      "unmatched:c-9",
      "reported:c-7",
      "inadmissible:…",
      "handler_paused:printer",
      "creation_uncertain:c-4",
      "overdue:c-5",
    ]);
    const [, , mismatched] = await listed(payments);
    expect(mismatched).toMatchObject({
      rule: "mismatched",
      subject: "c-2",
      clientId: "c-2",
      reference: "order-c-2",
      total: { value: "1475", currency: "KMF" },
      why: "A signed webhook differs from the payment: total.value: expected 1475, got 1470. Nothing was applied.",
      next: expect.stringContaining(`tillkit resolve accept --receipt-id ${receiptId}`),
      version: 0,
      changes: [],
    });
    const unmatched = (await listed(payments, { rule: "unmatched" }))[0]!;
    expect(unmatched).toMatchObject({ total: { value: "1475", currency: "KMF" }, since: old.receivedAt });
    expect(unmatched.next).toContain(
      "adopt c-9 --reference <order> --amount 1475 --currency KMF --by <name>",
    );
    expect(unmatched.ageMs).toBeGreaterThan(0);
    expect((await payments.health()).attention).toEqual({
      paid_other_amount: 1,
      paid_twice: 1,
      mismatched: 1,
      paid_late: 1,
      unmatched: 1,
      reported: 1,
      inadmissible: 1,
      handler_paused: 1,
      creation_uncertain: 1,
      overdue: 1,
    });

    const why = { reason: "looked", by: "Amina" };
    await payments.resolve({ action: "refunded", clientId: "c-6", ...why });
    await payments.resolve({ action: "refunded", clientId: "c-1", ...why });
    await payments.resolve({ action: "dismiss", receiptId, ...why });
    await payments.resolve({ action: "dismiss", clientId: "c-3", ...why });
    await payments.adopt({ clientId: "c-9", reference: "o-9", total: { value: "1475", currency: "KMF" } });
    await payments.resumeHandler("printer", { by: "Said" });
    await send({ clientId: "c-5", id: "s-c-5" });
    await send({ clientId: "c-4", id: "s-c-4" });
    // The last two were paid late, which is another fact.
    expect(await ids(payments)).toEqual(["paid_late:c-4", "paid_late:c-5", "reported:c-7", "inadmissible:…"]);
  });

  it("has one entry for all webhooks of a payment that differ, with every difference and their number, on pages of any size", async () => {
    const payments = bench.shop();
    await bench.seed(own("c-1"), own("c-2"));
    const differ = (name: string, minute: number, over: object) =>
      webhook(name, {
        outcome: "mismatch",
        clientId: "c-1",
        status: "completed",
        receivedAt: `2026-11-20T10:0${minute}:00.000Z`,
        reason: "total.value: expected 1475, got 1470",
        ...over,
      });
    const webhooks = [
      differ("m-1", 1, { status: "submitted" }),
      differ("other", 2, { clientId: "c-2" }),
      differ("m-2", 3, { rawBody: Buffer.from(JSON.stringify(completedBody({ id: "s-c-1" }))) }),
      differ("m-3", 4, { status: "submitted", reason: "id: expected s-c-1, got s-9" }),
    ];
    await bench.save({ webhooks, copies: [{ eventKey: "m-1", count: 2 }] });
    for (const limit of [1, 2, 3, 10]) {
      const found: AttentionEntry[] = [];
      let cursor: string | undefined;
      do {
        const page = await payments.attention({ rule: "mismatched", limit, cursor });
        found.push(...page.entries);
        cursor = page.cursor;
      } while (cursor !== undefined);
      expect(found.map(({ id }) => id)).toEqual(["mismatched:c-1", "mismatched:c-2"]);
      expect(found[0]).toMatchObject({
        since: "2026-11-20T10:01:00.000Z",
        repeats: 5,
        why: "A signed webhook differs from the payment: total.value: expected 1475, got 1470; id: expected s-c-1, got s-9. Nothing was applied.",
        // Only one that says that it is paid can be accepted.
        next: expect.stringContaining("tillkit resolve accept --receipt-id receipt-of-m-2"),
      });
    }
    expect((await payments.history("c-1")).attention).toMatchObject([{ id: "mismatched:c-1", repeats: 5 }]);

    // A decision about one is a decision about all that say the same of the same transfer.
    const second = completedBody({ id: "s-c-1", providerId: "MVK-2" });
    await bench.save({
      webhooks: [differ("m-4", 5, { rawBody: Buffer.from(JSON.stringify(second)) })],
    });
    const why = { by: "Amina", reason: "a franc less" };
    await payments.resolve({ action: "accept", receiptId: "receipt-of-m-2", ...why });
    const left = (await listed(payments, { rule: "mismatched" })).filter(
      ({ clientId }) => clientId === "c-1",
    );
    expect(left).toMatchObject([
      { id: "mismatched:c-1", why: expect.stringContaining("id: expected s-c-1"), repeats: 2 },
    ]);
    expect((await payments.history("c-1")).entries).toContainEqual(
      expect.objectContaining({ action: "dismissed", receiptId: "receipt-of-m-1" }),
    );
    expect((await payments.history("c-1")).entries).not.toContainEqual(
      expect.objectContaining({ action: "dismissed", receiptId: "receipt-of-m-4" }),
    );
  });

  it("has one entry for the webhooks of a payment also beside more than 1,000 of another", async () => {
    const payments = bench.shop();
    await payments.start();
    const of = (clientId: string, count: number) =>
      Array.from({ length: count }, (_, index) =>
        webhook(`${clientId}-${String(index).padStart(4, "0")}`, { clientId, outcome: "mismatch" }),
      );
    await bench.save({ webhooks: [...of("a", 1001), ...of("b", 2)] });
    const found: string[] = [];
    for (let cursor: string | undefined, isFirst = true; isFirst || cursor; isFirst = false) {
      const page = await payments.attention({ rule: "mismatched", limit: 200, cursor });
      found.push(...page.entries.map(({ id, repeats }) => `${id} ${repeats}`));
      cursor = page.cursor;
    }
    expect(found).toEqual(["mismatched:a 1000", "mismatched:b 2"]);
  });

  it("has each dead dispatch once, with its payment and what failed, until it is run again", async () => {
    const payments = bench.shop({ dispatch: { maxFailures: 1, pollMs: 10 } });
    let works = false;
    payments.onPaymentCompleted(
      () => {
        if (!works) throw new Error("no paper");
      },
      { name: "printer" },
    );
    await bench.seed(pendingPayment());
    const died = new Promise((resolve) => payments.on("dispatch.dead", resolve));
    await payments.start();
    await payments.receiveWebhook(signed(completedBody()));
    await died;
    const [entry] = await listed(payments);
    expect(entry).toMatchObject({
      rule: "dead_dispatch",
      clientId: "c-1",
      why: expect.stringContaining(
        "All attempts of the handler printer for payment.completed have failed: Error: no paper",
      ),
      next: expect.stringMatching(
        /tillkit handlers retry printer --event-id [\da-f-]{36} --by <name> --reason <why> --apply/,
      ),
    });
    works = true;
    await payments.replayDispatches({ dryRun: false });
    expect(await listed(payments)).toEqual([]);
  });

  it("is read in pages, each entry once, also while entries are added and closed", async () => {
    const payments = bench.shop();
    await bench.seed(
      ...["d", "b", "c", "a", "e"].map((id) => own(id, { ...paid, attention: "paid_late" })),
      own("f", { overdueAt: "2026-11-20T11:00:00.000Z" }),
      own("g", { ...paid, attention: "paid_twice" }),
    );
    const seen: string[] = [];
    for (let cursor: string | undefined; ;) {
      const page = await payments.attention({ rule: stored, limit: 2, cursor });
      seen.push(...page.entries.map(({ subject }) => subject));
      if (seen.length === 2) {
        await payments.resolve({ action: "dismiss", clientId: "b", reason: "looked", by: "Amina" });
        await bench.seed(
          own("h", { ...paid, attention: "paid_twice" }),
          own("z", { ...paid, attention: "paid_late" }),
        );
      }
      cursor = page.cursor;
      if (cursor === undefined) break;
    }
    expect(seen).toEqual(["g", "a", "c", "d", "e", "z", "f"]);
  });
});

describe("a query of what needs a person", () => {
  const bench = shopBench("sqlite");
  it.each([
    [{ rule: "late" }, `rule must be one of ${attentionRules.join(", ")}`],
    [{ limit: 0 }, "limit must be a whole number from 1 to 200"],
    [{ cursor: "x" }, "cursor must be the one"],
    [{ snoozed: "yes" }, "snoozed and settled must be true or false"],
    [{ assigned: 1 }, "assigned must be a name, or null"],
    [{ rules: [] }, "rules"],
  ])("refuses %j", async (query, message) => {
    const payments = bench.shop();
    await expect(payments.attention(query as AttentionQuery)).rejects.toMatchObject({
      code: "query_invalid",
      message: expect.stringContaining(message),
    });
  });

  it("ends its page after 400 entries that it does not select, with the cursor of the next ones", async () => {
    const payments = bench.shop();
    const late = (_: unknown, index: number) => own(`p-${index}`, { ...paid, attention: "paid_late" });
    await bench.seed(...Array.from({ length: 401 }, late));
    const query = { rule: "paid_late", assigned: "Amina", limit: 200 } as const;
    const { entries, cursor } = await payments.attention(query);
    expect([entries, cursor]).toEqual([[], expect.any(String)]);
    expect(await payments.attention({ ...query, cursor })).toEqual({ entries: [] });
  });

  it("refuses a cursor of a rule that is not asked for", async () => {
    const payments = bench.shop();
    await bench.seed(own("a", { ...paid, attention: "paid_twice" }));
    const { cursor } = await payments.attention({ limit: 1 });
    await expect(payments.attention({ rule: ["paid_late", "overdue"], cursor })).rejects.toMatchObject({
      code: "query_invalid",
      message: expect.stringContaining("cursor came with a page of other rules"),
    });
  });

  it("lists why this process is not well, which is in no store", async () => {
    await bench.place.store.registerHandlers([{ event: "payment.completed", name: "books" }]);
    await bench.save({ events: [event("e-1")] });
    const { entries } = await bench.shop({ dispatch: false }).attention({ rule: "health" });
    expect(entries.map(({ id }) => id)).toContain("health:events_late");
    expect(entries[0]!.next).toMatch(/^docs\/operations\.md explains \w+\.$/);
  });
});

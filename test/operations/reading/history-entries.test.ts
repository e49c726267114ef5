import { MemoryStore, type Payment } from "tillkit";
import { attentionNotes } from "../../../src/model/attention.js";
import { paymentHistory } from "../../../src/operations/reading/payment-history.js";
import { event, webhook } from "../../../src/store/exam/checks/fixtures.js";
import { saved } from "../../../src/store/exam/checks/steps.js";
import { closeAll, testKit } from "../../support/kit.js";
import { completedBody, pendingPayment, signed } from "../../support/webhooks.js";

afterEach(closeAll);

const at = "2026-11-20T10:00:00.000Z";
const clientId = "c-1";
/** What is about the payment `c-1`, at the same time unless given. */
const about = { clientId, receivedAt: at };
const payment = (over: Partial<Payment> = {}) => pendingPayment({ createdAt: at, updatedAt: at, ...over });
const textsOf = ({ entries }: { entries: readonly { text: string }[] }) => entries.map(({ text }) => text);

describe("the entries of a history", () => {
  it("that have the same time are in the order in which one leads to the next", async () => {
    const store = new MemoryStore();
    const reported = { status: "completed", providerId: "MVK-778", at, verified: [] };
    await store.registerHandlers([{ event: "*", name: "books" }]);
    const evidence = {
      kind: "letter",
      document: "a letter",
      total: { value: "1475", currency: "KMF" },
    } as const;
    const resolution = {
      clientId,
      action: "accepted",
      evidence,
      reason: "it was paid",
      by: "Amina",
      at,
    } as const;
    await saved(store, {
      created: [payment({ successReturnedAt: at, reported })],
      resolutions: [{ id: "accepted:c-1", ...resolution }],
      events: [event("e-1", { clientId, recordedAt: at })],
      webhooks: [
        webhook("k-1", { ...about, status: "completed", reason: "by a test" }),
        webhook("k-2", { ...about, kind: "lookup" }),
      ],
    });
    const { entries } = await paymentHistory(store, clientId);
    const [first, second] = ["receipt-of-k-1", "receipt-of-k-2"];
    const heard = "the service said last: completed, providerId MVK-778 (not verified)";
    const run = { eventId: "e-1", type: "payment.completed", handler: "books" };
    expect(entries).toEqual([
      { at, kind: "created", text: "created: 1475 KMF for order-1" },
      { at, kind: "return", to: "success", text: "the browser came back to success" },
      { at, kind: "lookup", receiptId: second, copies: 0, text: "lookup: no status" },
      { at, kind: "webhook", receiptId: first, status: "completed", copies: 0, text: "webhook: completed" },
      { at, kind: "reported", reported, text: heard },
      {
        at,
        kind: "decision",
        receiptId: first,
        outcome: "applied",
        reason: "by a test",
        text: "decided: applied (by a test)",
      },
      { at, kind: "decision", receiptId: second, outcome: "applied", text: "decided: applied" },
      {
        at,
        kind: "resolution",
        id: "accepted:c-1",
        action: "accepted",
        evidence,
        reason: "it was paid",
        by: "Amina",
        text: "accepted by Amina, letter, a letter: it was paid",
      },
      { at, kind: "event", eventId: "e-1", type: run.type, text: "event: payment.completed" },
      {
        at,
        kind: "dispatch",
        ...run,
        state: "pending",
        attempt: 0,
        failures: 0,
        text: "dispatch of payment.completed to books: waits, due now",
      },
    ]);
    expect(entries[2]).not.toHaveProperty("status");
    expect(entries[6]).not.toHaveProperty("reason");
  });

  it("place a dispatch that has not ended at its own event, among several", async () => {
    const store = new MemoryStore();
    await store.registerHandlers([{ event: "*", name: "books" }]);
    const times = ["2026-11-20T10:00:01.000Z", "2026-11-20T10:00:02.000Z"];
    await saved(store, {
      events: times.map((recordedAt, n) => event(`e-${n}`, { clientId, recordedAt })),
    });
    const { entries } = await paymentHistory(store, clientId);
    expect(entries.map(({ kind, at: time }) => [kind, time])).toEqual([
      ["event", times[0]],
      ["dispatch", times[0]],
      ["event", times[1]],
      ["dispatch", times[1]],
    ]);
  });

  it("of a payment that nothing is known about yet are its creation alone", async () => {
    const store = new MemoryStore();
    await saved(store, { created: [payment()] });
    const { entries } = await paymentHistory(store, clientId);
    expect(entries).toEqual([{ at, kind: "created", text: "created: 1475 KMF for order-1" }]);
  });

  it("tell how a creation ended, by which payment it was replaced, and that the buyer went back", async () => {
    const store = new MemoryStore();
    const cancelReturnedAt = "2026-11-20T10:05:00.000Z";
    const failure = "creation_rejected";
    await saved(store, {
      created: [payment({ state: "failed", open: false, failure, replacedBy: "c-2", cancelReturnedAt })],
    });
    const history = await paymentHistory(store, clientId);
    expect(textsOf(history)).toEqual([
      "created: 1475 KMF for order-1; the creation ended with creation_rejected; replaced by c-2",
      "the browser came back to cancel",
    ]);
    expect(history.entries[1]).toMatchObject({ kind: "return", to: "cancel", at: cancelReturnedAt });
  });

  it("do not show the error of a run that another run made good", async () => {
    const store = new MemoryStore();
    await saved(store, { created: [payment()] });
    const payments = testKit({
      store,
      now: () => new Date(at),
      dispatch: { firstDelayMs: 1, maxDelayMs: 1, pollMs: 5 },
    });
    const handled = new Promise<void>((resolve) =>
      payments.onPaymentCompleted(
        (_, { attempt }) => {
          if (attempt === 1) throw new Error("out of paper");
          resolve();
        },
        { name: "books" },
      ),
    );
    await payments.start({ keepAlive: false });
    await payments.receiveWebhook(signed(completedBody()));
    await handled;
    // The kit that ends leaves the store open.
    store.close = async () => {};
    await payments.close();
    expect(textsOf(await paymentHistory(store, clientId))).toContain(
      "dispatch of payment.completed to books: done after 2 runs",
    );
  });

  it("keep what people did about a dead dispatch that runs again since", async () => {
    // The process that ends leaves the store open.
    const store = Object.assign(new MemoryStore(), { close: async () => {} });
    await saved(store, { created: [payment()] });
    const payments = testKit({ store, dispatch: { maxFailures: 1, pollMs: 5 } });
    payments.onPaymentCompleted(() => Promise.reject(new Error("out of paper")), { name: "books" });
    const died = new Promise((resolve) => payments.on("dispatch.dead", resolve));
    await payments.start({ keepAlive: false });
    await payments.receiveWebhook(signed(completedBody()));
    await died;
    await payments.close();
    const people = testKit({ store, dispatch: false });
    const [entry] = (await people.attention({ rule: "dead_dispatch" })).entries;
    await people.attend(entry!.id, { action: "note", by: "Said", reason: "the printer has paper" });
    const noted = "dead_dispatch noted by Said: the printer has paper";
    expect(textsOf(await paymentHistory(store, clientId))).toContain(noted);
    await people.replayDispatches({ dryRun: false });
    const shown = textsOf(await paymentHistory(store, clientId));
    expect(shown).toContain(noted);
    expect(shown).toContainEqual(expect.stringContaining("to books: waits"));
  });

  it("say of each handler whether its dispatch waits for a person", async () => {
    const store = new MemoryStore();
    const names = ["books", "mail"];
    await store.registerHandlers(names.map((name) => ({ event: "*", name })));
    const value = { paused: { by: "Said", reason: "no paper", at } };
    await saved(store, {
      events: [event("e-1", { clientId })],
      notes: [{ kind: "handler", id: "books", version: 0, value }],
    });
    expect(textsOf(await paymentHistory(store, clientId)).toSorted()).toEqual([
      "dispatch of payment.completed to books: waits until the handler is resumed",
      "dispatch of payment.completed to mail: waits, due now",
      "event: payment.completed",
    ]);
  });

  it("about people are on the first page alone", async () => {
    const store = new MemoryStore();
    const value = { changes: [{ did: "noted", by: "Said", reason: "called", at }] };
    await saved(store, {
      created: [payment()],
      events: [event("e-1", { clientId }), event("e-2", { clientId })],
      notes: [{ kind: attentionNotes, id: "overdue:c-1", version: 0, value }],
    });
    const first = await paymentHistory(store, clientId, { limit: 1 });
    expect(textsOf(first)).toContain("overdue noted by Said: called");
    const second = await paymentHistory(store, clientId, { limit: 1, cursor: first.cursor });
    expect(textsOf(second)).toEqual(["event: payment.completed"]);
  });
});

describe("the other payments in a history", () => {
  const created = ["c-3", "c-1", "c-2"].map((id, n) =>
    payment({ clientId: id, serviceId: id, open: n === 0, createdAt: `2026-11-20T10:0${n}:00.000Z` }),
  );

  it("are listed oldest first", async () => {
    const store = new MemoryStore();
    await saved(store, { created });
    const { others } = await paymentHistory(store, clientId);
    expect(others.map((other) => other.clientId)).toEqual(["c-3", "c-2"]);
  });

  it("are the oldest 101 where there are more", async () => {
    const store = new MemoryStore();
    const ids = Array.from({ length: 102 }, (_, n) => `d-${n + 100}`);
    await saved(store, {
      created: [
        ...ids.map((id) => payment({ clientId: id, serviceId: id, open: false })),
        payment({ createdAt: "2026-11-20T10:01:00.000Z" }),
      ],
    });
    const { others } = await paymentHistory(store, clientId);
    expect(others.map((other) => other.clientId)).toEqual(ids.slice(0, 101));
  });
});

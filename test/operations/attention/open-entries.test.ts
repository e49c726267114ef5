import { MemoryStore } from "tillkit";
import { openEntries } from "../../../src/operations/attention/open-entries.js";
import { type HistoryEntry } from "../../../src/operations/reading/payment-history.js";
import { closeAll, testKit } from "../../support/kit.js";
import { completedBody, pendingPayment, signed } from "../../support/webhooks.js";

afterEach(closeAll);

it("a history lists a dead dispatch beside many webhooks of one entry", async () => {
  const store = new MemoryStore();
  const payments = testKit({ store, dispatch: { maxFailures: 1, pollMs: 5 } });
  await store.transaction((tx) => store.save(tx, { created: [pendingPayment()] }));
  payments.onPaymentCompleted(() => Promise.reject(new Error("out of paper")), { name: "books" });
  const died = new Promise((resolve) => payments.on("dispatch.dead", resolve));
  await payments.start({ keepAlive: false });
  await payments.receiveWebhook(signed(completedBody()));
  await died;
  for (let number = 0; number < 25; number++)
    await payments.receiveWebhook(
      signed(
        completedBody({
          total: { value: "5", currency: "KMF" },
          submittedAt: new Date(Date.UTC(2026, 10, 1) + number).toISOString(),
        }),
      ),
    );
  const { attention } = await payments.history("c-1");
  expect(attention.map(({ rule }) => rule)).toEqual(["mismatched", "dead_dispatch"]);
});

it("a history lists no entry that is too young to be one", async () => {
  let at = Date.parse("2026-11-20T12:00:00.000Z");
  const store = new MemoryStore();
  const payments = testKit({ store, now: () => new Date(at), unmatchedAfterMs: 60_000 });
  const createdAt = new Date(at).toISOString();
  const uncertain = pendingPayment({ clientId: "c-2", state: "uncertain", open: false, createdAt });
  await store.transaction((tx) => store.save(tx, { created: [uncertain] }));
  await payments.receiveWebhook(signed(completedBody({ clientId: "c-9", id: "s-9" })));
  const ids = async () =>
    (await Promise.all(["c-2", "c-9"].map((clientId) => payments.history(clientId)))).flatMap(
      ({ attention }) => attention.map(({ id }) => id),
    );
  expect(await ids()).toEqual([]);
  at += 3_600_001;
  expect(await ids()).toEqual(["creation_uncertain:c-2", "unmatched:c-9"]);
});

it("a history looks for the entries of the newest twenty dead dispatches", async () => {
  const store = new MemoryStore();
  const asked: (string | undefined)[] = [];
  store.dead = async ({ eventId }) => {
    asked.push(eventId);
    return [];
  };
  const entries = Array.from({ length: 21 }, (_, n): HistoryEntry => {
    const type = "payment.completed";
    const dispatch = {
      eventId: `e-${n}`,
      handler: "books",
      type,
      state: "dead",
      attempt: 1,
      failures: 1,
    } as const;
    return { at: `2026-11-20T12:00:${n + 10}.000Z`, text: "", kind: "dispatch", ...dispatch };
  });
  const parts = { store, now: () => new Date(), unmatchedAfterMs: 0, reasons: async () => [] };
  expect(await openEntries(parts, { clientId: "c-1", entries })).toEqual([]);
  expect(asked).toEqual(Array.from({ length: 20 }, (_, n) => `e-${n + 1}`));
});

import { MemoryStore } from "tillkit";
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

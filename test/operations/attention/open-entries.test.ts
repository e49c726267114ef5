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

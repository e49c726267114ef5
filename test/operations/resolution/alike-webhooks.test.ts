import { MemoryStore } from "tillkit";
import { closeAll, testKit } from "../../support/kit.js";
import { completedBody, pendingPayment, signed } from "../../support/webhooks.js";

afterEach(closeAll);

it("a decision settles further webhooks where earlier ones are settled already", async () => {
  const store = new MemoryStore();
  let time = Date.now();
  const payments = testKit({ store, now: () => new Date(time++) });
  await store.transaction((tx) => store.save(tx, { created: [pendingPayment()] }));
  const receiptIds: string[] = [];
  for (let number = 0; number < 410; number++) {
    const body = completedBody({
      total: { value: "5", currency: "KMF" },
      submittedAt: new Date(Date.UTC(2026, 10, 1) + number).toISOString(),
    });
    receiptIds.push((await payments.receiveWebhook(signed(body))).receiptId);
  }
  const open = async () => (await store.webhooks({ need: "mismatched", limit: 1000 })).length;
  const dismiss = (receiptId: string | undefined) =>
    payments.resolve({ action: "dismiss", receiptId, by: "Amina", reason: "a test of the service" });
  await dismiss(receiptIds[0]);
  expect(await open()).toBe(209);
  await dismiss(receiptIds[409]);
  expect(await open()).toBe(8);
  await dismiss(receiptIds[408]);
  expect(await open()).toBe(0);
});

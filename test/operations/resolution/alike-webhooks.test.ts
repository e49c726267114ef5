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

it("a decision leaves a webhook open that shows another transfer, although it differs in the same way", async () => {
  const store = new MemoryStore();
  const payments = testKit({ store });
  await store.transaction((tx) => store.save(tx, { created: [pendingPayment()] }));
  const receive = (providerId: string, second: number) => {
    const submittedAt = new Date(Date.UTC(2026, 10, 1, 0, 0, second)).toISOString();
    const total = { value: "5", currency: "KMF" };
    return payments.receiveWebhook(signed(completedBody({ total, providerId, submittedAt })));
  };
  const { receiptId } = await receive("MVK-1", 1);
  await receive("MVK-1", 2);
  const other = await receive("MVK-2", 3);
  const open = async () => store.webhooks({ need: "mismatched", limit: 10 });
  expect(new Set((await open()).map(({ reason }) => reason)).size).toBe(1);
  await payments.resolve({ action: "dismiss", receiptId, by: "Amina", reason: "a test of the service" });
  expect(await open()).toMatchObject([{ receiptId: other.receiptId }]);
});

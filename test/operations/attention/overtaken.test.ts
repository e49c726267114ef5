import { MemoryStore } from "tillkit";
import { closeAll, testKit } from "../../support/kit.js";
import { pendingPayment } from "../../support/webhooks.js";

afterEach(closeAll);

it("a settlement of a payment that changes meanwhile blames no person, and gives the present version", async () => {
  const store = new MemoryStore();
  const payments = testKit({ store });
  const paid = { state: "completed", status: "completed", open: false } as const;
  const late = pendingPayment({ ...paid, attention: "paid_late" });
  await store.transaction((tx) => store.save(tx, { created: [late] }));
  await payments.attend("paid_late:c-1", { action: "assign", by: "Said" });
  const transaction = store.transaction.bind(store);
  store.transaction = async (run) => {
    store.transaction = transaction;
    await transaction((tx) => store.save(tx, { updated: [{ ...late, attention: "paid_twice" }] }));
    return transaction(run);
  };
  const settle = { action: "settle", by: "Amina", reason: "delivered" } as const;
  await expect(payments.attend("paid_late:c-1", settle)).rejects.toMatchObject({
    code: "store_conflict",
    message: "Nothing was done, because the entry has just changed.",
    fix: expect.stringContaining("which is now 1."),
  });
});

it("a settlement of an overdue payment that has ended meanwhile is refused", async () => {
  const store = new MemoryStore();
  const overdue = pendingPayment({ overdueAt: "2026-11-20T11:00:00.000Z" });
  await store.transaction((tx) => store.save(tx, { created: [overdue] }));
  const transaction = store.transaction.bind(store);
  store.transaction = async (run) => {
    store.transaction = transaction;
    await transaction((tx) => store.save(tx, { updated: [{ ...overdue, state: "canceled", open: false }] }));
    return transaction(run);
  };
  const settle = { action: "settle", by: "Amina", reason: "the customer does not pay" } as const;
  await expect(testKit({ store }).attend("overdue:c-1", settle)).rejects.toMatchObject({
    code: "store_conflict",
  });
  expect(await store.find("c-1")).not.toHaveProperty("attention");
});

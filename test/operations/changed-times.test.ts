import { MemoryStore, type Payment, type Payments } from "tillkit";
import { webhook } from "../../src/store/exam/checks/fixtures.js";
import { saved } from "../../src/store/exam/checks/steps.js";
import { closeAll, testKit } from "../support/kit.js";
import { completedBody, pendingPayment } from "../support/webhooks.js";

afterEach(closeAll);

const at = "2026-11-25T10:00:00.000Z";
const why = { by: "Amina", reason: "known" };
const paid = { state: "completed", status: "completed", open: false } as const;
const second = { clientId: "c-2", serviceId: "s-2" };
const about = { clientId: "c-1", ...why };

/** Returns a shop over a store with these records, whose clock stands still. */
async function shopWith(changes: Parameters<typeof saved>[1]) {
  const store = new MemoryStore();
  await saved(store, changes);
  return { store, payments: testKit({ store, now: () => new Date(at) }) };
}

describe("the time of the last change of a payment", () => {
  it.each<[string, Payment[], (payments: Payments) => Promise<unknown>]>([
    ["a sweep that raises it as overdue", [pendingPayment()], (payments) => payments.sweep()],
    [
      "a person who settles its entry",
      [pendingPayment({ overdueAt: "2026-11-20T10:00:00.000Z" })],
      (payments) => payments.attend("overdue:c-1", { action: "settle", ...why }),
    ],
    [
      "a person who settles its second payment",
      [pendingPayment({ ...paid, attention: "paid_twice" })],
      (payments) => payments.attend("paid_twice:c-1", { action: "settle", ...why }),
    ],
    [
      "a person who dismisses it",
      [pendingPayment({ ...paid, attention: "paid_late" })],
      (payments) => payments.resolve({ action: "dismiss", ...about }),
    ],
    [
      "a person who accepts it, or another payment of its order",
      [pendingPayment({ ...paid, withheld: "unsettled" }), pendingPayment(second)],
      (payments) => payments.resolve({ action: "accept", ...about }),
    ],
    [
      "a refund of it, or of another payment of its order",
      [pendingPayment(paid), pendingPayment({ ...paid, ...second, attention: "paid_twice" })],
      (payments) => payments.resolve({ action: "refunded", ...about }),
    ],
  ])("is set by %s", async (_, created, act) => {
    const { store, payments } = await shopWith({ created });
    await act(payments);
    const after = await store.findMany({ clientIds: created.map(({ clientId }) => clientId) });
    expect(after.map(({ updatedAt }) => updatedAt)).toEqual(created.map(() => at));
    for (const before of created) expect(after).not.toContainEqual({ ...before, updatedAt: at });
  });
});

it("a webhook that a person accepts was decided at the time of the acceptance", async () => {
  const rawBody = Buffer.from(JSON.stringify(completedBody()));
  const waiting = webhook("u", { outcome: "unconfirmed", clientId: "c-1", rawBody });
  const { store, payments } = await shopWith({ created: [pendingPayment()], webhooks: [waiting] });
  await payments.resolve({ action: "accept", receiptId: waiting.receiptId, ...why });
  expect((await store.history("c-1")).webhooks).toMatchObject([{ outcome: "applied", decidedAt: at }]);
});

import { fc } from "../../support/property.js";
import request from "supertest";
import { MemoryStore, type MemoryTx } from "tillkit";
import { onEachDatabase, openPlace } from "../processes/databases.js";
import { until } from "../processes/members.js";
import { appOf, closeAll, testKit } from "../../support/kit.js";
import { pendingPayment, signed, statusBody } from "../../support/webhooks.js";
import { completionOf, openShop, seedPayments } from "./shop.js";

afterEach(closeAll);

onEachDatabase("copies", (kind) => {
  it("1,000 copies at the same time: one row, one effect, and the answer 200 for each", async () => {
    const place = await openPlace(kind);
    await seedPayments(place, 1);
    const shop = await openShop(place, { webhook: { recordTimeoutMs: 20_000 }, spool: false });
    const statuses = await Promise.all(Array.from({ length: 1000 }, () => shop.post(completionOf(0))));
    expect(statuses).toEqual(Array(1000).fill(200));
    await until(async () => (await place.ledger()).length > 0, "an effect");
    expect((await shop.payments.store.claim({ handlers: books, limit: 9, leaseMs: 1000 })).length).toBe(0);
    await closeAll();
    expect(await place.ledger()).toHaveLength(1);
    expect(await place.select("select receipt_id from @webhooks")).toHaveLength(1);
    await place.remove();
  });
});

const books = [{ event: "payment.completed", name: "books" }] as const;

/** Sends these statuses one by one through the real route. Resolves with the final payment and its fulfilments. */
async function stateAfter(statuses: readonly string[]) {
  const store = new MemoryStore();
  await store.transaction((tx) => store.save(tx, { created: [pendingPayment()] }));
  const payments = testKit<never, MemoryTx>({ store, dispatch: { pollMs: 5 } });
  const fulfilled: string[] = [];
  const completed = new Promise<void>((resolve) => {
    payments.onPaymentCompleted(({ payment }) => {
      fulfilled.push(payment.clientId);
      resolve();
    });
  });
  await payments.start({ keepAlive: false });
  const app = appOf(payments);
  for (const status of statuses) {
    const { headers, rawBody } = signed(statusBody(status));
    const response = await request(app).post("/payments/webhook").set(headers).send(rawBody.toString());
    expect(response.status).toBe(200);
  }
  if (statuses.includes("completed")) await completed;
  const { state, status, open } = (await payments.find("c-1"))!;
  await payments.close();
  return { state, status, open, fulfilled };
}

it("any order of any statuses, with duplicates: one final state, and one fulfilment", async () => {
  const status = fc.constantFrom(
    "init",
    "pending",
    "submitted",
    "approved",
    "captured",
    "failed",
    "canceled",
    "completed",
    "on_hold",
  );
  const twoOrders = fc
    .array(status, { minLength: 1, maxLength: 7 })
    .chain((list) =>
      fc.tuple(fc.shuffledSubarray([...list, ...list], { minLength: list.length * 2 }), fc.constant(list)),
    );
  await fc.assert(
    fc.asyncProperty(twoOrders, async ([shuffledWithCopies, list]) => {
      expect(await stateAfter(shuffledWithCopies)).toEqual(await stateAfter(list));
    }),
    { numRuns: 25 },
  );
});

import { MemoryStore, type Payment } from "tillkit";
import { findPayment } from "../../../src/operations/reading/find-payment.js";
import { saved } from "../../../src/store/exam/checks/steps.js";
import { pendingPayment } from "../../support/webhooks.js";

async function storeWith(...created: Payment[]): Promise<MemoryStore> {
  const store = new MemoryStore();
  await saved(store, { created });
  return store;
}

describe("a search for one payment", () => {
  const at = "2026-11-20T10:00:00.000Z";
  const reported = { status: "completed", providerId: "MVK-778", at, verified: [] };
  const first = pendingPayment();
  const second = pendingPayment({ clientId: "c-2", reference: "2", serviceId: "s-2", reported });

  it("takes a key whose other id is undefined", async () => {
    const store = await storeWith(first, second);
    const { serviceId } = first;
    expect(await findPayment(store, { serviceId, providerId: undefined } as never)).toEqual(first);
    expect(await findPayment(store, { serviceId: undefined, providerId: "MVK-778" })).toEqual(second);
    expect(await findPayment(store, "c-2")).toEqual(second);
  });

  it("takes the payment with the service id from a store that returns others too", async () => {
    const store = await storeWith(first, second);
    store.findMany = async () => [first, second];
    expect(await findPayment(store, { serviceId: "s-2" })).toEqual(second);
    expect(await findPayment(store, { serviceId: "s-3" })).toBeUndefined();
  });
});

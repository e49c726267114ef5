import { MemoryStore } from "tillkit";
import { closeAll, testKit } from "../../support/kit.js";
import { pendingPayment, signed, statusBody } from "../../support/webhooks.js";

afterEach(closeAll);

describe("webhooks that arrive before their payment", () => {
  it("are each decided once, also where several are about one payment", async () => {
    const store = new MemoryStore();
    let now = new Date("2026-11-20T10:00:00.000Z");
    const payments = testKit({ store, now: () => now, dispatch: false });
    await payments.start({ keepAlive: false });
    const bodies = [statusBody("failed"), statusBody("completed")];
    for (const body of bodies) await payments.receiveWebhook(signed(body));
    // The process that created it ended before it matched webhooks that had arrived.
    await store.transaction((tx) => store.save(tx, { created: [pendingPayment()] }));
    now = new Date("2026-11-21T10:00:00.000Z");
    await payments.sweep();

    const { webhooks } = await store.history("c-1");
    expect(webhooks.map(({ status, outcome }) => ({ status, outcome }))).toEqual([
      { status: "failed", outcome: "applied" },
      { status: "completed", outcome: "applied" },
    ]);
  });

  it("are mismatches where their service id belongs to another payment", async () => {
    const store = new MemoryStore();
    let now = new Date("2026-11-20T10:00:00.000Z");
    const payments = testKit({ store, now: () => now, dispatch: false });
    await payments.receiveWebhook(signed(statusBody("completed")));
    const { serviceId: _, ...unbound } = pendingPayment();
    const holder = pendingPayment({ clientId: "c-2", reference: "order-2" });
    await store.transaction((tx) => store.save(tx, { created: [unbound, holder] }));
    now = new Date("2026-11-20T10:10:00.000Z");
    await payments.sweep();
    expect((await store.history("c-1")).webhooks).toMatchObject([{ outcome: "mismatch" }]);
    expect(await store.find("c-1")).toMatchObject({ state: "pending" });
  });
});

import { MemoryStore, type MemoryTx } from "tillkit";
import { event } from "../../src/store/exam/checks/fixtures.js";
import { saved } from "../../src/store/exam/checks/steps.js";
import { closeAll, testKit } from "../support/kit.js";
import { completedBody, pendingPayment, signed, statusBody } from "../support/webhooks.js";

afterEach(closeAll);

describe("pruning", () => {
  it("deletes final records, and still recognises their copies as duplicates", async () => {
    const store = new MemoryStore();
    await store.transaction((tx) => store.save(tx, { created: [pendingPayment()] }));
    const payments = testKit<never, MemoryTx>({ store, now: () => new Date("2026-11-20T10:00:00.000Z") });
    const handled = new Promise<void>((resolve) => payments.onAny(() => setImmediate(resolve)));
    await payments.start({ keepAlive: false });
    await payments.receiveWebhook(signed(completedBody()));
    await payments.receiveWebhook(signed(statusBody("completed", { clientId: "stranger", id: "s-2" })));
    await handled;

    expect(await payments.prune({ before: new Date("2026-11-20T10:00:00.000Z") })).toMatchObject({
      webhooks: 0,
    });
    // The unmatched webhook is parked: it may still find its payment.
    expect(await payments.prune({ before: new Date("2026-11-21T00:00:00.000Z") })).toMatchObject({
      webhooks: 1,
    });
    expect((await payments.receiveWebhook(signed(completedBody()))).outcome).toBe("duplicate");
    expect(await payments.find("c-1")).toMatchObject({ state: "completed" });
    const [parked] = await store.transaction((tx) => store.rematchable(tx, ["stranger"]));
    expect(parked?.rawBody.length).toBeGreaterThan(0);
  });

  it("goes on until nothing is left, also where only webhooks are left", async () => {
    const store = new MemoryStore();
    const receivedAt = "2026-11-20T10:00:00.000Z";
    const webhooks = Array.from({ length: 501 }, (_, index) => {
      const id = `w-${index}`;
      const rawBody = Buffer.from("{}");
      return { receiptId: id, eventKey: id, outcome: "stale", rawBody, covers: "body", receivedAt } as const;
    });
    await store.transaction((tx) => store.save(tx, { webhooks }));
    const payments = testKit<never, MemoryTx>({ store });
    const pruned = await payments.prune({ before: new Date("2026-11-21T00:00:00.000Z") });
    expect(pruned).toEqual({ webhooks: 501, events: 0 });
  });

  it("goes on in each batch where the store ended, and not from the start", async () => {
    const store = new MemoryStore();
    const after = { webhooks: "w", events: "e" };
    const prune = jest.spyOn(store, "prune");
    prune.mockResolvedValueOnce({ webhooks: 500, events: 500, after });
    const payments = testKit<never, MemoryTx>({ store });
    await payments.prune({ before: new Date("2026-11-21") });
    const batch = { before: "2026-11-21T00:00:00.000Z", limit: 500 };
    expect(prune.mock.calls).toEqual([[batch], [{ ...batch, after }]]);
  });

  it("goes on until nothing is left, also where only events are left", async () => {
    const store = new MemoryStore();
    await saved(store, { events: Array.from({ length: 501 }, (_, n) => event(`e-${n}`)) });
    const payments = testKit<never, MemoryTx>({ store });
    expect(await payments.prune({ before: new Date("2026-11-21") })).toEqual({ webhooks: 0, events: 501 });
  });

  it.each([
    ["before must be a Date.", {}],
    ["before must be a Date.", { before: "2026-11-21" }],
    ["befor", { befor: new Date() }],
  ])("is refused with the name of the wrong condition: %s", async (message, query) => {
    await expect(testKit().prune(query as never)).rejects.toMatchObject({
      code: "query_invalid",
      message: expect.stringContaining(message) as string,
    });
  });
});

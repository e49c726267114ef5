import { setImmediate as nextIteration } from "node:timers/promises";
import { MemoryStore, type Payment } from "tillkit";
import { onEachDatabase, openStore } from "../../promises/processes/databases.js";
import { until } from "../../promises/processes/members.js";
import { closeAll, testKit } from "../../support/kit.js";
import { completedBody, pendingPayment, signed, statusBody } from "../../support/webhooks.js";
import { shopBench } from "../shop-bench.js";

onEachDatabase("replays", (kind) => {
  const bench = shopBench(kind);
  const { shop, recorded, save } = bench;
  const outcomes = async (clientId: string) =>
    (await bench.place.store.history(clientId)).webhooks.map(({ outcome }) => outcome);

  it("report what would change, and change it only when asked to", async () => {
    const north = shop({ clientIdPrefix: "north-" });
    await north.receiveWebhook(signed(statusBody("submitted")));
    await north.receiveWebhook(signed(completedBody()));
    await north.receiveWebhook(signed(completedBody({ clientId: "c-9", id: "s-9" })));
    // After each commit the kit looks for the payment again; a sweep waits for that.
    await north.sweep();
    await save({ created: [pendingPayment()] });

    const payments = shop();
    const would = await payments.replay();
    expect(would).toMatchObject({ dryRun: true, looked: 3, changed: 3, forgotten: 0 });
    expect(would.changes).toMatchObject([
      { clientId: "c-1", from: "foreign", to: "applied" },
      { clientId: "c-1", from: "foreign", to: "applied", state: { from: "pending", to: "completed" } },
      { clientId: "c-9", from: "foreign", to: "unmatched" },
    ]);
    expect(await recorded()).toEqual([]);
    expect(await payments.find("c-1")).toMatchObject({ state: "pending" });

    const did = await payments.replay({ dryRun: false });
    expect(did).toEqual({ ...would, dryRun: false });
    expect(await recorded()).toEqual(["payment.updated", "payment.completed"]);
    expect(await payments.find("c-1")).toMatchObject({ state: "completed" });
    expect(await outcomes("c-1")).toEqual(["applied", "applied"]);
    expect(await bench.place.store.counts()).toMatchObject({ parked: 1 });

    expect(await payments.replay({ dryRun: false })).toMatchObject({ looked: 3, changed: 0, changes: [] });
    expect(await recorded()).toHaveLength(2);
  });

  it("carry the unsaved changes of a dry run over any number of pages", async () => {
    const payments = shop({ clientIdPrefix: "north-" });
    await payments.receiveWebhook(signed(completedBody()));
    for (let n = 0; n < 120; n++)
      await payments.receiveWebhook(
        signed(statusBody("submitted", { submittedAt: `2026-11-20T10:00:00.${100 + n}Z` })),
      );
    await save({ created: [pendingPayment()] });
    const looks: number[] = [];
    const would = await payments.replay({ onProgress: ({ looked }) => looks.push(looked) });
    expect(looks).toEqual([100, 121]);
    expect(would.changes.map(({ to }) => to)).toEqual(["applied", ...Array<string>(120).fill("stale")]);
  });

  it("wake the handlers for what they change, and do not leave it to the next poll", async () => {
    const north = shop({ clientIdPrefix: "north-" });
    await north.receiveWebhook(signed(completedBody()));
    await north.sweep();
    await save({ created: [pendingPayment()] });
    const store = openStore(bench.place.address);
    const [claim, transaction] = [store.claim.bind(store), store.transaction.bind(store)];
    const polled = new Promise<void>((resolve) => {
      store.claim = (options) => claim(options).finally(resolve);
    });
    // A slow commit: who looks for work before it finds none.
    store.transaction = (work) =>
      transaction(async (tx) => {
        const result = await work(tx);
        for (let turn = 0; turn < 20; turn++) await nextIteration();
        return result;
      });
    const payments = shop({ store, dispatch: { pollMs: 3_600_000 } });
    const handled = new Promise<string>((resolve) =>
      payments.onPaymentCompleted(({ payment }) => resolve(payment.clientId)),
    );
    await payments.start({ keepAlive: false });
    await polled;
    await payments.replay({ dryRun: false });
    expect(await handled).toBe("c-1");
  });

  it("apply again what a restored database has lost, and revert nothing", async () => {
    const payments = shop();
    await save({ created: [pendingPayment()] });
    await payments.receiveWebhook(signed(completedBody()));
    expect(await payments.replay({ dryRun: false })).toMatchObject({ changed: 0 });
    await bench.place.store.transaction(async (tx) => {
      const { payments: locked } = await bench.place.store.lock(tx, { clientIds: ["c-1"] });
      const { completedAt: _, ...before } = locked[0] as Payment;
      await bench.place.store.save(tx, {
        updated: [{ ...before, state: "pending", status: "pending", open: true }],
      });
    });
    expect(await payments.replay()).toMatchObject({ changes: [{ from: "applied", to: "applied" }] });
    await payments.replay({ dryRun: false });
    expect(await payments.find("c-1")).toMatchObject({ state: "completed" });
  });

  it("trust a webhook no further than its signature reached when it was verified", async () => {
    await save({ created: [pendingPayment()] });
    const rawBody = Buffer.from(
      JSON.stringify(completedBody({ captured: false }, { topic: "payment.failed" })),
    );
    const kept = { receiptId: "r-1", eventKey: "k-1", outcome: "inadmissible", rawBody } as const;
    const receivedAt = "2026-11-20T10:00:00.000Z";
    await save({
      webhooks: [
        { ...kept, covers: ["id", "clientId", "status", "total.value", "total.currency"], receivedAt },
      ],
    });
    await save({ webhooks: [{ ...kept, receiptId: "r-2", eventKey: "k-2", covers: "body", receivedAt }] });
    const { changes } = await shop().replay();
    // A signed body contradicts itself; with five signed fields the other fields are ignored.
    expect(changes).toMatchObject([
      { receiptId: "r-1", to: "applied" },
      { receiptId: "r-2", to: "mismatch", reason: expect.stringContaining("captured") },
    ]);
  });

  it("leave a webhook alone whose event was recorded again since", async () => {
    await save({ created: [pendingPayment()] });
    const payments = shop();
    await payments.receiveWebhook(signed(completedBody({ total: { value: "9", currency: "KMF" } })));
    const rawBody = Buffer.from(JSON.stringify(completedBody({ total: { value: "9", currency: "KMF" } })));
    const receivedAt = "2026-11-01T10:00:00.000Z";
    await save({
      webhooks: [
        { receiptId: "r-1", eventKey: "k-1", outcome: "inadmissible", rawBody, covers: "body", receivedAt },
      ],
    });
    expect(await payments.replay({ dryRun: false })).toMatchObject({ looked: 2, changed: 0 });
    expect(await recorded()).toEqual(["payment.mismatched"]);
  });

  it("read only the selected webhooks, and count the pruned ones", async () => {
    const payments = shop();
    const { receiptId } = await payments.receiveWebhook(signed(completedBody()));
    const { receiptId: unread } = await payments.receiveWebhook(signed("{"));
    const looked = async (query: Parameters<typeof payments.replay>[0]) =>
      (await payments.replay(query)).looked;
    expect(await looked({ outcome: "unmatched" })).toBe(1);
    expect(await looked({ clientId: "c-1" })).toBe(1);
    expect(await looked({ receiptId })).toBe(1);
    expect(await looked({ to: new Date("2020-01-01") })).toBe(0);
    expect(await looked({ from: new Date("2020-01-01") })).toBe(2);
    await payments.prune({ before: new Date("2099-01-01") });
    expect(await payments.replay()).toMatchObject({ looked: 2, forgotten: 0 });
    const why = { reason: "a test of the service", by: "Amina" };
    await payments.attend(`inadmissible:${unread}`, { action: "settle", ...why });
    await payments.prune({ before: new Date("2099-01-01") });
    expect(await payments.replay()).toMatchObject({ looked: 1, forgotten: 1 });
  });

  it("go on after a page of webhooks whose bytes were all pruned", async () => {
    const payments = shop();
    const kept = { outcome: "inadmissible", covers: "body", receivedAt: "2020-01-01T10:00:00.000Z" } as const;
    const webhooks = Array.from({ length: 100 }, (_, n) => ({
      ...kept,
      receiptId: `r-${n}`,
      eventKey: `k-${n}`,
      rawBody: Buffer.alloc(0),
    }));
    await save({ webhooks });
    await payments.receiveWebhook(signed(completedBody()));
    expect(await payments.replay()).toMatchObject({ looked: 1, forgotten: 100 });
  });

  it("of dead dispatches run them again, singly or by filter, with the same key", async () => {
    const keys: string[] = [];
    let broken = true;
    const payments = shop({ dispatch: { pollMs: 20, maxFailures: 1, firstDelayMs: 1 } });
    for (const name of ["books", "mail"])
      payments.onPaymentCompleted(
        (_, { idempotencyKey }) => {
          keys.push(idempotencyKey);
          if (broken) throw new Error("out of paper");
        },
        { name },
      );
    await payments.start({ keepAlive: false });
    await save({
      created: [pendingPayment(), pendingPayment({ clientId: "c-2", reference: "o-2", serviceId: "s-2" })],
    });
    await payments.receiveWebhook(signed(completedBody()));
    await payments.receiveWebhook(signed(completedBody({ clientId: "c-2", id: "s-2" })));
    const dead = async (count: number) =>
      until(async () => (await payments.health()).counts?.dead === count, `${count} dead dispatches`);
    await dead(4);

    const { dispatches, more } = await payments.replayDispatches({ handler: "mail", limit: 1 });
    expect(more).toBe(true);
    expect(dispatches).toMatchObject([
      { handler: "mail", state: "dead", error: "Error: out of paper", clientId: "c-1" },
    ]);
    await dead(4);

    broken = false;
    const { eventId } = dispatches[0]!;
    const one = await payments.replayDispatches({ eventId, handler: "mail", dryRun: false });
    expect(one).toMatchObject({ dryRun: false, more: false, dispatches: [{ eventId, handler: "mail" }] });
    await dead(3);
    expect(
      (await payments.replayDispatches({ type: "payment.completed", dryRun: false })).dispatches,
    ).toHaveLength(3);
    await dead(0);
    await until(async () => keys.length === 8, "every dispatch to run again");
    expect(keys.slice(4).toSorted()).toEqual(keys.slice(0, 4).toSorted());
  });
});

describe("a replay", () => {
  afterEach(closeAll);

  it("with a time that is no Date is refused", async () => {
    await expect(testKit().replay({ from: "yesterday" as never })).rejects.toMatchObject({
      code: "query_invalid",
    });
    await expect(testKit().replayDispatches({ limit: 0 })).rejects.toMatchObject({ code: "query_invalid" });
  });

  it("skips nothing when the store runs the transaction of a page again", async () => {
    const store = new MemoryStore();
    const receivedAt = "2026-11-01T10:00:00.000Z";
    const kept = { receiptId: "r-1", eventKey: "k-1", outcome: "inadmissible", covers: "body" } as const;
    const rawBody = Buffer.from(JSON.stringify(completedBody()));
    const changes = { created: [pendingPayment()], webhooks: [{ ...kept, rawBody, receivedAt }] };
    await store.transaction((tx) => store.save(tx, changes));
    const transaction = store.transaction.bind(store);
    store.transaction = async (run) => {
      const first = transaction(async (tx) => {
        await run(tx);
        throw new Error("Another transaction was faster.");
      });
      await first.catch(() => {});
      return transaction(run);
    };
    const payments = testKit({ store });
    expect(await payments.replay()).toMatchObject({ changes: [{ from: "inadmissible", to: "applied" }] });
    expect(await payments.replay({ dryRun: false })).toMatchObject({ changed: 1 });
    expect(await payments.find("c-1")).toMatchObject({ state: "completed" });
  });
});

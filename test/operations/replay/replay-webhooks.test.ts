import { MemoryStore, type ReplayQuery, type WebhookRecord } from "tillkit";
import { webhook } from "../../../src/store/exam/checks/fixtures.js";
import { saved } from "../../../src/store/exam/checks/steps.js";
import { closeAll, testKit } from "../../support/kit.js";
import { completedBody, pendingPayment, signed, statusBody } from "../../support/webhooks.js";

afterEach(closeAll);

/** Stored webhooks with these bodies, one after the other, under keys of an earlier version of the kit. */
const stored = (bodies: readonly unknown[], over: Partial<WebhookRecord> = {}): WebhookRecord[] =>
  bodies.map((body, n) =>
    webhook(`k-${n}`, {
      receiptId: `r-${String(n).padStart(4, "0")}`,
      outcome: "inadmissible",
      rawBody: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)),
      receivedAt: "2026-11-20T10:00:00.000Z",
      ...over,
    }),
  );

async function shopWith(...changes: Parameters<typeof saved>[1][]) {
  const store = new MemoryStore();
  for (const each of changes) await saved(store, each);
  return { store, payments: testKit({ store }) };
}

describe("a replay of webhooks", () => {
  it("says of each change only what is known and what changed", async () => {
    const { payments } = await shopWith(
      { created: [pendingPayment()] },
      { webhooks: stored([statusBody("submitted"), completedBody({}, { type: "refund" }), completedBody()]) },
    );
    const { changes } = await payments.replay();
    const from = "inadmissible";
    const receivedAt = "2026-11-20T10:00:00.000Z";
    const clientId = "c-1";
    expect(changes).toStrictEqual([
      { receiptId: "r-0000", clientId, receivedAt, from, to: "applied" },
      {
        receiptId: "r-0001",
        receivedAt,
        from,
        to: "unrecognised",
        reason: "type refund, topic payment.completed",
      },
      {
        receiptId: "r-0002",
        clientId,
        receivedAt,
        from,
        to: "applied",
        state: { from: "pending", to: "completed" },
      },
    ]);
  });

  it("applies one of several copies that earlier versions stored under keys of their own", async () => {
    for (const apart of [0, 120]) {
      const others = Array.from({ length: apart }, (_, n) =>
        completedBody({ clientId: `x-${n}`, id: `x-${n}` }),
      );
      const { store, payments } = await shopWith(
        { created: [pendingPayment()] },
        { webhooks: stored([statusBody("odd"), ...others, statusBody("odd")]) },
      );
      const { changes } = await payments.replay();
      expect(changes.filter(({ clientId }) => clientId === "c-1")).toMatchObject([{ receiptId: "r-0000" }]);
      await payments.replay({ dryRun: false });
      expect((await store.history("c-1")).events).toHaveLength(1);
    }
  });

  it("keeps who replayed with each change of a payment", async () => {
    const why = { by: "Amina", reason: "an earlier version could not read it" };
    const { store, payments } = await shopWith(
      { created: [pendingPayment()] },
      { webhooks: stored([completedBody()]) },
    );
    await payments.replay(why);
    expect((await store.history("c-1")).resolutions).toEqual([]);
    for (let times = 0; times < 2; times++) await payments.replay({ dryRun: false, ...why });
    const change = { action: "replayed", before: "inadmissible", after: "applied" };
    expect((await store.history("c-1")).resolutions).toMatchObject([{ ...change, ...why }]);
  });

  it("lists the first thousand changes, and counts all", async () => {
    const bodies = Array.from({ length: 1050 }, (_, n) =>
      completedBody({ clientId: `x-${n}`, id: `x-${n}` }),
    );
    const { payments } = await shopWith({ webhooks: stored(bodies) });
    const seen: unknown[] = [];
    const { changes, changed } = await payments.replay({ onProgress: (progress) => seen.push(progress) });
    expect(changed).toBe(1050);
    expect(changes.map(({ clientId }) => clientId)).toEqual(Array.from({ length: 1000 }, (_, n) => `x-${n}`));
    expect(seen.at(-1)).toEqual({ looked: 1050, changed: 1050 });
  });

  it("changes nothing where every webhook has the decision that it would get, or was pruned", async () => {
    const { payments } = await shopWith({ webhooks: stored(Array(100).fill("")) });
    await payments.receiveWebhook(signed(completedBody()));
    await payments.receiveWebhook(signed("{"));
    expect(await payments.replay()).toEqual({
      dryRun: true,
      looked: 2,
      forgotten: 100,
      changed: 0,
      changes: [],
    });
    expect(await payments.replay({ dryRun: false })).toMatchObject({ changed: 0 });
  });

  it("reverts no payment that a webhook completes between two pages", async () => {
    const others = Array.from({ length: 100 }, (_, n) => completedBody({ clientId: `x-${n}`, id: `x-${n}` }));
    const { store, payments } = await shopWith(
      { created: [pendingPayment()] },
      { webhooks: stored([statusBody("submitted"), ...others, statusBody("failed")]) },
    );
    const webhooks = store.webhooks.bind(store);
    store.webhooks = async (page) => {
      if (page.after) await payments.receiveWebhook(signed(completedBody()));
      return webhooks(page);
    };
    const { changes } = await payments.replay({ dryRun: false });
    expect(changes.filter(({ clientId }) => clientId === "c-1").map(({ to }) => to)).toEqual([
      "applied",
      "stale",
    ]);
    expect(await payments.find("c-1")).toMatchObject({ state: "completed" });
  });

  it("leaves an applied webhook applied, although its report is stale by now", async () => {
    const { store, payments } = await shopWith({ created: [pendingPayment()] });
    for (const status of ["submitted", "completed"])
      await payments.receiveWebhook(signed(statusBody(status)));
    expect(await payments.replay({ dryRun: false })).toMatchObject({ looked: 2, changed: 0 });
    const { webhooks } = await store.history("c-1");
    expect(webhooks.map(({ outcome }) => outcome)).toEqual(["applied", "applied"]);
  });

  it.each<[string, ReplayQuery | object]>([
    ["outcome must be one of applied, stale, mismatch", { outcome: "unmached" }],
    ["from must be a Date", { from: "yesterday" }],
    ["to must be a Date", { to: new Date("never") }],
    ["from must be before to", { from: new Date("2026-11-02"), to: new Date("2026-11-01") }],
    ["from must be before to", { from: new Date("2026-11-01"), to: new Date("2026-11-01") }],
    ["receiptID", { receiptID: "r-1" }],
  ])("is refused with the name of the wrong condition: %s", async (message, query) => {
    await expect(testKit().replay(query)).rejects.toMatchObject({
      code: "query_invalid",
      message: expect.stringContaining(message) as string,
    });
  });
});

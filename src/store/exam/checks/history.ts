import assert from "node:assert/strict";
import { type ResolutionRecord, type WebhookPage, type WebhookRecord } from "../../payment-store.js";
import { claimed, type Exam, saved } from "./exam.js";
import { auditor, event, ledger, payment, webhook } from "./fixtures.js";
import { same } from "./same.js";

const at = (second: number): string => `2024-05-01T10:00:${String(second).padStart(2, "0")}.000Z`;

function resolution(id: string, over: Partial<ResolutionRecord> = {}): ResolutionRecord {
  return { id, clientId: "p1", action: "refunded", reason: "twice", by: "Amina", at: at(9), ...over };
}

/** Histories, stored webhooks and resolutions are optional: a store that has them must have them right. */
export function historyChecks<Tx>({ check }: Exam<Tx>): void {
  check("history answers everything about one clientId, and nothing about another", async (store) => {
    if (!store.history) return;
    await store.registerHandlers([ledger, auditor]);
    const first = webhook("k1", { clientId: "p1", status: "pending", receivedAt: at(1), reason: "é" });
    const asked = webhook("k2", { clientId: "p1", kind: "lookup", receivedAt: at(2), decidedAt: at(3) });
    const completed = event("e1", { clientId: "p1" });
    await saved(store, {
      created: [payment("p1"), payment("P1")],
      webhooks: [asked, first, webhook("k3", { clientId: "P1" })],
      copies: [{ eventKey: "k1", count: 2 }],
      events: [completed, event("e2", { clientId: "P1" })],
      resolutions: [resolution("r1", { receiptId: "receipt-of-k1" }), resolution("r2", { clientId: "P1" })],
    });
    const { webhooks, events, dispatches, resolutions } = await store.history("p1");
    const { rawBody: _, ...light } = first;
    const { rawBody: __, ...lightAsked } = asked;
    same(webhooks, [
      { ...light, copies: 2 },
      { ...lightAsked, copies: 0 },
    ]);
    same(events, [completed]);
    same(resolutions, [resolution("r1", { receiptId: "receipt-of-k1" })]);
    const own = dispatches.filter(({ eventId }) => eventId === "e1");
    assert.equal(own.length, dispatches.length, "a dispatch of another payment's event");
    same(await store.history("nobody"), { webhooks: [], events: [], dispatches: [], resolutions: [] });
  });

  check("history shows how each dispatch ended, and when by the database's clock", async (store) => {
    if (!store.history) return;
    await store.registerHandlers([ledger]);
    await saved(store, { events: [event("e1", { clientId: "p1" })] });
    const [claim] = await claimed(store, [ledger]);
    const settle = (state: "failed" | "done", fence: number) =>
      store.transaction((tx) =>
        store.settle(tx, { eventId: "e1", handler: "ledger", fence, state, error: "no" }),
      );
    await settle("failed", claim!.fence);
    const [failed] = (await store.history("p1")).dispatches;
    same(
      { ...failed, settledAt: undefined },
      {
        eventId: "e1",
        type: "payment.completed",
        clientId: "p1",
        handler: "ledger",
        state: "pending",
        attempt: 1,
        failures: 1,
        error: "no",
        settledAt: undefined,
      },
    );
    const age = Date.now() - Date.parse(failed!.settledAt!);
    assert.ok(Math.abs(age) < 3_600_000 * 2, `settled ${age} ms ago`);
    const [again] = await claimed(store, [ledger]);
    await settle("done", again!.fence);
    assert.equal((await store.history("p1")).dispatches[0]!.state, "done");
  });

  check("a webhook that was decided again says so", async (store) => {
    if (!store.history) return;
    await saved(store, {
      webhooks: [webhook("k1", { clientId: "p1", outcome: "unmatched", reason: "who?" })],
    });
    await saved(store, { rematched: [{ receiptId: "receipt-of-k1", outcome: "applied", decidedAt: at(5) }] });
    const [one] = (await store.history("p1")).webhooks;
    same([one!.outcome, one!.reason, one!.decidedAt], ["applied", undefined, at(5)]);
  });

  check("a resolution is stored once, with everything that it came with or not at all", async (store) => {
    if (!store.history) return;
    await saved(store, { resolutions: [resolution("r1")] });
    await assert.rejects(
      saved(store, { created: [payment("p1")], resolutions: [resolution("r1")] }),
      (error) => (error as { code?: unknown }).code === "store_conflict",
    );
    same(await store.find("p1"), undefined);
    same((await store.history("p1")).resolutions, [resolution("r1")]);
  });

  check("stored webhooks come in pages, by any condition, with their bytes", async (store) => {
    if (!store.webhooks) return;
    const all: WebhookRecord[] = [
      webhook("k2", { clientId: "p1", receivedAt: at(2), outcome: "mismatch" }),
      webhook("k1", { clientId: "p1", receivedAt: at(2) }),
      webhook("k0", { clientId: "p2", receivedAt: at(1), covers: ["id", "status"] }),
    ];
    await saved(store, { webhooks: all });
    const page = (options: Partial<WebhookPage>) => store.webhooks!({ limit: 10, ...options });
    same(await page({}), [all[2], all[1], all[0]]);
    same(await page({ clientId: "p1", outcome: "mismatch" }), [all[0]]);
    same(await page({ receiptId: "receipt-of-k1" }), [all[1]]);
    same(await page({ from: at(2) }), [all[1], all[0]]);
    same(await page({ to: at(2) }), [all[2]]);
    const { receivedAt, receiptId } = all[1]!;
    same(await page({ after: { receivedAt, receiptId } }), [all[0]]);
    same(await page({ limit: 1 }), [all[2]]);
    if (!store.prune) return;
    await store.prune({ before: at(2), limit: 10 });
    same((await page({ limit: 1 }))[0]!.rawBody.length, 0);
  });

  check("stored webhooks are in one order, forgotten bytes or not", async (store) => {
    if (!store.webhooks || !store.prune) return;
    await saved(store, {
      webhooks: [1, 2, 3, 4].map((second) =>
        webhook(`k${second}`, { receivedAt: at(second), ...(second === 2 && { outcome: "unmatched" }) }),
      ),
    });
    await store.prune({ before: at(4), limit: 10 });
    const page = async (options: Partial<WebhookPage>) =>
      (await store.webhooks!({ limit: 10, ...options })).map((one) => [one.eventKey, one.rawBody.length > 0]);
    const all = [
      ["k1", false],
      ["k2", true],
      ["k3", false],
      ["k4", true],
    ];
    same(await page({}), all);
    same(await page({ limit: 3 }), all.slice(0, 3));
    same(await page({ after: { receivedAt: at(1), receiptId: "receipt-of-k1" } }), all.slice(1));
  });
}

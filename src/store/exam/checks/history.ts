import assert from "node:assert/strict";
import { type DeadPage, type HistoryPosition, type WebhookPage, type WebhookRecord } from "../../contract.js";
import { at, auditor, event, ledger, payment, resolution, webhook } from "./fixtures.js";
import { type Checks, claimed, pairs, same, saved, settled } from "./steps.js";

/** Checks of `history` and `webhooks`. */
export const historyChecks: Checks = {
  async "history returns everything about one clientId, and nothing about another"(store) {
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
  },

  async "history is read in pages, the newest first, each record once, also where others come meanwhile"(
    store,
  ) {
    await store.registerHandlers([ledger]);
    const save = (minute: number, name: string) =>
      saved(store, {
        webhooks: [webhook(`k${name}`, { clientId: "p1", receivedAt: at(minute) })],
        events: [event(`e${name}`, { clientId: "p1", recordedAt: at(minute) })],
        resolutions: [resolution(`r${name}`, { at: at(minute) })],
      });
    // Two webhooks have the same time.
    for (const [minute, name] of ["1", "2", "3", "4", "5"].entries()) await save(Math.min(minute, 3), name);
    await saved(store, { webhooks: [webhook("k0", { clientId: "p1", receivedAt: at(0) })] });
    same((await claimed(store, [ledger])).length, 5);
    let before: HistoryPosition = {};
    const pages: string[][] = [];
    for (let page = 1; page <= 4; page++) {
      const { webhooks, events, dispatches, resolutions } = await store.history("p1", { limit: 2, before });
      const names = [
        webhooks.map((one) => one.eventKey),
        events.map(({ id }) => id),
        resolutions.map(({ id }) => id),
      ];
      pages.push(names.map((some) => some.join(" ")));
      same(
        dispatches.map(({ eventId }) => eventId),
        events.map(({ id }) => id),
      );
      const [first, oldest, resolved] = [webhooks[0], events[0], resolutions[0]];
      before = {
        ...before,
        ...(first && { webhook: { receivedAt: first.receivedAt, receiptId: first.receiptId } }),
        ...(oldest && { event: { id: oldest.id } }),
        ...(resolved && { resolution: { at: resolved.at, id: resolved.id } }),
      };
      await save(9, `9${page}`);
    }
    same(pages, [
      ["k4 k5", "e4 e5", "r4 r5"],
      ["k2 k3", "e2 e3", "r2 r3"],
      ["k0 k1", "e1", "r1"],
      ["", "", ""],
    ]);
  },

  async "history shows how each dispatch ended, and when by the database's clock"(store) {
    await store.registerHandlers([ledger]);
    await saved(store, { events: [event("e1", { clientId: "p1" })] });
    const [claim] = await claimed(store, [ledger]);
    await settled(store, claim!, { state: "failed", error: "no" });
    const [failed] = (await store.history("p1")).dispatches;
    const { settledAt, dueAt: _, ...rest } = failed!;
    const dispatch = { eventId: "e1", type: "payment.completed", clientId: "p1", handler: "ledger" };
    same(rest, { ...dispatch, state: "pending", attempt: 1, failures: 1, error: "no" });
    const age = Date.now() - Date.parse(settledAt!);
    assert.ok(Math.abs(age) < 3_600_000 * 2, `settled ${age} ms ago`);
    const [again] = await claimed(store, [ledger]);
    await settled(store, again!, { state: "done", error: "no" });
    assert.equal((await store.history("p1")).dispatches[0]!.state, "done");
  },

  async "history shows dispatches that no process has claimed yet, and when one that failed is due"(store) {
    await store.registerHandlers([ledger, auditor]);
    await saved(store, { events: [event("e1", { clientId: "p1" })] });
    const waiting = { eventId: "e1", type: "payment.completed", clientId: "p1", state: "pending" };
    const undone = { ...waiting, attempt: 0, failures: 0 };
    same(byHandler((await store.history("p1")).dispatches), [
      { ...undone, handler: "auditor" },
      { ...undone, handler: "ledger" },
    ]);
    const [claim] = await claimed(store, [ledger]);
    same(
      (await store.history("p1")).dispatches.map(({ dueAt }) => dueAt),
      [undefined, undefined],
    );
    await settled(store, claim!, { state: "failed", error: "no", retryInMs: 60_000 });
    const [other, failed] = byHandler((await store.history("p1")).dispatches);
    same(other, { ...undone, handler: "auditor" });
    const waitsMs = Date.parse(failed!.dueAt!) - Date.parse(failed!.settledAt!);
    assert.ok(Math.abs(waitsMs - 60_000) < 5_000, `due ${waitsMs} ms after the run, and not 60000`);
  },

  async "history shows the new outcome of a webhook that was decided again"(store) {
    const decidedAt = at(5);
    await saved(store, {
      webhooks: [webhook("k1", { clientId: "p1", outcome: "unmatched", reason: "who?" })],
    });
    await saved(store, { rematched: [{ receiptId: "receipt-of-k1", outcome: "applied", decidedAt }] });
    const [one] = (await store.history("p1")).webhooks;
    same([one!.outcome, one!.reason, one!.decidedAt], ["applied", undefined, decidedAt]);
  },

  async "a resolution is stored once; a second one rejects, with everything that it came with"(store) {
    await saved(store, { resolutions: [resolution("r1")] });
    const again = saved(store, { created: [payment("p1")], resolutions: [resolution("r1")] });
    await assert.rejects(again, (error) => (error as { code?: unknown }).code === "store_conflict");
    same(await store.find("p1"), undefined);
    same((await store.history("p1")).resolutions, [resolution("r1")]);
  },

  async "stored webhooks are read in pages, by any condition, with their bytes"(store) {
    const all: WebhookRecord[] = [
      webhook("k2", { clientId: "p1", receivedAt: at(2), outcome: "mismatch" }),
      webhook("k1", { clientId: "p1", receivedAt: at(2) }),
      webhook("k0", { receivedAt: at(1), outcome: "inadmissible", covers: ["id", "status"] }),
    ];
    await saved(store, { webhooks: all });
    const page = (options: Partial<WebhookPage>) => store.webhooks({ limit: 10, ...options });
    same(await page({}), [all[2], all[1], all[0]]);
    same(await page({ clientId: "p1", outcome: "mismatch" }), [all[0]]);
    same(await page({ receiptId: "receipt-of-k1" }), [all[1]]);
    same(await page({ from: at(2) }), [all[1], all[0]]);
    same(await page({ to: at(2) }), [all[2]]);
    const { receivedAt, receiptId } = all[1]!;
    same(await page({ after: { receivedAt, receiptId } }), [all[0]]);
    same(await page({ limit: 1 }), [all[2]]);
    await store.prune({ before: at(3), limit: 10 });
    same((await page({ receiptId }))[0]!.rawBody.length, 0);
  },

  async "stored webhooks have one order, whether their bytes were pruned or not"(store) {
    await saved(store, {
      webhooks: [1, 2, 3, 4].map((minute) =>
        webhook(`k${minute}`, { receivedAt: at(minute), outcome: minute === 2 ? "unmatched" : "applied" }),
      ),
    });
    await store.prune({ before: at(4), limit: 10 });
    const page = async (options: Partial<WebhookPage>) =>
      (await store.webhooks({ limit: 10, ...options })).map(
        ({ eventKey, rawBody }) => `${eventKey} ${rawBody.length > 0 ? "kept" : "pruned"}`,
      );
    const all = ["k1 pruned", "k2 kept", "k3 pruned", "k4 kept"];
    same(await page({}), all);
    same(await page({ limit: 3 }), all.slice(0, 3));
    same(await page({ after: { receivedAt: at(1), receiptId: "receipt-of-k1" } }), all.slice(1));
  },
};

/** Checks of `counts`, `dead` and `revived`. */
export const deadChecks: Checks = {
  async "counts returns what waits: parked webhooks, dead dispatches, the oldest undone event"(store) {
    const counts = async () => {
      const { waiting: _, clock: __, needs: ___, ...counted } = await store.counts();
      return counted;
    };
    same(await counts(), { dead: 0, parked: 0 });
    await store.registerHandlers([auditor]);
    const [first, second] = [event("e1"), event("e2")];
    await saved(store, {
      webhooks: [webhook("w1", { outcome: "unmatched" }), webhook("w2")],
      events: [first, second],
    });
    same(await counts(), { dead: 0, parked: 1, oldestUndoneAt: first.recordedAt });

    const claims = await claimed(store, [auditor]);
    for (const [index, claim] of claims.entries())
      await settled(store, claim, { state: index === 0 ? "dead" : "done", error: "no" });
    await saved(store, { rematched: [{ receiptId: "receipt-of-w1", outcome: "applied" }] });
    same(await counts(), { dead: 1, parked: 0 });
  },

  async "dead dispatches are found by any condition, and revived only on request"(store) {
    const handlers = [ledger, auditor];
    await store.registerHandlers(handlers);
    await saved(store, {
      events: [event("e1", { clientId: "p1" }), event("e2", { type: "payment.overdue" }), event("e3")],
    });
    for (const claim of await claimed(store, handlers))
      await settled(store, claim, { state: "failed", retryInMs: 0, error: "not yet" });
    const claims = await claimed(store, handlers);
    for (const claim of claims.toReversed())
      await settled(store, claim, { state: claim.event.id === "e3" ? "done" : "dead", error: "no" });
    const dead = async (options: Partial<DeadPage>) =>
      (await store.dead({ revive: false, limit: 10, ...options }))
        .map(({ eventId, handler }) => `${eventId} ${handler}`)
        .toSorted();
    same(await dead({}), ["e1 auditor", "e1 ledger", "e2 auditor"]);
    same(await dead({ limit: 2 }), ["e1 auditor", "e1 ledger"]);
    same(await dead({ handler: "auditor" }), ["e1 auditor", "e2 auditor"]);
    same(await dead({ type: "payment.overdue" }), ["e2 auditor"]);
    same(await dead({ eventId: "e1" }), ["e1 auditor", "e1 ledger"]);
    same(await claimed(store, handlers), []);

    same(await dead({ eventId: "e1", handler: "ledger", revive: true }), ["e1 ledger"]);
    same(await dead({}), ["e1 auditor", "e2 auditor"]);
    const [again, ...others] = await claimed(store, handlers);
    const died = claims.find((claim) => pairs([claim])[0] === "e1 ledger")!;
    same([others, again!.event.id, again!.attempt, again!.failures], [[], "e1", 1, 0]);
    assert.ok(again!.fence > died.fence, "an old run could settle the revived dispatch");
    same((await store.counts()).dead, 2);
  },

  async "dead finds dispatches by a part of their error and by their time, and none that its run has revived"(
    store,
  ) {
    await store.registerHandlers([ledger]);
    await saved(store, { events: [1, 2, 3].map((n) => event(`e${n}`, { clientId: "p1" })) });
    const errors = ["Error: 100% of É_a!", "Error: no", "Error: No paper"];
    for (const [index, claim] of (await claimed(store, [ledger])).entries())
      await settled(store, claim, { state: "dead", error: errors[index]! });
    const dead = async (options: Partial<DeadPage>) =>
      (await store.dead({ revive: false, limit: 10, ...options })).map(({ eventId }) => eventId);
    same(await dead({ error: "no" }), ["e2", "e3"]);
    same(await dead({ error: "0% OF" }), ["e1"]);
    for (const error of ["_a!", "É_A"]) same(await dead({ error }), ["e1"]);
    for (const error of ["n_", "1%o", "e!"]) same(await dead({ error }), []);
    const [first] = (await store.history("p1")).dispatches;
    same(await dead({ since: first!.settledAt! }), ["e1", "e2", "e3"]);
    same(await dead({ since: "2999-01-01T00:00:00.000Z" }), []);

    same(await dead({ error: "paper", revive: true, run: "run-1" }), ["e3"]);
    const [again] = await claimed(store, [ledger]);
    await settled(store, again!, { state: "dead", error: "still none" });
    same(await dead({ run: "run-1" }), ["e1", "e2"]);
    same(await dead({ run: "run-2" }), ["e1", "e2", "e3"]);
  },

  async "a revived dispatch keeps how it had ended before, and is found by the id of its run"(store) {
    await store.registerHandlers([ledger]);
    await saved(store, { events: [1, 2, 3].map((n) => event(`e${n}`, { clientId: "p1" })) });
    for (const claim of await claimed(store, [ledger]))
      await settled(store, claim, { state: "dead", error: `no ${claim.event.id}` });
    const died = (await store.history("p1")).dispatches;
    await store.dead({ run: "run-1", revive: true, limit: 10 });
    for (const [index, claim] of (await claimed(store, [ledger])).entries())
      await settled(store, claim, { state: index === 0 ? "done" : "dead", error: "still" });
    const ends = async (after?: { eventId: string; handler: string }) =>
      (await store.revived({ run: "run-1", limit: 2, ...(after && { after }) })).map(
        ({ eventId, state, past }) => ({
          eventId,
          state,
          past,
        }),
      );
    const past = died.map(({ attempt, failures, error, settledAt }) => ({
      attempt,
      failures,
      error,
      settledAt,
    }));
    same(await ends(), [
      { eventId: "e1", state: "done", past: [past[0]] },
      { eventId: "e2", state: "dead", past: [past[1]] },
    ]);
    same(await ends({ eventId: "e2", handler: "ledger" }), [
      { eventId: "e3", state: "dead", past: [past[2]] },
    ]);
    await store.dead({ run: "run-2", revive: true, limit: 1 });
    const [second] = await store.revived({ run: "run-2", limit: 10 });
    same([second!.eventId, second!.past!.map(({ error }) => error)], ["e2", ["no e2", "still"]]);
    same(
      (await store.revived({ run: "run-1", limit: 10 })).map(({ eventId }) => eventId),
      ["e1", "e3"],
    );
  },
};

function byHandler<One extends { handler: string }>(dispatches: readonly One[]): One[] {
  return dispatches.toSorted((a, b) => (a.handler < b.handler ? -1 : 1));
}

import { type PaymentNeed, type WebhookNeed } from "../../../model/attention.js";
import { type PaymentStore } from "../../contract.js";
import { at, event, ledger, mailer, payment, resolution, webhook } from "./fixtures.js";
import { type Checks, claimed, clientIds, same, saved, settled } from "./steps.js";

const payments = [
  payment("other", { state: "completed", open: false, withheld: "unsettled", attention: "paid_late" }),
  payment("twice", { state: "completed", open: false, attention: "paid_twice" }),
  payment("late 2", { state: "completed", open: false, attention: "paid_late", createdAt: at(2) }),
  payment("late 1", { state: "completed", open: false, attention: "paid_late", createdAt: at(1) }),
  payment("uncertain", { state: "uncertain", open: false }),
  payment("creating", { state: "creating", overdueAt: at(3), createdAt: at(3) }),
  payment("overdue", { overdueAt: at(3) }),
  payment("seen", { overdueAt: at(3), attention: "settled" }),
  payment("refunded", { state: "completed", open: false, withheld: "refunded" }),
  payment("made now", { state: "creating" }),
  payment("pending"),
];

async function found(store: PaymentStore, need: PaymentNeed, limit = 10): Promise<string[]> {
  return clientIds(await store.list({ need, newestFirst: false, limit }));
}

async function webhooksOf(store: PaymentStore, need: WebhookNeed): Promise<string[]> {
  return (await store.webhooks({ need, limit: 10 })).map(({ eventKey }) => eventKey);
}

/** Checks of needs: `list` and `webhooks` by need, `counts`, and the pages of `dead` and `notes`. */
export const needChecks: Checks = {
  async "list by need returns the payments that a person has to see, oldest first"(store) {
    await saved(store, { created: payments.slice(0, 6) });
    await saved(store, { created: payments.slice(6) });
    same(await found(store, "paid_other_amount"), ["other"]);
    same(await found(store, "paid_twice"), ["twice"]);
    same(await found(store, "paid_late"), ["late 1", "late 2"]);
    same(await found(store, "creation_uncertain"), ["uncertain", "creating"]);
    same(await found(store, "overdue"), ["overdue"]);
    same(await found(store, "paid_late", 1), ["late 1"]);
    const position = { createdAt: at(1), clientId: "late 1" };
    const page = { need: "paid_late", newestFirst: false, limit: 10 } as const;
    same(clientIds(await store.list({ ...page, after: position })), ["late 2"]);
    same(clientIds(await store.list({ ...page, to: at(2) })), ["late 1"]);
    for (const one of payments) if (one.clientId !== "other") same(await store.find(one.clientId), one);
    const { needs } = await store.counts({ before: { paid_late: at(2) } });
    same(needs, { paid_other_amount: 1, paid_twice: 1, paid_late: 1, creation_uncertain: 2, overdue: 1 });
  },

  async "list by need follows what changes in a payment"(store) {
    await saved(store, { created: [payment("p1"), payment("p2", { overdueAt: at(3) })] });
    await store.transaction(async (tx) => {
      await store.lock(tx, { clientIds: ["p1", "p2"] });
      const paid = { state: "completed", open: false } as const;
      await store.save(tx, {
        updated: [payment("p1", { ...paid, attention: "paid_twice" }), payment("p2", paid)],
      });
    });
    same(await found(store, "paid_twice"), ["p1"]);
    same(await found(store, "overdue"), []);
    same((await store.counts()).needs, { paid_twice: 1 });
  },

  async "webhooks by need returns those that no person has resolved, with the number of their copies"(store) {
    await saved(store, {
      webhooks: [
        webhook("m2", { outcome: "mismatch", clientId: "p1", receivedAt: at(2) }),
        webhook("m1", { outcome: "mismatch", clientId: "p1", receivedAt: at(1) }),
        webhook("u", { outcome: "unmatched", clientId: "p2" }),
        webhook("c", { outcome: "unconfirmed", clientId: "p3" }),
        webhook("i", { outcome: "inadmissible" }),
        webhook("refund", { outcome: "stale", status: "refunded", clientId: "p1" }),
        webhook("late", { outcome: "stale", status: "pending", clientId: "p1" }),
        webhook("a", { clientId: "p1" }),
      ],
      copies: [{ eventKey: "m1", count: 3 }],
    });
    same(await webhooksOf(store, "mismatched"), ["m1", "m2"]);
    const [first] = await store.webhooks({ need: "mismatched", limit: 1 });
    same([first!.copies, first!.receiptId], [3, "receipt-of-m1"]);
    const about = async (clientIds: string[], limit: number) =>
      (await store.webhooks({ need: "mismatched", clientIds, limit })).map(({ eventKey }) => eventKey);
    same(await about(["p3", "p1", "p2"], 10), ["m1", "m2"]);
    same(await about(["p3", "p1"], 1), ["m1"]);
    same(await about(["p2"], 10), []);
    same(await webhooksOf(store, "unmatched"), ["u"]);
    same(await webhooksOf(store, "unconfirmed"), ["c"]);
    same(await webhooksOf(store, "inadmissible"), ["i"]);
    same(await store.webhooks({ need: "inadmissible", clientIds: [""], limit: 10 }), []);
    same(await webhooksOf(store, "reported"), ["refund"]);
    same((await store.counts()).needs, {
      mismatched: 2,
      unmatched: 1,
      unconfirmed: 1,
      inadmissible: 1,
      reported: 1,
    });
    await saved(store, {
      resolutions: [resolution("r1", { action: "dismissed", receiptId: "receipt-of-m1" })],
      rematched: [{ receiptId: "receipt-of-u", outcome: "applied" }],
    });
    await saved(store, {
      // The webhook m2 does not wait, so `dismissed` has no effect on m2.
      dismissed: ["receipt-of-c", "receipt-of-m2"],
      resolutions: [resolution("r2", { action: "dismissed", receiptId: "receipt-of-c", clientId: "p3" })],
    });
    same(await webhooksOf(store, "mismatched"), ["m2"]);
    same(await webhooksOf(store, "unmatched"), []);
    same(await webhooksOf(store, "unconfirmed"), []);
    same((await store.webhooks({ need: "mismatched", receiptId: "receipt-of-m1", limit: 1 })).length, 0);
    const { needs, parked } = await store.counts({ before: { mismatched: at(2) } });
    same([needs, parked], [{ inadmissible: 1, reported: 1 }, 0]);
  },

  async "dead pages through the dispatches in the order of their events"(store) {
    await store.registerHandlers([ledger, mailer]);
    await saved(store, { events: [event("e2"), event("e1")] });
    for (const claim of await claimed(store, [ledger, mailer]))
      await settled(store, claim, { state: "dead", error: "no" });
    const seen: string[] = [];
    for (let after: { eventId: string; handler: string } | undefined; ;) {
      const page = await store.dead({ revive: false, limit: 3, ...(after && { after }) });
      seen.push(...page.map(({ eventId, handler }) => `${eventId} ${handler}`));
      after = page.at(-1);
      if (!after) break;
    }
    same(seen, ["e2 ledger", "e2 mailer", "e1 ledger", "e1 mailer"]);
  },

  async "notes pages through all notes of a kind once"(store) {
    const ids = ["b", "a é", "a:1", "a", "A", "c".repeat(180)];
    const note = (id: string, kind = "told") => ({ kind, id, version: 0, value: {} });
    await saved(store, { notes: [...ids.map((id) => note(id)), note("x", "other")] });
    const seen: string[] = [];
    for (let after: string | undefined; ;) {
      const page = await store.notes({ kind: "told", limit: 4, ...(after !== undefined && { after }) });
      seen.push(...page.map(({ id }) => id));
      after = page.at(-1)?.id;
      if (after === undefined) break;
    }
    same(seen.toSorted(), ids.toSorted());
  },
};

import { type PaymentStore, type WebhookRecord } from "../../store/index.js";
import { groupCommit, type GroupCommit } from "./group-commit.js";
import { keysOf, planGroup, type Arrival, type Plan, type Receipt } from "./plan-group.js";
import { type Policy } from "./policy.js";
import { rematchParked } from "./rematch.js";

/** What recording needs. */
export interface RecorderOptions<Tx> {
  store: PaymentStore<Tx>;
  now: () => Date;
  newId: () => string;
  policy: Policy;
  /** Resolves when the store is ready and knows this process's handlers. */
  ready: () => Promise<void>;
  /** Called after a commit that saved events. */
  onEvents: () => void;
  /** Called after each commit. */
  onRecorded?: (receipts: readonly Receipt[]) => void;
  deadlineMs: number;
  maxGroup?: number;
}

/** Records webhooks, and matches those whose payment came at the same moment. */
export interface Recorder extends GroupCommit<Arrival, Receipt> {
  /** Resolves when nothing that was recorded until now is still being matched. */
  matched: () => Promise<unknown>;
}

/** A clash that `lock` did not foresee: another process recorded the same event in between. Planned again. */
class PlanOutdated extends Error {}

/**
 * Records verified webhooks: each resolves after the transaction that holds it has committed, and rejects when that is
 * not known to have happened. Recording one again is harmless.
 */
export function createRecorder<Tx>(options: RecorderOptions<Tx>): Recorder {
  const { store, ready, now, newId, policy, onEvents, onRecorded, deadlineMs, maxGroup = 100 } = options;

  const underWay = new Set<Promise<void>>();

  async function commit(arrivals: readonly Arrival[]): Promise<readonly Receipt[]> {
    await ready();
    const { changes, receipts } = await commitPlan(arrivals);
    if (changes.events.length > 0) onEvents();
    matchLatecomers(arrivals, receipts);
    onRecorded?.(receipts);
    return receipts;
  }

  async function commitPlan(arrivals: readonly Arrival[], tries = 3): Promise<Plan> {
    try {
      const isPlain = store.record && !arrivals.some(({ kind }) => kind === "lookup");
      return await (isPlain ? commitAtOnce(arrivals) : commitInSteps(arrivals));
    } catch (error) {
      if (error instanceof PlanOutdated && tries > 1) return commitPlan(arrivals, tries - 1);
      throw error;
    }
  }

  /** In as few round trips as the store can. */
  async function commitAtOnce(arrivals: readonly Arrival[]): Promise<Plan> {
    let plan: Plan;
    const isRecorded = await store.record!(keysOf(arrivals), (locked) => {
      plan = planGroup(locked, arrivals, { now: now().toISOString(), newId, policy });
      return plan.changes;
    });
    if (!isRecorded) throw new PlanOutdated();
    return plan!;
  }

  /** For a lookup, which wants to know more than what is locked. */
  function commitInSteps(arrivals: readonly Arrival[]): Promise<Plan> {
    return store.transaction(async (tx) => {
      const locked = await store.lock(tx, keysOf(arrivals));
      const unconfirmed = await waitingForLookup(tx, arrivals);
      const plan = planGroup(locked, arrivals, { now: now().toISOString(), newId, policy, unconfirmed });
      const { takenEventKeys } = await store.save(tx, plan.changes);
      if (takenEventKeys.length > 0) throw new PlanOutdated(takenEventKeys.join(", "));
      return plan;
    });
  }

  /** The webhooks that wait for the lookups among the arrivals. Most groups have none, and ask nothing. */
  async function waitingForLookup(
    tx: Tx,
    arrivals: readonly Arrival[],
  ): Promise<ReadonlyMap<string, WebhookRecord>> {
    const { clientIds } = keysOf(arrivals.filter(({ kind }) => kind === "lookup"));
    if (clientIds.length === 0 || !store.parked) return new Map();
    const parked = await store.parked(tx, clientIds);
    const waiting = parked.filter(({ outcome }) => outcome === "unconfirmed");
    return new Map(waiting.map((webhook) => [webhook.eventKey, webhook]));
  }

  /**
   * A payment may have been stored between the decision "unmatched" and its commit. Its creator looked for parked
   * webhooks too early to see this one; so look again, now that the webhook is visible. And a lookup may have
   * decided what a webhook waits for that does not say quite the same.
   */
  function matchLatecomers(arrivals: readonly Arrival[], receipts: readonly Receipt[]): void {
    const of = (isConcerned: (receipt: Receipt, arrival: Arrival) => boolean): string[] =>
      receipts.flatMap((receipt, index) =>
        receipt.clientId !== undefined && isConcerned(receipt, arrivals[index]!) ? [receipt.clientId] : [],
      );
    const waiting = of(({ outcome }, { kind }) => outcome === "unmatched" || kind === "lookup");
    const foreign = of(({ outcome }) => outcome === "foreign");
    if (waiting.length + foreign.length === 0) return;
    const matching = rematchLatecomers(waiting, foreign)
      .catch(() => {}) // The sweep looks again.
      .finally(() => underWay.delete(matching));
    underWay.add(matching);
  }

  async function rematchLatecomers(waiting: readonly string[], foreign: readonly string[]): Promise<void> {
    const clientIds = [...waiting];
    // There may be many, and an adopted payment among them is rare: worth a look, but no transaction.
    for (const clientId of foreign) if (await store.find(clientId)) clientIds.push(clientId);
    if ((await rematchParked(options, clientIds)) > 0) onEvents();
  }

  const turnsForCompany = store.durable ? 3 : 0;
  return {
    ...groupCommit({ commit, maxGroup, deadlineMs, turnsForCompany }),
    matched: () => Promise.all(underWay),
  };
}

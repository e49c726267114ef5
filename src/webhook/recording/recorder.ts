import { type WebhookRecord } from "../../store/index.js";
import { GroupCommit } from "./group-commit.js";
import { keysOf, planGroup, type Arrival, type Plan, type Receipt } from "./plan-group.js";
import { rematch, type RecordingParts } from "./rematch.js";

/** How often a group is planned, when other processes record the same events at the same moment. */
const maxPlans = 3;

/** Another process recorded one of the events after `lock` had looked: the group must be planned again. */
class PlanOutdated extends Error {}

/**
 * Records verified webhooks. Each call resolves after the transaction that holds the webhook has committed, and rejects when
 * that is not known to have happened. Recording a webhook again is harmless.
 */
export class Recorder<Tx> {
  readonly #parts: RecordingParts<Tx>;
  readonly #onRecorded: (receipts: readonly Receipt[]) => void;
  readonly #group: GroupCommit<Arrival, Receipt>;
  /** Matching of webhooks that were recorded while their payment was being stored. */
  readonly #matching = new Set<Promise<void>>();

  /** @param onRecorded is called after each commit */
  constructor(
    parts: RecordingParts<Tx>,
    deadlineMs: number,
    onRecorded: (receipts: readonly Receipt[]) => void,
  ) {
    this.#parts = parts;
    this.#onRecorded = onRecorded;
    this.#group = new GroupCommit({
      write: (arrivals: readonly Arrival[]) => this.#commitGroup(arrivals),
      maxGroup: parts.maxGroup,
      deadlineMs,
      refillIterations: parts.store.durable ? 3 : 0,
    });
  }

  /** Resolves after the commit that holds the arrival. */
  recordArrival(arrival: Arrival): Promise<Receipt> {
    return this.#group.add(arrival);
  }

  /** Resolves after the one commit that holds all arrivals; rejects when it is not known to hold any. */
  recordArrivals(arrivals: readonly Arrival[]): Promise<readonly Receipt[]> {
    return this.#group.addAll(arrivals);
  }

  /** Returns whether so many commits hang that new webhooks are rejected immediately. */
  isStuck(): boolean {
    return this.#group.isStuck();
  }

  /** Resolves when no webhook that was recorded until now is still being matched. */
  async matched(): Promise<void> {
    await Promise.all(this.#matching);
  }

  async #commitGroup(arrivals: readonly Arrival[]): Promise<readonly Receipt[]> {
    await this.#parts.ready();
    const { changes, receipts } = await this.#commitPlan(arrivals);
    if (changes.events.length > 0) this.#parts.announceEvents();
    const foreign = this.#foreignClientIds(receipts);
    if (foreign.length > 0) await this.#matchForeign(foreign);
    this.#matchLatecomers(arrivals, receipts);
    this.#onRecorded(receipts);
    return receipts;
  }

  async #commitPlan(arrivals: readonly Arrival[], plans = 1): Promise<Plan> {
    try {
      const hasLookup = arrivals.some(({ kind }) => kind === "lookup");
      const inOneCall = this.#parts.store.record && !hasLookup;
      return await (inOneCall ? this.#commitInOneCall(arrivals) : this.#commitInSteps(arrivals));
    } catch (error) {
      if (error instanceof PlanOutdated && plans < maxPlans) return this.#commitPlan(arrivals, plans + 1);
      throw error;
    }
  }

  /** Uses the store's `record`, which takes fewer round trips than the steps one by one. */
  async #commitInOneCall(arrivals: readonly Arrival[]): Promise<Plan> {
    const { store, now, newId, policy } = this.#parts;
    let plan: Plan;
    const isRecorded = await store.record!(keysOf(arrivals), (locked) => {
      plan = planGroup(locked, arrivals, { now: now().toISOString(), newId, policy });
      return plan.changes;
    });
    if (!isRecorded) throw new PlanOutdated();
    return plan!;
  }

  /** Locks, plans and saves one after the other. A lookup needs it: its plan depends on more than what is locked. */
  #commitInSteps(arrivals: readonly Arrival[]): Promise<Plan> {
    const { store, now, newId, policy } = this.#parts;
    return store.transaction(async (tx) => {
      const locked = await store.lock(tx, keysOf(arrivals));
      const unconfirmed = await this.#unconfirmed(tx, arrivals);
      const plan = planGroup(locked, arrivals, { now: now().toISOString(), newId, policy, unconfirmed });
      const { takenEventKeys } = await store.save(tx, plan.changes);
      if (takenEventKeys.length > 0) throw new PlanOutdated(takenEventKeys.join(", "));
      return plan;
    });
  }

  /** Returns the recorded webhooks that wait for the lookups among the arrivals, by eventKey. */
  async #unconfirmed(tx: Tx, arrivals: readonly Arrival[]): Promise<ReadonlyMap<string, WebhookRecord>> {
    const { store } = this.#parts;
    const { clientIds } = keysOf(arrivals.filter(({ kind }) => kind === "lookup"));
    if (clientIds.length === 0 || !store.parked) return new Map();
    const parked = await store.parked(tx, clientIds);
    const waiting = parked.filter(({ outcome }) => outcome === "unconfirmed");
    return new Map(waiting.map((webhook) => [webhook.eventKey, webhook]));
  }

  /**
   * Looks for parked webhooks again after the commit. A payment may have been stored between the decision "unmatched" and
   * its commit, and then its creation looked before this webhook was visible. A lookup may also have decided what a webhook
   * waits for that differs from it.
   */
  #matchLatecomers(arrivals: readonly Arrival[], receipts: readonly Receipt[]): void {
    const waiting = receipts.flatMap(({ outcome, clientId }, index) =>
      clientId !== undefined && (outcome === "unmatched" || arrivals[index]!.kind === "lookup")
        ? [clientId]
        : [],
    );
    if (waiting.length === 0) return;
    const matching = rematch(this.#parts, waiting)
      .catch(() => {}) // The sweep looks again.
      .finally(() => this.#matching.delete(matching));
    this.#matching.add(matching);
  }

  #foreignClientIds(receipts: readonly Receipt[]): string[] {
    const { clientIdPrefix = "" } = this.#parts.policy;
    if (clientIdPrefix === "") return [];
    return receipts.flatMap(({ outcome, clientId }) =>
      clientId !== undefined &&
      !clientId.startsWith(clientIdPrefix) &&
      (outcome === "foreign" || outcome === "duplicate")
        ? [clientId]
        : [],
    );
  }

  /**
   * Looks again for payments with other prefixes, before their webhooks are answered: one may have been adopted between the
   * decision "foreign" and its commit, and no sweep looks at such a webhook. Copies are looked at too, because the process may have
   * ended right after the first commit.
   */
  async #matchForeign(clientIds: readonly string[]): Promise<void> {
    // Foreign webhooks can be many, and few are about an adopted payment: a read is cheaper than a transaction.
    const found = [...new Set(clientIds)].map((clientId) => this.#parts.store.find(clientId));
    const payments = await Promise.all(found);
    await rematch(
      this.#parts,
      payments.flatMap((payment) => payment?.clientId ?? []),
    );
  }
}

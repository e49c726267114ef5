import { type WebhookRecord } from "../../store/index.js";
import { GroupCommit } from "./group-commit.js";
import { type Arrival, type Receipt } from "./arrival.js";
import { keysOf, planGroup, type Plan } from "./plan-group.js";
import { type RecordingParts } from "./recording-parts.js";
import { rematch } from "./rematch.js";

/** How often a group is planned, when other processes record the same events at the same moment. */
const maxPlans = 3;

/** Another process recorded one of the events after `lock` had looked: the group must be planned again. */
class PlanOutdated extends Error {}

/**
 * Records verified webhooks. Each call resolves after the transaction that holds the webhook has committed, and after a webhook
 * with another prefix was matched with a payment that was adopted meanwhile. It rejects when one of the two is not known to have
 * happened. Recording a webhook again is harmless, and matches it again.
 */
export class Recorder<Tx> {
  readonly #parts: RecordingParts<Tx>;
  readonly #onRecorded: (receipts: readonly Receipt[]) => void;
  readonly #group: GroupCommit<Arrival, Receipt>;
  /** The clientIds of recorded webhooks with other prefixes, whose payments are looked for. */
  readonly #foreign: GroupCommit<string, undefined>;
  /** The look for the payment of each recorded webhook with another prefix. */
  readonly #looks = new WeakMap<Receipt, Promise<unknown>>();
  /** Matching of webhooks that were recorded while their payment was being stored. */
  readonly #matching = new Set<Promise<unknown>>();

  /** @param onRecorded is called after each commit */
  constructor(
    parts: RecordingParts<Tx>,
    deadlineMs: number,
    onRecorded: (receipts: readonly Receipt[]) => void,
  ) {
    this.#parts = parts;
    this.#onRecorded = onRecorded;
    const { maxGroup, store } = parts;
    this.#group = new GroupCommit({
      write: (arrivals: readonly Arrival[]) => this.#commitGroup(arrivals),
      maxGroup,
      deadlineMs,
      refillIterations: store.durable ? 3 : 0,
    });
    this.#foreign = new GroupCommit({
      write: (clientIds: readonly string[]) => this.#matchForeign(clientIds),
      maxGroup,
      deadlineMs,
    });
  }

  /** Resolves after the commit that holds the arrival. */
  async recordArrival(arrival: Arrival): Promise<Receipt> {
    const receipt = await this.#group.add(arrival);
    await this.#looks.get(receipt);
    return receipt;
  }

  /** Resolves after the one commit that holds all arrivals; rejects when it is not known to hold any. */
  async recordArrivals(arrivals: readonly Arrival[]): Promise<readonly Receipt[]> {
    const receipts = await this.#group.addAll(arrivals);
    for (const receipt of receipts) await this.#looks.get(receipt);
    return receipts;
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
    this.#matchLatecomers(arrivals, receipts);
    this.#lookForForeign(receipts);
    this.#onRecorded(receipts);
    return receipts;
  }

  async #commitPlan(arrivals: readonly Arrival[], plans = 1): Promise<Plan> {
    try {
      const hasLookup = arrivals.some(({ kind }) => kind === "lookup");
      return await (hasLookup ? this.#commitInSteps(arrivals) : this.#commitInOneCall(arrivals));
    } catch (error) {
      if (error instanceof PlanOutdated && plans < maxPlans) return this.#commitPlan(arrivals, plans + 1);
      throw error;
    }
  }

  /** Uses the store's `record`, which takes fewer round trips than the steps one by one. */
  async #commitInOneCall(arrivals: readonly Arrival[]): Promise<Plan> {
    const { store, now, newId, policy } = this.#parts;
    let plan: Plan;
    const isRecorded = await store.record(keysOf(arrivals), (locked) => {
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
    if (clientIds.length === 0) return new Map();
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
    this.#track(rematch(this.#parts, waiting)); // The sweep looks again.
  }

  /**
   * Looks for the payments of foreign webhooks after the commit. Their answers wait for it. A commit that came too late for its
   * answers needs it too: the payment may have been adopted before.
   */
  #lookForForeign(receipts: readonly Receipt[]): void {
    for (const receipt of receipts) {
      if (!this.#isForeign(receipt)) continue;
      const look = this.#foreign.add(receipt.clientId);
      this.#looks.set(receipt, look);
      this.#track(look);
    }
  }

  /** Keeps work that nothing may wait for, until it ends. */
  #track(work: Promise<unknown>): void {
    const matching: Promise<unknown> = work.catch(() => {}).finally(() => this.#matching.delete(matching));
    this.#matching.add(matching);
  }

  #isForeign(receipt: Receipt): receipt is Receipt & { clientId: string } {
    const { clientIdPrefix = "" } = this.#parts.policy;
    const { outcome, clientId } = receipt;
    if (clientIdPrefix === "" || clientId === undefined || clientId.startsWith(clientIdPrefix)) return false;
    return outcome === "foreign" || outcome === "duplicate";
  }

  /**
   * Looks again for payments with other prefixes, before their webhooks are answered: one may have been adopted between the
   * decision "foreign" and its commit, and no sweep looks at such a webhook. Copies are looked at too, because the process may have
   * ended right after the first commit.
   */
  async #matchForeign(given: readonly string[]): Promise<undefined[]> {
    const { store } = this.#parts;
    const clientIds = [...new Set(given)];
    // Foreign webhooks can be many, and few are about an adopted payment: a read is cheaper than a transaction.
    const stored = new Set((await store.findMany({ clientIds })).map(({ clientId }) => clientId));
    await rematch(
      this.#parts,
      clientIds.filter((clientId) => stored.has(clientId)),
    );
    return given.map(() => undefined);
  }
}

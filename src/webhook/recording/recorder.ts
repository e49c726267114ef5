import { type WebhookRecord } from "../../store/index.js";
import { type Arrival, type Receipt } from "./arrival.js";
import { GroupCommit } from "../../shared/group-commit.js";
import { LateMatches } from "./late-matches.js";
import { keysOf, planGroup, type Plan } from "./plan-group.js";
import { type RecordingParts } from "./recording-parts.js";

/** The maximum number of plans for one group. Another process can make a plan outdated. */
const maxPlans = 3;

/** Thrown if another process recorded one of the events after `lock`, so that a new plan is needed. */
class PlanOutdated extends Error {}

/**
 * Records verified webhooks. Each call resolves after the commit that holds the webhook. For a webhook with
 * another prefix, the call also waits for the search for an adopted payment. The call rejects if the commit
 * or the search failed, or did not end in time. The caller may record the webhook again. The second call
 * stores no second webhook, and repeats the search.
 */
export class Recorder<Tx> {
  readonly #parts: RecordingParts<Tx>;
  readonly #onRecorded: (receipts: readonly Receipt[]) => void;
  readonly #group: GroupCommit<Arrival, Receipt>;
  readonly #matches: LateMatches<Tx>;

  /** @param onRecorded - Called after each commit. */
  constructor(
    parts: RecordingParts<Tx>,
    deadlineMs: number,
    onRecorded: (receipts: readonly Receipt[]) => void,
  ) {
    this.#parts = parts;
    this.#onRecorded = onRecorded;
    const { maxGroup, store } = parts;
    this.#group = new GroupCommit({
      write: (arrivals: readonly Arrival[]) => this.#write(arrivals),
      maxGroup,
      deadlineMs,
      refillIterations: store.durable ? 3 : 0,
    });
    this.#matches = new LateMatches(parts, deadlineMs);
  }

  /** Resolves after the commit that holds the arrival, and after the search that the arrival may need. */
  async record(arrival: Arrival): Promise<Receipt> {
    const receipt = await this.#group.add(arrival);
    await this.#matches.lookOf(receipt);
    return receipt;
  }

  /** Records all arrivals in one commit. If the call rejects, the commit holds all of them or none. */
  async recordAll(arrivals: readonly Arrival[]): Promise<readonly Receipt[]> {
    const receipts = await this.#group.addAll(arrivals);
    for (const receipt of receipts) await this.#matches.lookOf(receipt);
    return receipts;
  }

  /** Returns whether so many commits hang that new webhooks are rejected immediately. */
  isStuck(): boolean {
    return this.#group.isStuck();
  }

  /** Resolves when no webhook that was recorded until now is still being matched. */
  matched(): Promise<void> {
    return this.#matches.ended();
  }

  async #write(arrivals: readonly Arrival[]): Promise<readonly Receipt[]> {
    await this.#parts.ready();
    const { changes, receipts } = await commitPlan(this.#parts, arrivals);
    if (changes.events.length > 0) this.#parts.announceEvents();
    this.#matches.start(arrivals, receipts);
    this.#onRecorded(receipts);
    return receipts;
  }
}

async function commitPlan<Tx>(parts: RecordingParts<Tx>, arrivals: readonly Arrival[]): Promise<Plan> {
  const commit = arrivals.some(({ kind }) => kind === "lookup") ? commitInSteps : commitInOneCall;
  for (let plans = 1; ; plans++) {
    try {
      return await commit(parts, arrivals);
    } catch (error) {
      if (!(error instanceof PlanOutdated) || plans === maxPlans) throw error;
    }
  }
}

/** Locks, plans and saves with one call of `record`, which takes fewer round trips than three calls. */
async function commitInOneCall<Tx>(
  { store, now, newId, policy }: RecordingParts<Tx>,
  arrivals: readonly Arrival[],
): Promise<Plan> {
  let plan: Plan;
  const isRecorded = await store.record(keysOf(arrivals), (locked) => {
    plan = planGroup(locked, arrivals, { now: now().toISOString(), newId, policy });
    return plan.changes;
  });
  if (!isRecorded) throw new PlanOutdated();
  return plan!;
}

/** Locks, plans and saves in three steps. The plan of a lookup reads more than `lock` does. */
function commitInSteps<Tx>(
  { store, now, newId, policy }: RecordingParts<Tx>,
  arrivals: readonly Arrival[],
): Promise<Plan> {
  return store.transaction(async (tx) => {
    const locked = await store.lock(tx, keysOf(arrivals));
    const { clientIds } = keysOf(arrivals.filter(({ kind }) => kind === "lookup"));
    const parked = clientIds.length > 0 ? await store.rematchable(tx, clientIds) : [];
    const waiting = parked.filter(({ outcome }) => outcome === "unconfirmed");
    const unconfirmed = new Map<string, WebhookRecord>(waiting.map((one) => [one.eventKey, one]));
    const plan = planGroup(locked, arrivals, { now: now().toISOString(), newId, policy, unconfirmed });
    const { takenEventKeys } = await store.save(tx, plan.changes);
    if (takenEventKeys.length > 0) throw new PlanOutdated(takenEventKeys.join(", "));
    return plan;
  });
}

import {
  type Claim,
  type ClaimOptions,
  type CountsOptions,
  type DeadPage,
  type DispatchRecord,
  type EventRecord,
  type HandlerKey,
  type HandlerSummary,
  type HistoryPage,
  type Registration,
  type RetireOptions,
  type RevivedPage,
  type RunKey,
  type Settlement,
  type StoreCounts,
} from "../contract.js";
import {
  afterRun,
  isFinal,
  isLeasedBy,
  isOnDeadPage,
  isOpen,
  revivedBy,
  leftAfter,
  namesWanting,
  summarizedBy,
  undone,
  unknownAmong,
  wants,
} from "../rules/dispatches.js";
import { conflict } from "../rules/payments.js";
import { newestBefore } from "./rows.js";

/** An event with its dispatches. `payload` is not copied when stored, because every reader gets a copy. */
type EventInMemory = EventRecord & { dispatches: Dispatch[] };

interface Dispatch extends Omit<DispatchRecord, "eventId" | "type" | "clientId" | "dueAt"> {
  event: EventInMemory;
  /** The position of the event among all events. */
  seq: number;
  /** The time, by `performance.now()`, when the dispatch is due or its lease ends. 0 means immediately. */
  dueAt: number;
  fence: number;
}

/** The list that events without dispatches share, to save memory. Most events of a test have none. */
const noDispatches: Dispatch[] = [];

/** Events and their dispatches. Only `settle` and `insert` take part in a caller's transaction. */
export class DispatchesTable {
  /**
   * The events by id. The id of a pruned event stays, because the number of ids is the position of the next
   * event.
   */
  readonly #events = new Map<string, EventInMemory | undefined>();
  #handlers: HandlerKey[] = [];
  /** The pending and leased dispatches, in the order of their events. */
  readonly #open = new Set<Dispatch>();
  /** The dispatches that are done, dead or retired. */
  readonly #ended = new Set<Dispatch>();
  readonly #drafted = new Map<string, EventInMemory>();
  #settlements: Settlement[] = [];

  insert({ id, type, clientId, recordedAt, payload }: EventRecord): void {
    if (this.#events.has(id) || this.#drafted.has(id)) throw conflict(`The event ${id} exists already.`);
    const event: EventInMemory = { id, type, recordedAt, payload, dispatches: noDispatches };
    if (clientId !== undefined) event.clientId = clientId;
    this.#drafted.set(id, event);
  }

  register(handlers: readonly Registration[]): void {
    for (const { since, ...handler } of unknownAmong(handlers, this.#handlers)) {
      this.#handlers.push(handler);
      if (since !== undefined) this.#dispatchSince(handler, since);
    }
  }

  /** Adds dispatches to the open ones, and sorts all open dispatches by event. */
  #reopen(dispatches: readonly Dispatch[]): void {
    if (dispatches.length === 0) return;
    const open = [...this.#open, ...dispatches].toSorted(byEvent);
    this.#open.clear();
    for (const dispatch of open) this.#open.add(dispatch);
  }

  /** Makes the missing dispatches of a handler for the events since a time. */
  #dispatchSince(handler: HandlerKey, since: string): void {
    const made: Dispatch[] = [];
    for (const [index, event] of [...this.#events.values()].entries()) {
      if (!event || event.recordedAt < since || !wants(handler, event.type)) continue;
      if (event.dispatches.some((one) => one.handler === handler.name)) continue;
      const dispatch: Dispatch = { event, seq: index + 1, handler: handler.name, fence: 0, ...undone };
      event.dispatches = [...event.dispatches, dispatch];
      made.push(dispatch);
    }
    this.#reopen(made);
  }

  claim({ handlers, limit, leaseMs }: ClaimOptions): Claim[] {
    const now = performance.now();
    const claims: Claim[] = [];
    for (const dispatch of this.#open) {
      if (claims.length >= limit) break;
      const { event, handler } = dispatch;
      if (dispatch.dueAt > now) continue;
      if (!handlers.some((key) => key.name === handler && wants(key, event.type))) continue;
      dispatch.state = "leased";
      dispatch.dueAt = now + leaseMs;
      dispatch.fence += 1;
      dispatch.attempt += 1;
      const { fence, attempt, failures } = dispatch;
      claims.push({ event: withoutDispatches(event), handler, fence, attempt, failures });
    }
    return claims;
  }

  settle(settlement: Settlement): boolean {
    if (!this.#leased(settlement)) return false;
    this.#settlements.push(settlement);
    return true;
  }

  renew(run: RunKey, leaseMs: number): boolean {
    const dispatch = this.#leased(run);
    if (dispatch) dispatch.dueAt = performance.now() + leaseMs;
    return dispatch !== undefined;
  }

  counts({ except = [] }: CountsOptions = {}): Omit<StoreCounts, "parked"> {
    const dead = [...this.#ended].filter(({ state }) => state === "dead").length;
    const oldest = [...this.#open].find(({ handler }) => !except.includes(handler));
    return { dead, ...(oldest && { oldestUndoneAt: oldest.event.recordedAt }) };
  }

  summarize(): HandlerSummary[] {
    const dead = [...this.#ended].filter(({ state }) => state === "dead");
    const all = { waiting: [...this.#open], dead };
    return summarizedBy(
      this.#handlers,
      (kind, name) => all[kind].filter(({ handler }) => handler === name).length,
    );
  }

  history(clientId: string, page: HistoryPage): { events: EventRecord[]; dispatches: DispatchRecord[] } {
    // There is no index, because only people call this method, and every webhook would have to update the
    // index.
    const found = [...this.#events.values()].flatMap((event) => (event?.clientId === clientId ? event : []));
    const events = newestBefore(found, page, ({ event }) => event?.id);
    const dispatches = events.flatMap((event) => event.dispatches);
    return { events: events.map(withoutDispatches), dispatches: dispatches.map(recordOf) };
  }

  dead(page: DeadPage): DispatchRecord[] {
    const { revive, limit, run, after } = page;
    const last =
      after && this.#events.get(after.eventId)?.dispatches.find(({ handler }) => handler === after.handler);
    const found = [...this.#ended]
      .filter(({ state }) => state === "dead")
      .filter((one) => isOnDeadPage(page, recordOf(one)))
      .filter((one) => !last || byEvent(last, one) < 0)
      .toSorted(byEvent)
      .slice(0, limit);
    const records = found.map(recordOf);
    for (const dispatch of revive ? found : []) {
      this.#ended.delete(dispatch);
      const { past } = revivedBy(run, dispatch);
      delete dispatch.error;
      delete dispatch.settledAt;
      Object.assign(dispatch, undone, { past }, run !== undefined && { run });
    }
    if (revive) this.#reopen(found);
    return records;
  }

  revived({ run, after, limit }: RevivedPage): DispatchRecord[] {
    const placeOf = ({ eventId, handler }: Pick<DispatchRecord, "eventId" | "handler">) =>
      `${eventId} ${handler}`;
    return [...this.#open, ...this.#ended]
      .filter((one) => one.run === run)
      .map(recordOf)
      .toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))
      .filter((one) => after === undefined || placeOf(one) > placeOf(after))
      .slice(0, limit);
  }

  /**
   * Forgets registrations, and retires at most `limit` of their dispatches. Returns the number of retired
   * dispatches.
   */
  retire(options: RetireOptions): number {
    const { handler, limit } = options;
    this.#handlers = leftAfter(options, this.#handlers);
    const left = this.#handlers.filter(({ name }) => name === handler);
    const found = [...this.#open, ...this.#ended]
      .filter(
        (one) => one.handler === handler && !isFinal(one) && !left.some((key) => wants(key, one.event.type)),
      )
      .slice(0, limit);
    for (const dispatch of found) {
      this.#open.delete(dispatch);
      this.#ended.add(Object.assign(dispatch, { state: "retired", settledAt: new Date().toISOString() }));
    }
    return found.length;
  }

  /** Deletes events whose dispatches are all final. Returns the number of deleted events. */
  prune(before: string, limit: number): number {
    let pruned = 0;
    for (const [id, event] of this.#events) {
      if (pruned >= limit) break;
      if (!event || event.recordedAt >= before || !event.dispatches.every(isFinal)) continue;
      for (const dispatch of event.dispatches) this.#ended.delete(dispatch);
      this.#events.set(id, undefined);
      pruned += 1;
    }
    return pruned;
  }

  commit(): void {
    for (const event of this.#drafted.values()) this.#expand(event);
    for (const settlement of this.#settlements) this.#apply(settlement);
    this.rollback();
  }

  rollback(): void {
    this.#drafted.clear();
    this.#settlements = [];
  }

  #expand(event: EventInMemory): void {
    this.#events.set(event.id, event);
    if (this.#handlers.length === 0) return;
    const seq = this.#events.size;
    const names = namesWanting(this.#handlers, event.type);
    event.dispatches = names.map((handler) => ({ event, seq, handler, fence: 0, ...undone }));
    for (const dispatch of event.dispatches) this.#open.add(dispatch);
  }

  #leased(run: RunKey): Dispatch | undefined {
    const dispatch = this.#events.get(run.eventId)?.dispatches.find((one) => one.handler === run.handler);
    return dispatch && isLeasedBy(run, dispatch) ? dispatch : undefined;
  }

  #apply(settlement: Settlement): void {
    const dispatch = this.#leased(settlement);
    if (!dispatch) return; // Settled twice in one transaction.
    Object.assign(dispatch, afterRun(dispatch, settlement, new Date().toISOString()));
    const { retryInMs } = settlement;
    if (isOpen(dispatch)) dispatch.dueAt = retryInMs ? performance.now() + retryInMs : 0;
    else {
      this.#open.delete(dispatch);
      this.#ended.add(dispatch);
    }
  }
}

/** Returns the event without its dispatches, and with a copy of its payload. */
function withoutDispatches({ dispatches: _, ...event }: EventInMemory): EventRecord {
  return { ...event, payload: JSON.parse(JSON.stringify(event.payload)) as EventRecord["payload"] };
}

function byEvent(a: Dispatch, b: Dispatch): number {
  return a.seq - b.seq || (a.handler < b.handler ? -1 : 1);
}

function recordOf({ event, seq: _seq, dueAt: due, fence: _fence, ...state }: Dispatch): DispatchRecord {
  const { id: eventId, type, clientId } = event;
  const isLater = state.state === "pending" && due > 0;
  const dueAt = new Date(Date.now() + due - performance.now()).toISOString();
  return { eventId, type, ...(clientId !== undefined && { clientId }), ...state, ...(isLater && { dueAt }) };
}

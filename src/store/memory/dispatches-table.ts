import { TillkitError } from "../../errors/index.js";
import {
  type Claim,
  type DeadPage,
  type DispatchRecord,
  type EventRecord,
  type HandlerKey,
  type Settlement,
} from "../payment-store.js";

/** The payload as it was handed over: it is read-only, and whoever asks for the event gets a copy. */
type KeptEvent = EventRecord & { dispatches: Dispatch[] };

interface Dispatch {
  event: KeptEvent;
  /** The place of the event among all. */
  seq: number;
  handler: string;
  state: "pending" | "leased" | "done" | "dead";
  /** When a pending one is due, or a leased one's lease ends; by the steady clock of this process. */
  dueAt: number;
  fence: number;
  attempt: number;
  failures: number;
  error?: string;
  settledAt?: string;
}

/** Most shops have few handlers, and most events of a test none: no list is made for those. */
const none: Dispatch[] = [];

/** Events and their dispatches. Only `settle` and `insert` are part of a caller's transaction. */
export class DispatchesTable {
  /** By id; an event that was pruned leaves its id. */
  readonly #events = new Map<string, KeptEvent | undefined>();
  readonly #handlers = new Map<string, HandlerKey>();
  /** In the order of their events; only those that may still be claimed. */
  readonly #open = new Set<Dispatch>();
  readonly #ended = new Set<Dispatch>();
  readonly #drafted = new Map<string, KeptEvent>();
  #settlements: Settlement[] = [];

  insert(event: EventRecord): void {
    const { id, type, clientId, recordedAt, payload } = event;
    if (this.#events.has(id) || this.#drafted.has(id)) {
      throw new TillkitError("store_conflict", `The event ${id} exists already.`);
    }
    const kept: KeptEvent = { id, type, recordedAt, payload, dispatches: none };
    if (clientId !== undefined) kept.clientId = clientId;
    this.#drafted.set(id, kept);
  }

  register(handlers: readonly HandlerKey[]): void {
    for (const handler of handlers) this.#handlers.set(`${handler.event} ${handler.name}`, handler);
  }

  claim({
    handlers,
    limit,
    leaseMs,
  }: {
    handlers: readonly HandlerKey[];
    limit: number;
    leaseMs: number;
  }): Claim[] {
    const now = performance.now();
    const claims: Claim[] = [];
    for (const dispatch of this.#open) {
      if (claims.length >= limit) break;
      const { event, handler } = dispatch;
      const isNamed = handlers.some(
        (key) => key.name === handler && (key.event === "*" || key.event === event.type),
      );
      if (!isNamed || dispatch.dueAt > now) continue;
      dispatch.state = "leased";
      dispatch.dueAt = now + leaseMs;
      dispatch.fence += 1;
      dispatch.attempt += 1;
      const { fence, attempt, failures } = dispatch;
      claims.push({ event: eventOf(event), handler, fence, attempt, failures });
    }
    return claims;
  }

  settle(settlement: Settlement): boolean {
    const { eventId, handler, fence } = settlement;
    if (!this.#leased(eventId, handler, fence)) return false;
    this.#settlements.push(settlement);
    return true;
  }

  renew(eventId: string, handler: string, fence: number, leaseMs: number): boolean {
    const dispatch = this.#leased(eventId, handler, fence);
    if (!dispatch) return false;
    dispatch.dueAt = performance.now() + leaseMs;
    return true;
  }

  countDead(): number {
    return [...this.#ended].filter(({ state }) => state === "dead").length;
  }

  oldestUndoneAt(): string | undefined {
    const [oldest] = this.#open;
    return oldest?.event.recordedAt;
  }

  /** The events about one clientId, and their dispatches. */
  history(clientId: string, limit: number): { events: EventRecord[]; dispatches: DispatchRecord[] } {
    const events: KeptEvent[] = [];
    // Looked for and not indexed: a person asks for it, and every webhook would pay.
    for (const event of this.#events.values())
      if (event?.clientId === clientId && events.length < limit) events.push(event);
    const dispatches = events.flatMap((event) => event.dispatches);
    return { events: events.map(eventOf), dispatches: dispatches.slice(0, limit).map(recordOf) };
  }

  /** Dead dispatches; with `revive`, pending again from now on. */
  dead({ eventId, handler, type, revive, limit }: DeadPage): DispatchRecord[] {
    const found = [...this.#ended]
      .filter(({ state }) => state === "dead")
      .filter((one) => eventId === undefined || one.event.id === eventId)
      .filter((one) => handler === undefined || one.handler === handler)
      .filter((one) => type === undefined || one.event.type === type)
      .toSorted((a, b) => a.seq - b.seq)
      .slice(0, limit);
    const records = found.map(recordOf);
    if (!revive) return records;
    for (const dispatch of found) {
      this.#ended.delete(dispatch);
      delete dispatch.error;
      delete dispatch.settledAt;
      this.#open.add(
        Object.assign(dispatch, { state: "pending", dueAt: 0, attempt: 0, failures: 0 } as const),
      );
    }
    return records;
  }

  /** Forgets events that are done with. */
  prune(before: string, limit: number): number {
    let pruned = 0;
    for (const [id, event] of this.#events) {
      if (pruned >= limit) break;
      if (!event || event.recordedAt >= before || event.dispatches.length === 0) continue;
      if (event.dispatches.some(({ state }) => state !== "done")) continue;
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

  #expand(event: KeptEvent): void {
    this.#events.set(event.id, event);
    const seq = this.#events.size;
    if (this.#handlers.size === 0) return;
    const untried = { state: "pending", dueAt: 0, fence: 0, attempt: 0, failures: 0 } as const;
    event.dispatches = this.#namesFor(event.type).map((handler) => ({ event, seq, handler, ...untried }));
    for (const dispatch of event.dispatches) this.#open.add(dispatch);
  }

  /** A name may want this event and all of them; it gets it once. */
  #namesFor(type: EventRecord["type"]): string[] {
    const wanting = [...this.#handlers.values()].filter(({ event }) => event === "*" || event === type);
    return [...new Set(wanting.map(({ name }) => name))];
  }

  #leased(eventId: string, handler: string, fence: number): Dispatch | undefined {
    const dispatch = this.#events.get(eventId)?.dispatches.find((one) => one.handler === handler);
    return dispatch?.state === "leased" && dispatch.fence === fence ? dispatch : undefined;
  }

  #apply({ eventId, handler, fence, state, retryInMs = 0, error }: Settlement): void {
    const dispatch = this.#leased(eventId, handler, fence);
    if (!dispatch) return; // Settled twice in one transaction.
    if (error !== undefined) dispatch.error = error;
    dispatch.settledAt = new Date().toISOString();
    if (state === "done" || state === "dead") {
      dispatch.state = state;
      this.#open.delete(dispatch);
      this.#ended.add(dispatch);
      return;
    }
    dispatch.state = "pending";
    dispatch.dueAt = state === "failed" ? performance.now() + retryInMs : 0;
    if (state === "failed") dispatch.failures += 1;
    else dispatch.attempt -= 1;
  }
}

/** As a database would give it back: plain JSON, and a copy. */
function eventOf({ dispatches: _, ...event }: KeptEvent): EventRecord {
  return { ...event, payload: JSON.parse(JSON.stringify(event.payload)) as EventRecord["payload"] };
}

function recordOf({ event, handler, state, attempt, failures, error, settledAt }: Dispatch): DispatchRecord {
  const { id: eventId, type, clientId } = event;
  return {
    eventId,
    type,
    ...(clientId !== undefined && { clientId }),
    handler,
    state,
    attempt,
    failures,
    ...(error !== undefined && { error }),
    ...(settledAt !== undefined && { settledAt }),
  };
}

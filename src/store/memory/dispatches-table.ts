import { TillkitError } from "../../errors/index.js";
import {
  type Claim,
  type DeadPage,
  type DispatchRecord,
  type EventRecord,
  type HandlerKey,
  type Settlement,
} from "../payment-store.js";

/** The payload as text, which nobody can change, and which costs half of a copy. */
type KeptEvent = Omit<EventRecord, "payload"> & { payload: string };

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

/** Events and their dispatches. Only `settle` and `insert` are part of a caller's transaction. */
export class DispatchesTable {
  readonly #eventIds = new Set<string>();
  /** The events that were not pruned, by their clientId. */
  readonly #byClientId = new Map<string, KeptEvent[]>();
  readonly #handlers = new Map<string, HandlerKey>();
  /** In the order of their events; only those that may still be claimed. */
  readonly #open = new Map<string, Dispatch>();
  readonly #ended = new Map<string, Dispatch>();
  #drafted = new Map<string, KeptEvent>();
  #settlements: Settlement[] = [];

  insert(event: EventRecord): void {
    if (this.#eventIds.has(event.id) || this.#drafted.has(event.id)) {
      throw new TillkitError("store_conflict", `The event ${event.id} exists already.`);
    }
    this.#drafted.set(event.id, { ...event, payload: JSON.stringify(event.payload) });
  }

  remember(handlers: readonly HandlerKey[]): void {
    for (const handler of handlers) this.#handlers.set(`${handler.event} ${handler.name}`, handler);
  }

  claim(handlers: readonly HandlerKey[], limit: number, leaseMs: number): Claim[] {
    const now = performance.now();
    const claims: Claim[] = [];
    for (const dispatch of this.#open.values()) {
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
    const dispatch = this.#open.get(`${eventId} ${handler}`);
    if (!dispatch || dispatch.state !== "leased" || dispatch.fence !== fence) return false;
    this.#settlements.push(settlement);
    return true;
  }

  renew(eventId: string, handler: string, fence: number, leaseMs: number): boolean {
    const dispatch = this.#open.get(`${eventId} ${handler}`);
    if (!dispatch || dispatch.state !== "leased" || dispatch.fence !== fence) return false;
    dispatch.dueAt = performance.now() + leaseMs;
    return true;
  }

  countDead(): number {
    return [...this.#ended.values()].filter(({ state }) => state === "dead").length;
  }

  oldestUndoneAt(): string | undefined {
    const [oldest] = this.#open.values();
    return oldest?.event.recordedAt;
  }

  /** The events about one clientId, and their dispatches. */
  history(clientId: string, limit: number): { events: EventRecord[]; dispatches: DispatchRecord[] } {
    const events = (this.#byClientId.get(clientId) ?? []).slice(0, limit);
    const ids = new Set(events.map(({ id }) => id));
    const dispatches = [...this.#open.values(), ...this.#ended.values()].filter(({ event }) =>
      ids.has(event.id),
    );
    return { events: events.map(eventOf), dispatches: dispatches.slice(0, limit).map(recordOf) };
  }

  /** Dead dispatches; with `revive`, pending again from now on. */
  dead({ eventId, handler, type, revive, limit }: DeadPage): DispatchRecord[] {
    const found = [...this.#ended]
      .filter(([, { state }]) => state === "dead")
      .filter(([, one]) => eventId === undefined || one.event.id === eventId)
      .filter(([, one]) => handler === undefined || one.handler === handler)
      .filter(([, one]) => type === undefined || one.event.type === type)
      .toSorted(([, a], [, b]) => a.seq - b.seq)
      .slice(0, limit);
    const records = found.map(([, dispatch]) => recordOf(dispatch));
    if (!revive) return records;
    for (const [key, { error: _, settledAt: __, ...dispatch }] of found) {
      this.#ended.delete(key);
      this.#open.set(key, { ...dispatch, state: "pending", dueAt: 0, attempt: 0, failures: 0 });
    }
    return records;
  }

  /** Forgets events that are done with. */
  prune(before: string, limit: number): number {
    const dead = [...this.#ended.values()].filter(({ state }) => state === "dead");
    const kept = new Set([...this.#open.values(), ...dead].map(({ event }) => event.id));
    const pruned = new Set<string>();
    for (const [key, { event }] of this.#ended) {
      if (kept.has(event.id) || event.recordedAt >= before) continue;
      if (!pruned.has(event.id) && pruned.size >= limit) continue;
      pruned.add(event.id);
      this.#ended.delete(key);
      const { clientId = "" } = event;
      const left = this.#byClientId.get(clientId)?.filter(({ id }) => id !== event.id);
      this.#byClientId.set(clientId, left ?? []);
    }
    return pruned.size;
  }

  commit(): void {
    for (const event of this.#drafted.values()) this.#expand(event);
    for (const settlement of this.#settlements) this.#apply(settlement);
    this.rollback();
  }

  rollback(): void {
    this.#drafted = new Map();
    this.#settlements = [];
  }

  #expand(event: KeptEvent): void {
    this.#eventIds.add(event.id);
    if (event.clientId !== undefined) {
      const ofClientId = this.#byClientId.get(event.clientId);
      if (ofClientId) ofClientId.push(event);
      else this.#byClientId.set(event.clientId, [event]);
    }
    for (const { event: wanted, name } of this.#handlers.values()) {
      if (wanted !== "*" && wanted !== event.type) continue;
      const dispatch = {
        event,
        seq: this.#eventIds.size,
        handler: name,
        state: "pending",
        dueAt: 0,
        fence: 0,
        attempt: 0,
        failures: 0,
      } as const;
      this.#open.set(`${event.id} ${name}`, { ...dispatch });
    }
  }

  #apply({ eventId, handler, state, retryInMs = 0, error }: Settlement): void {
    const key = `${eventId} ${handler}`;
    const dispatch = this.#open.get(key)!;
    if (error !== undefined) dispatch.error = error;
    dispatch.settledAt = new Date().toISOString();
    if (state === "done" || state === "dead") {
      dispatch.state = state;
      this.#open.delete(key);
      this.#ended.set(key, dispatch);
      return;
    }
    dispatch.state = "pending";
    dispatch.dueAt = state === "failed" ? performance.now() + retryInMs : 0;
    if (state === "failed") dispatch.failures += 1;
    else dispatch.attempt -= 1;
  }
}

function eventOf(event: KeptEvent): EventRecord {
  return { ...event, payload: JSON.parse(event.payload) as Record<string, unknown> };
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

import { hasCode } from "../errors/index.js";
import { type HandlerKey, type NoteRecord, type PaymentStore } from "../store/index.js";

/** One change that a person made to a handler. */
export interface HandlerChange {
  /** The action of the person. */
  did: "paused" | "resumed" | "limited" | "retired";
  /** The person who made the change. */
  by?: string;
  /** The reason, as the person wrote it. */
  reason?: string;
  /** With `limited`: the new limit, or `null` if the limit was removed. */
  perSecond?: number | null;
  /** The pause with its reason, or the limit, before this change. Absent if there was neither. */
  before?: string;
  /** With `retired`: the number of dispatches that never run again. */
  retired?: number;
  /** The `key` of the call, if it had one. */
  key?: string;
  /** The time of the change: ISO 8601 UTC. */
  at: string;
}

/** The decisions of people about a handler. */
export interface HandlerControl {
  /** The durable name of the handler. */
  name: string;
  /** The reason of the pause, the person, and the start. Absent if the handler is not paused. */
  paused?: { reason: string; by: string; at: string };
  /** The maximum number of the handler's runs per second, over all processes. Absent if there is no limit. */
  perSecond?: number;
  /** The last 50 changes, oldest first. */
  changes: readonly HandlerChange[];
}

/** The kind of the notes that contain a {@link HandlerControl}. */
export const handlerNotes = "handler";

/** The kind of the notes that contain the time until which a handler's limit is used up. */
const rateNotes = "rate";

/** The maximum number of tries to change a note that other processes change at the same time. */
const maxTries = 200;

/** The minimum wait for a limited handler, so that a high limit does not cause many small claims. */
const minWaitMs = 100;

/** The maximum number of processes that may claim the runs of one second at the same moment. */
const maxBursts = 100;

/** Returns the decisions that a note contains. */
export function controlOf({ id, value }: Pick<NoteRecord, "id" | "value">): HandlerControl {
  return { changes: [], ...value, name: id };
}

/** Reads the decisions about handlers. Handlers without a decision are not in the list. */
export async function readControls(store: Pick<PaymentStore, "notes">): Promise<HandlerControl[]> {
  return (await store.notes({ kind: handlerNotes })).map(controlOf);
}

/** Handlers whose dispatches may be claimed, and the maximum number of these dispatches. */
export interface Permit {
  handlers: HandlerKey[];
  limit: number;
  /** Counts claimed dispatches towards the handler's limit. */
  charge?: (count: number) => Promise<void>;
}

/** The parts of the kit on which permits depend. */
export interface ControlParts<Tx> {
  store: Pick<PaymentStore<Tx>, "notes" | "transaction" | "save">;
  now: () => Date;
  /** The time for which decisions are used before they are read again. */
  pollMs: number;
}

/** Permits handlers to run, as people decided. Reads the decisions at most once in `pollMs`. */
export class HandlerControls<Tx> {
  readonly #parts: ControlParts<Tx>;
  #controls = new Map<string, HandlerControl>();
  #readAt = -Infinity;
  /** The time until a handler that has reached its limit may run again. */
  waitMs = Infinity;

  constructor(parts: ControlParts<Tx>) {
    this.#parts = parts;
  }

  /** Reads the decisions again at the next claim. */
  forget(): void {
    this.#readAt = -Infinity;
  }

  /** Returns the permits of these handlers, each for at most `limit` dispatches. */
  async permit(handlers: readonly HandlerKey[], limit: number): Promise<Permit[]> {
    const startedAt = performance.now();
    if (startedAt - this.#readAt >= this.#parts.pollMs) {
      // Set before the read, because `forget` may be called during the read.
      this.#readAt = startedAt;
      const controls = await readControls(this.#parts.store).catch((error: unknown) => {
        this.forget();
        throw error;
      });
      this.#controls = new Map(controls.map((control) => [control.name, control]));
    }
    this.waitMs = Infinity;
    const limitOf = ({ name }: HandlerKey): number | undefined => this.#controls.get(name)?.perSecond;
    const running = handlers.filter(({ name }) => !this.#controls.get(name)?.paused);
    const free = running.filter((key) => limitOf(key) === undefined);
    const permits: Permit[] = free.length > 0 ? [{ handlers: free, limit }] : [];
    for (const name of new Set(running.filter((key) => limitOf(key) !== undefined).map((key) => key.name))) {
      const own = running.filter((key) => key.name === name);
      const rate = new Rate(this.#parts, name, limitOf(own[0]!)!);
      const { count, waitMs } = await rate.left();
      if (count > 0) permits.push({ handlers: own, limit: Math.min(count, limit), charge: rate.charge });
      else this.waitMs = Math.min(this.waitMs, Math.max(minWaitMs, waitMs));
    }
    return permits;
  }
}

/**
 * The rest of one handler's limit, over all processes. A note contains the time until which the limit is used
 * up, and each charge moves this time forward. All runs of one second may begin at the same moment.
 */
class Rate<Tx> {
  readonly #parts: ControlParts<Tx>;
  readonly #name: string;
  /** The time between two runs at the limit. */
  readonly #stepMs: number;

  constructor(parts: ControlParts<Tx>, name: string, perSecond: number) {
    this.#parts = parts;
    this.#name = name;
    this.#stepMs = 1000 / perSecond;
  }

  async left(): Promise<{ count: number; waitMs: number }> {
    const { usedUntil } = await this.#read();
    const leftMs = this.#parts.now().getTime() - usedUntil;
    return { count: Math.floor(leftMs / this.#stepMs), waitMs: this.#stepMs - leftMs };
  }

  /**
   * Counts claimed dispatches towards the limit. Tries again if another process changed the note. Of the
   * processes that try at the same moment, one succeeds.
   */
  charge = async (count: number): Promise<void> => {
    for (let tries = 1; ; tries++) {
      const { version, usedUntil, at } = await this.#read();
      const value = { usedUntil: usedUntil + count * this.#stepMs, at };
      const notes = [{ kind: rateNotes, id: this.#name, version, value }];
      try {
        return void (await this.#parts.store.transaction((tx) => this.#parts.store.save(tx, { notes })));
      } catch (error) {
        if (tries === maxTries || !hasCode(error, "store_conflict")) throw error;
      }
    }
  };

  async #read(): Promise<{ version: number; usedUntil: number; at: number }> {
    const [note] = await this.#parts.store.notes({ kind: rateNotes, ids: [this.#name] });
    const at = this.#parts.now().getTime();
    // Without rounding up, one run could take slightly longer than this time, and would never be allowed.
    const burstMs = Math.max(1000, Math.ceil(this.#stepMs));
    const used = Number(note?.value["usedUntil"] ?? 0);
    // An earlier version of the kit stored no time of the charge.
    const chargedAt = Number(note?.value["at"] ?? used);
    // If this time is far ahead, the clock has been set back since. If `used` is far ahead of it, the limit
    // was lower at the charge.
    const isSetBack = chargedAt > at + 10 * burstMs;
    const usedUntil = isSetBack ? 0 : Math.min(used, chargedAt + maxBursts * burstMs);
    return { version: note?.version ?? 0, usedUntil: Math.max(usedUntil, at - burstMs), at };
  }
}

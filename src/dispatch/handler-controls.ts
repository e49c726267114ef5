import { hasCode } from "../errors/index.js";
import { type HandlerKey, type NoteRecord, type PaymentStore } from "../store/index.js";

/** One change that a person made to a handler. */
export interface HandlerChange {
  /** What the person did. */
  did: "paused" | "resumed" | "limited" | "retired";
  /** Who. */
  by?: string;
  /** Why, as the person wrote it. */
  reason?: string;
  /** With `limited`: the new limit; `null` where it was removed. */
  perSecond?: number | null;
  /** What it was before: until then paused and why, or its limit. Absent where it ran without a limit. */
  before?: string;
  /** With `retired`: the number of dispatches that never run again. */
  retired?: number;
  /** The `key` of the call, if it had one. */
  key?: string;
  /** ISO 8601 UTC. */
  at: string;
}

/** What people decided about a handler. */
export interface HandlerControl {
  /** The durable name of the handler. */
  name: string;
  /** Why it does not run at present, who paused it, and since when. Absent while it runs. */
  paused?: { reason: string; by: string; at: string };
  /** The number of its runs in a second, over all processes. Absent where it has no limit. */
  perSecond?: number;
  /** The last 50 changes, oldest first. */
  changes: readonly HandlerChange[];
}

/** The kind of the notes of {@link HandlerControl}. */
export const handlerNotes = "handler";

/** The kind of the notes that say how much of a limit is used up. */
const rateNotes = "rate";

/** The number of processes that may change the note of one handler at the same time. */
const maxTries = 20;

/** A limited handler takes what is due in steps, so that a high limit does not mean many small claims. */
const minWaitMs = 100;

/** Returns what people decided about the handler of a note. */
export function controlOf({ id, value }: Pick<NoteRecord, "id" | "value">): HandlerControl {
  return { changes: [], ...value, name: id };
}

/** Reads what people decided about handlers. Those about whom nobody decided anything are left out. */
export async function readControls(store: Pick<PaymentStore, "notes">): Promise<HandlerControl[]> {
  return (await store.notes({ kind: handlerNotes })).map(controlOf);
}

/** Handlers that may be claimed, and how many of their dispatches. */
export interface Permit {
  handlers: HandlerKey[];
  limit: number;
  /** Notes that so many dispatches were claimed. */
  charge?: (count: number) => Promise<void>;
}

/** What the permits depend on. */
export interface ControlParts<Tx> {
  store: Pick<PaymentStore<Tx>, "notes" | "transaction" | "save">;
  now: () => Date;
  /** The time for which what was read holds. */
  pollMs: number;
}

/** Says which handlers may run, by what people decided. It reads that once in each poll. */
export class HandlerControls<Tx> {
  readonly #parts: ControlParts<Tx>;
  #controls = new Map<string, HandlerControl>();
  #readAt = -Infinity;
  /** The time after which a handler may run that has used up its limit. */
  waitMs = Infinity;

  constructor(parts: ControlParts<Tx>) {
    this.#parts = parts;
  }

  /** Reads the decisions again at the next claim. */
  forget(): void {
    this.#readAt = -Infinity;
  }

  /** Returns what may be claimed of these handlers, `limit` of each permit at most. Rejects where the store cannot be read. */
  async permit(handlers: readonly HandlerKey[], limit: number): Promise<Permit[]> {
    const startedAt = performance.now();
    if (startedAt - this.#readAt >= this.#parts.pollMs) {
      const controls = await readControls(this.#parts.store);
      this.#controls = new Map(controls.map((control) => [control.name, control]));
      this.#readAt = startedAt;
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
 * How much of one handler's limit is left, over all processes. A note has the time up to which runs are used up, so that what is
 * charged late is still charged. A second's runs may begin at the same time.
 */
class Rate<Tx> {
  readonly #parts: ControlParts<Tx>;
  readonly #name: string;
  /** The time of one run. */
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

  /** Another process may charge at the same time. Where the store fails, the claimed dispatches run all the same. */
  charge = async (count: number): Promise<void> => {
    for (let tries = 0; tries < maxTries; tries++) {
      const { version, usedUntil } = await this.#read();
      const value = { usedUntil: usedUntil + count * this.#stepMs };
      const notes = [{ kind: rateNotes, id: this.#name, version, value }];
      try {
        return void (await this.#parts.store.transaction((tx) => this.#parts.store.save(tx, { notes })));
      } catch (error) {
        if (!hasCode(error, "store_conflict")) throw error;
      }
    }
  };

  async #read(): Promise<{ version: number; usedUntil: number }> {
    const [note] = await this.#parts.store.notes({ kind: rateNotes, ids: [this.#name] });
    const now = this.#parts.now().getTime();
    const burstMs = Math.max(1000, this.#stepMs);
    const used = Number(note?.value["usedUntil"] ?? 0);
    // A clock that was put back since wrote what is far ahead.
    const usedUntil = used > now + 10 * burstMs ? now - burstMs : Math.max(used, now - burstMs);
    return { version: note?.version ?? 0, usedUntil };
  }
}

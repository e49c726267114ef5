import { TillkitError } from "../errors/index.js";
import { type Notify } from "../model/notice-map.js";
import { type PaymentStore } from "../store/index.js";
import { joinCalls } from "../shared/join-calls.js";
import { storeInTime, withTimeout } from "../shared/with-timeout.js";
import { type Receipt } from "../webhook/recording/arrival.js";
import { type Spool } from "../webhook/spool/spool.js";
import { type Tie } from "../webhook/spool/store-tie.js";
import { type Core } from "./core.js";

/** The parts of the kit that the watch uses. */
export interface WatchParts<Tx> {
  store: PaymentStore<Tx>;
  spool: Pick<Spool, "tie"> | undefined;
  /** Returns the identity of the store. `undefined` for a store that is not durable. */
  identify: (() => Promise<string>) | undefined;
  notify: Notify;
  /** Called if the store went back, so that the kit can ask the service about the lost changes. */
  onWentBack: () => void;
}

/** The interval at which the watch asks the store. */
const checkMs = 10_000;

/** The maximum time of a check. A call of the store that never ends would otherwise stop all later checks. */
const maxCheckMs = 60_000;

/** The length of a time slot. One row of each slot is remembered until the next check. */
const slotMs = 500;

/** The time after which the store is asked for its identity again. A call of the store may never end. */
const maxIdentifyMs = 30_000;

/** The maximum time by which a store that does not answer delays the end of the kit. */
const maxCloseMs = 2000;

const maxRemembered = 2 * (checkMs / slotMs);

/** A row of the store: the receiptId of a webhook, or the clientId of a payment. */
type Row = Omit<Tie, "store">;

function isSame(row: Row, other: Row | undefined): boolean {
  return row.webhook === other?.webhook && row.payment === other?.payment;
}

/**
 * Returns a function that asks the store for its identity, with a limit of time. A drain of the spool, the
 * watch and `close` all wait for one request. If the store hangs, a new request starts after `maxIdentifyMs`.
 */
export function identifier<Tx>(
  { store, newId }: Pick<Core<Tx>, "store" | "newId">,
  timeoutMs: number,
): () => Promise<string> {
  const identify = joinCalls(() => storeInTime(store.identify(newId()), maxIdentifyMs));
  return () => storeInTime(identify(), timeoutMs, { unref: false });
}

/**
 * Notices that the store went back in time or was replaced, while the process runs or before its start. A
 * store keeps the rows of webhooks and payments forever. So if a row that the store acknowledged is gone, the
 * store is an older copy. The watch remembers the rows of the last seconds, and the spool's directory
 * remembers the last one.
 */
export class StoreWatch<Tx> {
  readonly #parts: WatchParts<Tx>;
  #recent: Row[] = [];
  #slotEndsAt = -Infinity;
  /** The newest row that a check has found in the store. */
  #newest: Row | undefined;
  /** The row that the spool's directory remembers. */
  #kept: Row | undefined;
  /** The row that another process left in the spool's directory, until a check has asked for it. */
  #recalled: Row | undefined;
  #identity: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #checking: Promise<void> | undefined;
  /** The reason why the health is degraded. `undefined` while the store has never gone back. */
  problem: TillkitError | undefined;

  constructor(parts: WatchParts<Tx>) {
    this.#parts = parts;
  }

  /** Remembers webhooks that the store has acknowledged. */
  noteRecorded(receipts: readonly Receipt[]): void {
    const last = receipts.findLast(({ outcome }) => outcome !== "duplicate" && outcome !== "spooled");
    if (last) this.#note({ webhook: last.receiptId });
  }

  /** Remembers a payment that the store has acknowledged. */
  noteCreated(clientId: string): void {
    this.#note({ payment: clientId });
  }

  #note(row: Row): void {
    const now = performance.now();
    if (now < this.#slotEndsAt) this.#recent.pop();
    else this.#slotEndsAt = now + slotMs;
    this.#recent.push(row);
    if (this.#recent.length > maxRemembered) this.#recent.shift();
  }

  /** Resolves after the first check, and starts a check every 10 s. Never rejects. */
  async start(): Promise<void> {
    if (!this.#parts.store.durable || this.#timer) return;
    this.#timer = setInterval(() => void this.#checkOnce(), checkMs).unref();
    await this.#checkOnce();
  }

  /**
   * Waits for the running check, and checks the last rows, so that the directory remembers the newest
   * one. If the store does not answer, waits at most 2 s for each of the two checks.
   */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await withTimeout(Promise.resolve(this.#checking), maxCloseMs);
    if (this.#recent.length > 0) await withTimeout(this.#checkOnce(), maxCloseMs);
  }

  /** Runs a check, or joins the running one. After a failure, the next check tries again. */
  #checkOnce(): Promise<void> {
    return (this.#checking ??= this.#check()
      .catch(() => {})
      .finally(() => (this.#checking = undefined)));
  }

  async #check(): Promise<void> {
    await this.#checkIdentity();
    await this.#recall();
    const recent = this.#recent;
    this.#recent = [];
    try {
      // The older ones are asked for each time. New rows may have been stored in an older copy already.
      const older = [this.#recalled, this.#newest].filter((row) => row !== undefined);
      this.#newest = await storeInTime(this.#checkRows([...older, ...recent]), maxCheckMs);
      this.#recalled = undefined;
    } catch (error) {
      this.#recent = [...recent, ...this.#recent].slice(-maxRemembered);
      throw error;
    }
    await this.#keep();
  }

  async #checkIdentity(): Promise<void> {
    const found = await this.#parts.identify?.();
    if (this.#identity !== undefined && found !== this.#identity)
      this.#tell("The database of the store was replaced by another one.");
    this.#identity = found;
  }

  /** Returns the newest of these rows. If one of them is gone, reports this once, and returns `undefined`. */
  async #checkRows(rows: readonly Row[]): Promise<Row | undefined> {
    let newest: { row: Row; at: string } | undefined;
    for (const row of rows) {
      const found = await this.#find(row);
      if (!found) {
        const name = row.webhook === undefined ? `payment ${row.payment}` : `webhook ${row.webhook}`;
        this.#tell(`The store no longer has the ${name}, which it had recorded: it is an older copy.`);
        return undefined;
      }
      // The row of another process may be newer than the rows of this process.
      if (!newest || newest.row !== this.#recalled || found.at >= newest.at) newest = { row, ...found };
    }
    return newest?.row;
  }

  /** Returns the time of a row, or `undefined` if the store does not have the row. */
  async #find({ webhook, payment = "" }: Row): Promise<{ at: string } | undefined> {
    const { store } = this.#parts;
    if (webhook === undefined) {
      const found = await store.find(payment);
      return found && { at: found.createdAt };
    }
    const [found] = await store.webhooks({ receiptId: webhook, limit: 1 });
    return found && { at: found.receivedAt };
  }

  /** Reads the row that the spool's directory remembers. The spool itself reports its own problems. */
  async #recall(): Promise<void> {
    const { spool } = this.#parts;
    const tie = await spool?.tie.read().catch((error: unknown) => {
      // After an error of the store, `#keep` would replace a row that no check has asked for.
      if (!spool.tie.problem) throw error;
      return undefined;
    });
    if (!tie || (tie.webhook ?? tie.payment) === undefined || isSame(tie, this.#kept)) return;
    const { store: _, ...row } = tie;
    this.#kept = this.#recalled = row;
  }

  async #keep(): Promise<void> {
    const { spool } = this.#parts;
    const [store, row] = [this.#identity, this.#newest];
    if (!spool || spool.tie.problem || store === undefined) return;
    if (!row || isSame(row, this.#kept)) return;
    await spool.tie.remember({ store, ...row });
    this.#kept = row;
  }

  #tell(message: string): void {
    this.problem = new TillkitError("store_went_back", message);
    this.#parts.notify("store.went_back", { error: this.problem });
    this.#parts.onWentBack();
  }
}

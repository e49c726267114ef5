import { TillkitError } from "../errors/index.js";
import { type Notify } from "../model/notice-map.js";
import { type PaymentStore } from "../store/index.js";
import { joinCalls } from "../shared/join-calls.js";
import { storeInTime, withTimeout } from "../shared/with-timeout.js";
import { type Receipt } from "../webhook/recording/arrival.js";
import { type Spool } from "../webhook/spool/spool.js";
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

/** The length of a time slot. One webhook of each slot is remembered until the next check. */
const slotMs = 500;

/** The time after which the store is asked for its identity again. A call of the store may never end. */
const maxIdentifyMs = 30_000;

/** The maximum time by which a store that does not answer delays the end of the kit. */
const maxCloseMs = 2000;

const maxRemembered = 2 * (checkMs / slotMs);

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
 * store keeps the row of each webhook forever. So if a row that the store acknowledged is gone, the store is
 * an older copy. The watch remembers the webhooks of the last seconds, and the spool's directory remembers
 * the last one.
 */
export class StoreWatch<Tx> {
  readonly #parts: WatchParts<Tx>;
  #recent: string[] = [];
  #slotEndsAt = -Infinity;
  /** The newest webhook that a check has found in the store. */
  #newest: string | undefined;
  /** The webhook that the spool's directory remembers. */
  #kept: string | undefined;
  /** The webhook that an earlier process left in the spool's directory, until a check has asked for it. */
  #recalled: string | undefined;
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
    if (!last) return;
    const now = performance.now();
    if (now < this.#slotEndsAt) this.#recent.pop();
    else this.#slotEndsAt = now + slotMs;
    this.#recent.push(last.receiptId);
    if (this.#recent.length > maxRemembered) this.#recent.shift();
  }

  /** Resolves after the first check, and starts a check every 10 s. Never rejects. */
  async start(): Promise<void> {
    if (!this.#parts.store.durable || this.#timer) return;
    this.#timer = setInterval(() => void this.#checkOnce(), checkMs).unref();
    await this.#checkOnce();
  }

  /**
   * Waits for the running check, and checks the last webhooks, so that the directory remembers the newest
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
      // The older ones are asked for each time. New webhooks may have been recorded in an older copy already.
      const older = [this.#recalled, this.#newest].filter((receiptId) => receiptId !== undefined);
      this.#newest = await storeInTime(this.#checkWebhooks([...older, ...recent]), maxCheckMs);
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

  /**
   * Returns the newest of these webhooks. If one of them is gone, reports this once, and returns `undefined`.
   */
  async #checkWebhooks(receiptIds: readonly string[]): Promise<string | undefined> {
    for (const receiptId of receiptIds) {
      const [found] = await this.#parts.store.webhooks({ receiptId, limit: 1 });
      if (found) continue;
      this.#tell(
        `The store no longer has the webhook ${receiptId}, which it had recorded: it is an older copy.`,
      );
      return undefined;
    }
    return receiptIds.at(-1);
  }

  /** Reads the webhook that the spool's directory remembers. The spool itself reports its own problems. */
  async #recall(): Promise<void> {
    const { spool } = this.#parts;
    const tie = await spool?.tie.read().catch((error: unknown) => {
      // After an error of the store, `#keep` would replace a webhook that no check has asked for.
      if (!spool.tie.problem) throw error;
      return undefined;
    });
    if (this.#kept !== undefined || tie?.webhook === undefined) return;
    this.#kept = this.#recalled = tie.webhook;
  }

  async #keep(): Promise<void> {
    const { spool } = this.#parts;
    const [store, webhook] = [this.#identity, this.#newest];
    if (!spool || spool.tie.problem || store === undefined) return;
    if (webhook === undefined || webhook === this.#kept) return;
    await spool.tie.remember({ store, webhook });
    this.#kept = webhook;
  }

  #tell(message: string): void {
    this.problem = new TillkitError("store_went_back", message);
    this.#parts.notify("store.went_back", { error: this.problem });
    this.#parts.onWentBack();
  }
}

/** The number of skipped webhooks in a row after which a drain stops, because the store seems to fail. */
const maxInRow = 10;

/**
 * The webhooks that drains of the spool have skipped. If skipped webhooks stopped a drain, the next drain
 * does not try them, so that it reaches the webhooks behind them. After a drain that was not stopped in this
 * way, each webhook is tried again.
 *
 * A webhook is slow if the store did not record it in time. A drain tries one slow webhook, and the others
 * only after the store has recorded or refused one of them. Otherwise, each drain would wait for every locked
 * payment, and so would the webhooks that arrive meanwhile.
 */
export class Skips {
  readonly #passed = new Set<string>();
  /** The slow webhooks, with their last errors. The one that the next drain tries is the first. */
  readonly #slow = new Map<string, unknown>();
  /** The slow webhook that this drain tries. */
  #tried: string | undefined;
  /** Whether this drain passes the other slow webhooks. */
  #passesSlow = false;
  /** The webhooks that the last drain has skipped, and those of the drain that runs. */
  #before = new Set<string>();
  #skipped = new Set<string>();
  #inRow: string[] = [];
  /** The webhooks that stopped the last drain. `undefined` if it was not stopped by skipped webhooks. */
  #stopping: readonly string[] | undefined;

  /** Must be called at the start of each drain. */
  start(): void {
    if (!this.#stopping) this.#passed.clear();
    for (const receiptId of this.#stopping ?? []) this.#passed.add(receiptId);
    this.#stopping = undefined;
    this.#inRow = [];
    [this.#before, this.#skipped] = [this.#skipped, new Set()];
    [this.#tried] = this.#slow.keys();
    if (this.#tried !== undefined) this.addSlow(this.#tried, this.#slow.get(this.#tried));
  }

  /** Must be called for each webhook that the store did not record in time, because its payment is locked. */
  addSlow(receiptId: string, error: unknown): void {
    this.#slow.delete(receiptId);
    this.#slow.set(receiptId, error);
    this.#passesSlow = true;
  }

  /** Must be called for each webhook that the store recorded or refused, or that was set aside. */
  endSlow(receiptId: string): void {
    if (this.#slow.delete(receiptId)) this.#passesSlow = false;
  }

  /** Returns the last error of a slow webhook. */
  errorOf({ receiptId }: { receiptId: string }): unknown {
    return this.#slow.get(receiptId);
  }

  /** Must be called when the store has recorded a webhook. */
  noteRecorded(receiptId: string): void {
    this.#inRow = [];
    this.endSlow(receiptId);
  }

  /** Returns whether this drain does not try the webhook, because an earlier drain has skipped it. */
  isPassed({ receiptId }: { receiptId: string }): boolean {
    const isSlow = this.#passesSlow && this.#slow.has(receiptId) && receiptId !== this.#tried;
    return isSlow || this.#passed.has(receiptId);
  }

  /** Returns whether the webhook would probably prevent the commit of a group. */
  isSuspect(webhook: { receiptId: string }): boolean {
    const { receiptId } = webhook;
    return this.isPassed(webhook) || this.#before.has(receiptId) || this.#slow.has(receiptId);
  }

  /** Notes a webhook that is skipped. Returns `true` if the drain must stop instead. */
  add(receiptId: string): boolean {
    this.#skipped.add(receiptId);
    this.#inRow.push(receiptId);
    if (this.#inRow.length <= maxInRow) return false;
    this.#stopping = this.#inRow;
    return true;
  }
}

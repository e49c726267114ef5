import { hasCode } from "../../errors/index.js";
import { type Payment } from "../../model/payment.js";
import { LookupError, type PaymentReader, type ShownPayment } from "../../service/index.js";
import { type RateLimiter } from "./rate-limiter.js";

/** The parts of the kit that a scan uses. */
export interface ListScanParts {
  reader: PaymentReader;
  limiter: RateLimiter;
  /** Ends a request early. */
  closing: AbortSignal;
  /** Records a listed payment that the scan looks for. */
  take: (clientId: string, payment: ShownPayment) => Promise<void>;
  giveUpAfterMs: number;
  now: () => Date;
}

const pageSize = 100;
const maxPagesPerRun = 5;
const maxWanted = 1000;
/** The minimum time for which the scan looks for a payment, because a payment's last lookup may come late. */
const minWantedMs = 3_600_000;

/**
 * Finds payments without a known service id by their clientId, in the service's list of all payments. The
 * order of this list is not specified, so each run reads the first page and then continues where the last run
 * ended. Listed payments without a clientId are skipped, because other software may have created them.
 */
export class ListScan {
  readonly #parts: ListScanParts;
  /** The time until which each payment is looked for, in milliseconds since 1970. */
  readonly #wanted = new Map<string, number>();
  #offset = 0;
  /** Whether the list has shown a clientId, or a run has reported that it shows none. */
  #isChecked = false;

  constructor(parts: ListScanParts) {
    this.#parts = parts;
  }

  /** Adds a payment, which the following runs look for. */
  want({ clientId, createdAt }: Payment): void {
    if (this.#wanted.size >= maxWanted) return;
    const { now, giveUpAfterMs } = this.#parts;
    const until = Math.max(Date.parse(createdAt) + giveUpAfterMs, now().getTime() + minWantedMs);
    this.#wanted.set(clientId, until);
  }

  /**
   * Reads at most five pages of the list. Rejects if a request fails. Also rejects, once, when the whole list
   * has shown no clientId.
   */
  async run(): Promise<void> {
    this.#dropOld();
    if (this.#wanted.size === 0) return;
    // The service may give shorter pages than were asked for.
    const first = await this.#readPage(0);
    if (first === 0) return;
    for (let pages = 1; pages < maxPagesPerRun && this.#wanted.size > 0; pages++) {
      const offset = Math.max(this.#offset, first);
      const count = await this.#readPage(offset);
      this.#offset = count === 0 ? 0 : offset + count;
      if (count === 0) return this.#check();
    }
  }

  #check(): void {
    if (this.#isChecked || this.#parts.closing.aborted) return;
    this.#isChecked = true;
    throw new LookupError(
      "lookup_answer_invalid",
      "The service's list shows no clientIds, so the kit cannot find payments without a service id in it.",
    );
  }

  async #readPage(offset: number): Promise<number> {
    const { reader, limiter, closing, take } = this.#parts;
    if (!(await limiter.acquire())) return 0;
    const listed = await reader.list({ limit: pageSize, offset }, closing);
    for (const payment of listed) {
      const { clientId } = payment;
      if (typeof clientId !== "string") continue;
      this.#isChecked = true;
      const until = this.#wanted.get(clientId);
      if (until === undefined) continue;
      // Deleted first, because another run may read the same page meanwhile.
      this.#wanted.delete(clientId);
      await take(clientId, payment).catch((error: unknown) => {
        // The store may have failed, and the payment may get no other lookup.
        if (!hasCode(error, "lookup_answer_invalid")) this.#wanted.set(clientId, until);
        throw error;
      });
    }
    return listed.length;
  }

  #dropOld(): void {
    const now = this.#parts.now().getTime();
    for (const [clientId, until] of this.#wanted) if (until < now) this.#wanted.delete(clientId);
  }
}

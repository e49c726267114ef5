import { type Payment } from "../../model/payment.js";
import { type PaymentReader, type ShownPayment } from "../../service/index.js";
import { type RateLimiter } from "./rate-limiter.js";

/** The parts of the kit that a scan uses. */
export interface ListScanParts {
  reader: PaymentReader;
  limiter: RateLimiter;
  /** Ends a request early. */
  closing: AbortSignal;
  /** Takes each listed payment that is wanted. */
  take: (clientId: string, payment: ShownPayment) => Promise<void>;
  giveUpAfterMs: number;
  now: () => Date;
}

const pageSize = 100;
const maxPagesPerRun = 5;
const maxWanted = 1000;

/**
 * Finds payments whose service id is unknown in the service's list of all payments, by clientId. The order of that list is
 * not specified, so each run reads the first page and then continues where the last run ended. A list that shows no
 * clientIds cannot be used, and this process does not read it again.
 */
export class ListScan {
  readonly #parts: ListScanParts;
  readonly #wanted = new Map<string, Payment>();
  #offset = 0;
  #isUseless = false;

  constructor(parts: ListScanParts) {
    this.#parts = parts;
  }

  /** Adds a payment to find from the next run on. */
  want(payment: Payment): void {
    if (!this.#isUseless && this.#wanted.size < maxWanted) this.#wanted.set(payment.clientId, payment);
  }

  /** Reads some pages. Rejects where the service could not be asked. */
  async run(): Promise<void> {
    this.#dropOld();
    if (this.#wanted.size === 0) return;
    await this.#readPage(0);
    for (let pages = 1; pages < maxPagesPerRun && this.#wanted.size > 0; pages++) {
      const offset = Math.max(this.#offset, pageSize);
      const count = await this.#readPage(offset);
      this.#offset = count === 0 ? 0 : offset + count;
      if (count === 0) return;
    }
  }

  async #readPage(offset: number): Promise<number> {
    const { reader, limiter, closing, take } = this.#parts;
    if (!(await limiter.acquire())) return 0;
    const listed = await reader.list({ limit: pageSize, offset }, closing);
    if (listed.length > 0 && listed.every(({ clientId }) => clientId === undefined)) {
      this.#isUseless = true;
      this.#wanted.clear();
    }
    for (const payment of listed) {
      const { clientId } = payment;
      if (typeof clientId === "string" && this.#wanted.delete(clientId)) await take(clientId, payment);
    }
    return listed.length;
  }

  #dropOld(): void {
    const oldest = this.#parts.now().getTime() - this.#parts.giveUpAfterMs;
    for (const [clientId, { createdAt }] of this.#wanted)
      if (Date.parse(createdAt) < oldest) this.#wanted.delete(clientId);
  }
}

import { type Payment } from "../../model/payment.js";
import { type PaymentReader, type ShownPayment } from "../../service/index.js";
import { type Pace } from "./pace.js";

/** What scanning needs. */
export interface ListScanOptions {
  reader: PaymentReader;
  pace: Pace;
  /** Ends a question early. */
  closing: AbortSignal;
  /** Called with each payment of the list that is wanted. */
  take: (clientId: string, payment: ShownPayment) => Promise<void>;
  giveUpAfterMs: number;
  now: () => Date;
}

const pageSize = 100;
/** Most pages that one run reads. */
const pagesPerRun = 5;
/** Most payments that are looked for at once. */
const mostWanted = 1000;

/**
 * Looks for payments whose id at the service is not known, in the list of all, by clientId. In which order the service
 * lists is not known: each run reads the first page and goes on where the last one ended, round and round. A list that
 * names no clientIds is of no use, and is not read again by this process.
 */
export class ListScan {
  readonly #options: ListScanOptions;
  readonly #wanted = new Map<string, Payment>();
  #offset = 0;
  #isUseless = false;

  constructor(options: ListScanOptions) {
    this.#options = options;
  }

  /** Looks for this one from the next run on. Always true: there is nothing that could fail yet. */
  want(payment: Payment): true {
    if (!this.#isUseless && this.#wanted.size < mostWanted) this.#wanted.set(payment.clientId, payment);
    return true;
  }

  /** Reads some pages. Rejects where the service could not be asked. */
  async run(): Promise<void> {
    this.#forgetOld();
    if (this.#wanted.size === 0) return;
    await this.#readPage(0);
    for (let pages = 1; pages < pagesPerRun && this.#wanted.size > 0; pages++) {
      const offset = Math.max(this.#offset, pageSize);
      const count = await this.#readPage(offset);
      this.#offset = count === 0 ? 0 : offset + count;
      if (count === 0) return;
    }
  }

  async #readPage(offset: number): Promise<number> {
    const { reader, pace, closing, take } = this.#options;
    if (!(await pace.turn())) return 0;
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

  #forgetOld(): void {
    const oldest = this.#options.now().getTime() - this.#options.giveUpAfterMs;
    for (const [clientId, { createdAt }] of this.#wanted)
      if (Date.parse(createdAt) < oldest) this.#wanted.delete(clientId);
  }
}

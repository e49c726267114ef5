import { hasCode } from "../../errors/index.js";
import { type Notify } from "../../model/notice-map.js";
import { type Payment } from "../../model/payment.js";
import { LookupError, type PaymentReader, type ShownPayment } from "../../service/index.js";
import { readLookup } from "../../webhook/message/read-lookup.js";
import { type Arrival } from "../../webhook/recording/arrival.js";
import { type RecordingParts } from "../../webhook/recording/recording-parts.js";
import { storeInTime } from "../../shared/with-timeout.js";
import { ListScan } from "./list-scan.js";
import { findNamedIds } from "./named-ids.js";
import { RateLimiter } from "./rate-limiter.js";
import { canLookUp, isJumped, withNextLookup, type LookupTimes } from "./schedule.js";

/** The times and limits of lookups. */
export interface LookupsOptions extends LookupTimes {
  /**
   * The fields that the configured scheme covers. In the service's answers, the kit trusts only these fields.
   */
  covers: Arrival["covers"];
  /** The maximum number of requests of this process in one second. */
  perSecond: number;
  /** The time from the browser's return to a lookup, in which the webhook may arrive. */
  afterReturnMs: number;
  /** The time between two sweeps, which limits the lookups of one sweep. */
  sweepMs: number;
}

/** The number of payments in one claim. If the process ends, these payments wait for their next lookup. */
const batchSize = 10;
/** The number of failures in a row after which a sweep, or a series of early lookups, stops. */
const maxFailures = 3;
/** The maximum number of payments that wait in this process for an early lookup. */
const maxWaiting = 1000;
const maxHoldMs = 5 * 60 * 1000;
/** The maximum time of a call of the store. Otherwise, a call that never ends would stop all lookups. */
const maxStoreMs = 60_000;

/** The parts of the kit that lookups use. */
export interface LookupParts<Tx> extends RecordingParts<Tx> {
  notify: Notify;
  /** Returns the time without new clock jumps, which decides whether a lookup is the last one. */
  cautiousNow: () => Date;
}

/** A payment to look up, and its service ids. */
interface ClaimedLookup {
  payment: Payment;
  /** The payment's service id, or else the signed ids that its unconfirmed webhooks name. */
  serviceIds: readonly string[];
}

/**
 * Asks the service about payments for which no webhook arrives: with `GET /v1/payments/{id}`, or with the
 * list if the id is unknown. An answer is recorded like a webhook, so only one of the two is applied. Before
 * a request, the payment is claimed under its lock and gets the time of its next lookup. So the sweeps of two
 * processes do not ask about the same payment at the same time.
 */
export class Lookups<Tx> {
  readonly #parts: LookupParts<Tx>;
  readonly #options: LookupsOptions;
  readonly #reader: PaymentReader;
  readonly #record: (arrival: Arrival) => Promise<unknown>;
  readonly #closing = new AbortController();
  readonly #limiter: RateLimiter;
  readonly #scan: ListScan;
  readonly #waiting = new Set<string>();
  readonly #timers = new Set<NodeJS.Timeout>();
  /** Payments whose next lookup was planned just after a clock jump, and may be days too late. */
  readonly #plannedInJump = new Set<string>();
  #draining: Promise<void> | undefined;
  /** Whether `askNow` was called after the drain had taken all payments that waited. */
  #hasMore = false;
  #sweeping: Promise<number> | undefined;
  #failures = 0;

  /** @param service `reader` asks the service; `record` stores an answer, and resolves after the commit */
  constructor(
    parts: LookupParts<Tx>,
    options: LookupsOptions,
    { reader, record }: { reader: PaymentReader; record: (arrival: Arrival) => Promise<unknown> },
  ) {
    this.#parts = parts;
    this.#options = options;
    this.#reader = reader;
    this.#record = record;
    this.#limiter = new RateLimiter(options.perSecond, this.#closing.signal);
    this.#scan = new ListScan({
      reader,
      limiter: this.#limiter,
      closing: this.#closing.signal,
      take: (clientId, payment) => this.#recordAnswer(clientId, payment),
      giveUpAfterMs: options.giveUpAfterMs,
      now: parts.now,
    });
  }

  /** Looks up the payments that are due, the longest due first. Resolves to their number. */
  sweep(): Promise<number> {
    return (this.#sweeping ??= this.#sweepOnce().finally(() => (this.#sweeping = undefined)));
  }

  /** Looks up one payment in the background, before its lookup is due. */
  askNow(clientId: string): void {
    if (this.#closing.signal.aborted) return;
    if (this.#waiting.size < maxWaiting) this.#waiting.add(clientId);
    this.#hasMore = true;
    // The drain starts even if the set is full, because some payments in the set may get no other lookup
    // after earlier failures.
    this.#startDrain();
  }

  /**
   * Looks up one payment some time after the customer's browser came back, unless a webhook completes it
   * first.
   */
  askAfterReturn(clientId: string): void {
    if (this.#timers.size >= maxWaiting) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.askNow(clientId);
    }, this.#options.afterReturnMs);
    this.#timers.add(timer.unref());
  }

  /** Ends all requests. Resolves when nothing runs any more. */
  async close(): Promise<void> {
    this.#closing.abort();
    for (const timer of this.#timers) clearTimeout(timer);
    await Promise.allSettled([this.#draining, this.#sweeping]);
  }

  async #sweepOnce(): Promise<number> {
    const { store, now, ready } = this.#parts;
    const maxAsked = Math.ceil((this.#options.perSecond * this.#options.sweepMs) / 1000);
    await ready();
    this.#failures = 0;
    this.#askAfterJump();
    let asked = 0;
    const refused = new Map<string, unknown>();
    const mayGoOn = () => asked < maxAsked && !this.#closing.signal.aborted && !this.#limiter.isHeld();
    while (mayGoOn() && refused.size < batchSize) {
      const limit = Math.min(batchSize, maxAsked - asked) + refused.size;
      const found = await storeInTime(store.lookupDue({ before: now().toISOString(), limit }), maxStoreMs);
      const clientIds = found.map(({ clientId }) => clientId).filter((clientId) => !refused.has(clientId));
      if (clientIds.length === 0) break;
      const claimed = await this.#tryClaim(clientIds, refused, { isEarly: false });
      for (const [n, one] of claimed.entries()) {
        asked += 1;
        if (await this.#ask(one)) continue;
        // The claim may have been the last lookup of the others, so the next sweep asks about them early.
        for (const { payment } of claimed.slice(n + 1)) this.#waiting.add(payment.clientId);
        return asked;
      }
    }
    await this.#runScan();
    if (this.#waiting.size > 0 && !this.#limiter.isHeld()) this.#startDrain();
    for (const error of refused.values()) throw error;
    return asked;
  }

  /** Looks up the payments that were planned in a clock jump, after the jump has ended. */
  #askAfterJump(): void {
    const { now, cautiousNow } = this.#parts;
    if (this.#plannedInJump.size === 0 || isJumped(now(), cautiousNow())) return;
    for (const clientId of this.#plannedInJump) this.askNow(clientId);
    this.#plannedInJump.clear();
  }

  #startDrain(): void {
    if (this.#closing.signal.aborted) return;
    // The error is ignored, because an unavailable store is reported elsewhere, and a later sweep starts the
    // drain again.
    this.#draining ??= this.#drain()
      .catch(() => {})
      .finally(() => {
        this.#draining = undefined;
        if (this.#hasMore) this.#startDrain();
      });
  }

  async #drain(): Promise<void> {
    const refused = new Map<string, unknown>();
    try {
      await this.#parts.ready();
      this.#failures = 0;
      for (const clientId of this.#waiting) {
        this.#waiting.delete(clientId);
        const [claimed] = await this.#tryClaim([clientId], refused, { isEarly: true });
        const mayGoOn = refused.size < batchSize && !this.#closing.signal.aborted;
        if (!mayGoOn || (claimed && !(await this.#ask(claimed)))) break;
      }
    } finally {
      for (const clientId of refused.keys()) this.#waiting.add(clientId);
      this.#hasMore = false;
    }
    await this.#runScan();
  }

  async #runScan(): Promise<void> {
    await this.#scan.run().catch((error: unknown) => this.#fail(error));
  }

  /** Claims payments. Adds those that the store refuses to `refused`, with their errors. */
  async #tryClaim(
    clientIds: readonly string[],
    refused: Map<string, unknown>,
    early: { isEarly: boolean },
  ): Promise<readonly ClaimedLookup[]> {
    try {
      return await this.#claim(clientIds, early);
    } catch (error) {
      if (clientIds.length === 1) refused.set(clientIds[0]!, error);
    }
    const claimed: ClaimedLookup[] = [];
    for (const clientId of clientIds.length > 1 ? clientIds : [])
      claimed.push(...(await this.#tryClaim([clientId], refused, early)));
    return claimed;
  }

  /** Returns the payments that may be looked up now, and stores the times of their next lookups. */
  async #claim(clientIds: readonly string[], { isEarly }: { isEarly: boolean }): Promise<ClaimedLookup[]> {
    const { store, now, cautiousNow } = this.#parts;
    const wanted = new Set(clientIds);
    const claiming = store.transaction(async (tx) => {
      const { payments } = await store.lock(tx, { clientIds });
      const at = now();
      const isDue = (payment: Payment) =>
        canLookUp(payment) && (isEarly || payment.nextLookupAt! <= at.toISOString());
      // A customer may come back, or claim a payment, after its last lookup. The payment is then looked up
      // once more.
      const isOver = ({ state, lookups }: Payment) =>
        isEarly && state !== "completed" && lookups !== undefined;
      const claimed = payments.filter(
        (payment) => wanted.has(payment.clientId) && (isDue(payment) || isOver(payment)),
      );
      const named = await findNamedIds(store, tx, claimed);
      const lastBefore = cautiousNow();
      const updated = claimed.map((payment) => withNextLookup(payment, at, this.#options, lastBefore));
      if (claimed.length > 0) await store.save(tx, { updated });
      if (isJumped(at, lastBefore) && this.#plannedInJump.size < maxWaiting)
        for (const { clientId } of updated) this.#plannedInJump.add(clientId);
      return claimed.map((payment) => {
        const { serviceId, clientId } = payment;
        return { payment, serviceIds: serviceId ? [serviceId] : (named.get(clientId) ?? []) };
      });
    });
    return storeInTime(claiming, maxStoreMs);
  }

  /** Looks up one payment. Resolves to whether the next payment may be looked up. */
  async #ask({ payment, serviceIds }: ClaimedLookup): Promise<boolean> {
    // The scan also runs if a webhook names an id, because the service may not know that id.
    if (payment.serviceId === undefined) this.#scan.want(payment);
    for (const serviceId of serviceIds) if (!(await this.#askFor(payment, serviceId))) return false;
    return true;
  }

  async #askFor({ clientId }: Payment, serviceId: string): Promise<boolean> {
    if (!(await this.#limiter.acquire())) return false;
    try {
      await this.#recordAnswer(clientId, await this.#reader.read(serviceId, this.#closing.signal));
      this.#failures = 0;
      return true;
    } catch (error) {
      return this.#fail(error, clientId);
    }
  }

  #fail(error: unknown, clientId?: string): boolean {
    // `close` ended the request.
    if (this.#closing.signal.aborted) return false;
    this.#parts.notify("lookup.failed", { ...(clientId !== undefined && { clientId }), error });
    this.#failures += 1;
    const { retryAfterMs, httpStatus } = error as Partial<LookupError>;
    if (retryAfterMs !== undefined) this.#limiter.hold(Math.min(retryAfterMs, maxHoldMs));
    // A negative answer about this payment says nothing about the others.
    if (httpStatus === 404 || hasCode(error, "lookup_answer_invalid")) this.#failures = 0;
    return this.#failures < maxFailures && retryAfterMs === undefined;
  }

  /** Records the service's answer as a webhook is recorded. */
  async #recordAnswer(clientId: string, payment: ShownPayment): Promise<void> {
    const { now, newId } = this.#parts;
    const { covers } = this.#options;
    const shown = payment["clientId"];
    if (shown !== undefined && shown !== clientId)
      throw new LookupError(
        "lookup_answer_invalid",
        `The service's answer about the payment ${clientId} has another clientId.`,
      );
    const rawBody = Buffer.from(JSON.stringify(payment));
    const receivedAt = now().toISOString();
    const message = readLookup({ rawBody, covers, clientId, receivedAt });
    if (message.kind !== "payment") {
      const reason = message.kind === "inadmissible" ? message.reason : "it is about no payment";
      throw new LookupError("lookup_answer_invalid", `The service's answer cannot be used: ${reason}.`);
    }
    await this.#record({ receiptId: newId(), receivedAt, rawBody, covers, message, kind: "lookup" });
  }
}

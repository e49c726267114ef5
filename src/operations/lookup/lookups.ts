import { hasCode } from "../../errors/index.js";
import { type NoticeMap, type NoticeType } from "../../model/event-map.js";
import { readLookup } from "../../webhook/message/read-lookup.js";
import { type Payment } from "../../model/payment.js";
import { type Arrival } from "../../webhook/recording/plan-group.js";
import { LookupError, type PaymentReader, type ShownPayment } from "../../service/index.js";
import { type PaymentStore } from "../../store/index.js";
import { ListScan } from "./list-scan.js";
import { Pace } from "./pace.js";
import { askedAbout, canAsk, type LookupTimes } from "./schedule.js";

/** What looking up needs. */
export interface LookupOptions<Tx> extends LookupTimes {
  store: PaymentStore<Tx>;
  reader: PaymentReader;
  /** What the configured scheme covers: answers are read as its webhooks are. */
  covers: Arrival["covers"];
  perSecond: number;
  /** How long a browser that came back waits for its webhook, before the service is asked. */
  afterReturnMs: number;
  /** Most questions of one sweep. */
  mostPerSweep: number;
  now: () => Date;
  newId: () => string;
  ready: () => Promise<void>;
  /** Resolves after the commit that holds the answer. */
  record: (arrival: Arrival) => Promise<unknown>;
  notify: <Type extends NoticeType>(type: Type, notice: NoticeMap[Type]) => void;
}

/** Asks the service about payments that it does not speak of. */
export interface Lookups {
  /** Asks about those that are due, the longest due first; resolves to how many were asked about. */
  sweep(): Promise<number>;
  /** Asks about one before its time, in the background. */
  soon(clientId: string): void;
  /** The same, once its webhook has had a moment to arrive. */
  afterReturn(clientId: string): void;
  close(): Promise<void>;
}

/** Claimed together; few, so that a process which dies leaves few of them unasked until their next turn. */
const batchSize = 10;
/** After so many failures in a row the service is taken to be away, and left alone until the next sweep. */
const mostFailures = 3;
/** Most payments that wait in this process for their turn before their time. */
const mostWaiting = 1000;
const longestHoldMs = 5 * 60 * 1000;

/**
 * Asks with `GET /v1/payments/{id}`, and by the list where the id is not known. An answer is recorded as a webhook would
 * be, so that exactly one of the two wins a race. Each payment is claimed under its lock before it is asked about, which
 * sets the time of the next question: no two processes ask the same one, and no payment is asked twice before others had
 * their turn.
 */
export function createLookups<Tx>(options: LookupOptions<Tx>): Lookups {
  const { store, reader, now, notify } = options;
  const closing = new AbortController();
  const pace = new Pace(options.perSecond, closing.signal);
  const scan = new ListScan({
    reader,
    closing: closing.signal,
    pace,
    take: arrive,
    giveUpAfterMs: options.giveUpAfterMs,
    now,
  });
  const waiting = new Set<string>();
  const timers = new Set<NodeJS.Timeout>();
  let draining: Promise<void> | undefined;
  let sweeping: Promise<number> | undefined;
  let failures = 0;

  /** Takes those of the payments that may be asked about, and sets when they are asked about again. */
  async function claim(clientIds: readonly string[], isEarly: boolean): Promise<Payment[]> {
    const wanted = new Set(clientIds);
    return store.transaction(async (tx) => {
      const { payments } = await store.lock(tx, { clientIds });
      const at = now();
      const claimed = payments.filter(
        (payment) =>
          wanted.has(payment.clientId) &&
          canAsk(payment) &&
          (isEarly || payment.nextLookupAt! <= at.toISOString()),
      );
      if (claimed.length > 0)
        await store.save(tx, { updated: claimed.map((payment) => askedAbout(payment, at, options)) });
      return claimed;
    });
  }

  /** Whether to go on with the next. */
  async function ask(payment: Payment): Promise<boolean> {
    const { clientId, serviceId } = payment;
    if (serviceId === undefined) return scan.want(payment);
    if (!(await pace.turn())) return false;
    try {
      await arrive(clientId, await reader.read(serviceId, closing.signal));
      failures = 0;
      return true;
    } catch (error) {
      return fail(error, clientId);
    }
  }

  function fail(error: unknown, clientId?: string): boolean {
    // Ended by `close`: nobody's trouble.
    if (closing.signal.aborted) return false;
    notify("lookup.failed", { ...(clientId !== undefined && { clientId }), error });
    failures += 1;
    const { retryAfterMs, httpStatus } = error as Partial<LookupError>;
    if (retryAfterMs !== undefined) pace.hold(Math.min(retryAfterMs, longestHoldMs));
    // An answer that says no about this payment says nothing about the others.
    if (httpStatus === 404 || hasCode(error, "lookup_answer_invalid")) failures = 0;
    return failures < mostFailures && retryAfterMs === undefined;
  }

  /** An answer takes the way of a webhook. */
  async function arrive(clientId: string, payment: ShownPayment): Promise<void> {
    const { covers } = options;
    const named = payment["clientId"];
    if (named !== undefined && named !== clientId)
      throw new LookupError(
        "lookup_answer_invalid",
        `The service calls the payment ${clientId} by another clientId.`,
      );
    const rawBody = Buffer.from(JSON.stringify(payment));
    const receivedAt = now().toISOString();
    const message = readLookup({ rawBody, covers, clientId, receivedAt });
    if (message.kind !== "payment") {
      const reason = message.kind === "inadmissible" ? message.reason : "it is about no payment";
      throw new LookupError("lookup_answer_invalid", `The service's answer cannot be used: ${reason}.`);
    }
    await options.record({
      receiptId: options.newId(),
      receivedAt,
      rawBody,
      covers,
      message,
      kind: "lookup",
    });
  }

  async function sweepOnce(): Promise<number> {
    await options.ready();
    failures = 0;
    let asked = 0;
    while (store.lookupDue && asked < options.mostPerSweep && !closing.signal.aborted && !pace.isHeld()) {
      const before = now().toISOString();
      const limit = Math.min(batchSize, options.mostPerSweep - asked);
      const due = await store.lookupDue({ before, limit });
      if (due.length === 0) break;
      const claimed = await claim(
        due.map(({ clientId }) => clientId),
        false,
      );
      for (const payment of claimed) {
        asked += 1;
        if (!(await ask(payment))) return asked;
      }
    }
    await scan.run().catch((error: unknown) => fail(error));
    return asked;
  }

  async function drain(): Promise<void> {
    await options.ready();
    failures = 0;
    for (const clientId of waiting) {
      waiting.delete(clientId);
      const [payment] = await claim([clientId], true);
      if (payment && !(await ask(payment))) break;
    }
    await scan.run().catch((error: unknown) => fail(error));
  }

  function soon(clientId: string): void {
    if (closing.signal.aborted || waiting.size >= mostWaiting) return;
    waiting.add(clientId);
    // The store's trouble is told of by what depends on it; the sweep asks too.
    draining ??= drain()
      .catch(() => {})
      .finally(() => (draining = undefined));
  }

  return {
    soon,
    sweep: () => (sweeping ??= sweepOnce().finally(() => (sweeping = undefined))),
    afterReturn(clientId) {
      if (timers.size >= mostWaiting) return;
      const timer = setTimeout(() => {
        timers.delete(timer);
        soon(clientId);
      }, options.afterReturnMs);
      timers.add(timer.unref());
    },
    async close() {
      closing.abort();
      for (const timer of timers) clearTimeout(timer);
      await Promise.allSettled([draining, sweeping]);
    },
  };
}

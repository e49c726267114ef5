import { type ErrorCode, type TillkitError, WebhookRejectedError } from "../../errors/index.js";
import { type NoticeMap, type NoticeType } from "../../model/event-map.js";
import { readMessage } from "../message/read-message.js";
import { type Spool, type SpooledWebhook } from "../spool/index.js";
import { type Arrival, type Receipt } from "./plan-group.js";

/** What keeping needs. */
export interface KeepingOptions {
  /** Resolves after the store's commit. */
  record: (arrival: Arrival) => Promise<Receipt>;
  /** Resolves after the one commit that holds them all; rejects when it is not known to hold any. */
  recordTogether: (arrivals: readonly Arrival[]) => Promise<unknown>;
  /** Takes what the store cannot; absent where none is configured. */
  spool: Spool | undefined;
  /** Rejects when the store cannot do anything now: then a failure says nothing about a record. */
  probe: () => Promise<unknown>;
  notify: <Type extends NoticeType>(type: Type, notice: NoticeMap[Type]) => void;
  /** How often to try what is spooled, and to look for what a dead process left. */
  drainMs: number;
}

/** Keeps verified webhooks on disk, one way or the other. */
export interface Keeping {
  /** Resolves when the webhook is on disk; rejects with `record_unavailable` when it is not known to be. */
  keep: (arrival: Arrival) => Promise<Receipt>;
  /** Begins to drain what is spooled, and what an earlier process left. */
  start: () => void;
  close: () => Promise<void>;
}

/** The store is away, not the record wrong: everything behind it would fail likewise. */
const awayCodes: readonly ErrorCode[] = [
  "store_unavailable",
  "store_busy",
  "store_closed",
  "driver_missing",
  "schema_too_new",
];

/** How often a record may fail while the store is there, before it is set aside for a person. */
const triesBeforeSetAside = 3;

class Hopeless extends Error {}

/**
 * The store first; where it cannot commit, the spool; where neither can, nothing is promised. What is spooled is
 * recorded later by the very same way, which makes recording it twice harmless.
 */
export function keepWebhooks(options: KeepingOptions): Keeping {
  const { record, recordTogether, spool, probe, notify, drainMs } = options;
  const failures = new Map<string, number>();
  let underWay = 0;
  const closing: (() => void)[] = [];
  let timer: NodeJS.Timeout | undefined;
  let draining: Promise<unknown> | undefined;

  function keep(arrival: Arrival): Promise<Receipt> {
    underWay += 1;
    // No async function: this is on every webhook's way, and nearly all of them go straight through.
    return record(arrival).then(leave, (error: unknown) =>
      spoolOrRefuse(arrival, error).finally(() => leave(undefined)),
    );
  }

  function leave<Result>(result: Result): Result {
    underWay -= 1;
    if (underWay === 0) for (const resolve of closing.splice(0)) resolve();
    return result;
  }

  async function spoolOrRefuse(arrival: Arrival, cause: unknown): Promise<Receipt> {
    notify("store.unavailable", { during: "record", error: cause });
    const { receiptId, receivedAt, rawBody, covers, message } = arrival;
    if (!spool)
      throw new WebhookRejectedError("record_unavailable", "The store is away, with no spool.", { cause });
    try {
      await spool.append({ receiptId, receivedAt, rawBody, covers });
    } catch (spoolError) {
      const message = "Neither the store nor the spool could keep the webhook.";
      throw new WebhookRejectedError("record_unavailable", message, { cause: spoolError });
    }
    notify("webhook.spooled", { receiptId, error: cause });
    const clientId = message.kind === "payment" ? { clientId: message.report.clientId } : {};
    return { receiptId, outcome: "spooled", ...clientId };
  }

  function fromSpool({ receiptId, receivedAt, rawBody, ...webhook }: SpooledWebhook): Arrival {
    // Written by this kit, from a scheme that was checked.
    const covers = webhook.covers as Arrival["covers"];
    return { receiptId, receivedAt, rawBody, covers, message: readMessage({ rawBody, covers }) };
  }

  /** In one commit, so that a store which comes back in the middle never gets a later one before an earlier. */
  async function recordMany(webhooks: readonly SpooledWebhook[]): Promise<void> {
    await recordTogether(webhooks.map(fromSpool));
    for (const { receiptId } of webhooks) failures.delete(receiptId);
  }

  /** Alone, so that a failure is known to be this record's own. */
  async function recordOne(webhook: SpooledWebhook): Promise<void> {
    const { receiptId } = webhook;
    try {
      await record(fromSpool(webhook));
      failures.delete(receiptId);
    } catch (error) {
      if (isAway(error) || (await isProbeFailing())) throw error;
      const failed = (failures.get(receiptId) ?? 0) + 1;
      failures.set(receiptId, failed);
      if (failed < triesBeforeSetAside) throw error;
      failures.delete(receiptId);
      throw new Hopeless(error instanceof Error ? error.message : String(error), { cause: error });
    }
  }

  /** Drivers have more words for "away" than anybody can list. */
  async function isProbeFailing(): Promise<boolean> {
    return probe().then(
      () => false,
      () => true,
    );
  }

  function drain(): void {
    draining ??= spool
      ?.drain(recordOne, { recordMany, isHopeless: (error) => error instanceof Hopeless })
      .finally(() => (draining = undefined));
  }

  return {
    keep,
    start() {
      if (!spool || timer) return;
      timer = setInterval(drain, drainMs).unref();
      drain();
    },
    async close() {
      clearInterval(timer);
      // Each has a deadline, so this ends; their senders were promised nothing yet, and are answered.
      if (underWay > 0) await new Promise<void>((resolve) => closing.push(resolve));
      await draining;
      await spool?.close();
    },
  };
}

function isAway(error: unknown): boolean {
  const code = (error as Partial<TillkitError> | undefined)?.code;
  return code !== undefined && awayCodes.includes(code);
}

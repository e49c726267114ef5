import { type TillkitEvent } from "./event-map.js";

/**
 * Notices by name, with their payloads. A notice goes to the listeners of this process and is never recorded.
 * Use notices for alarms and counters. Nothing about money may depend on a notice.
 */
export interface NoticeMap {
  /** A webhook was refused before anything was recorded. `bodyHash` is a prefix of the body's SHA-256. */
  "webhook.rejected": { code: string; status: number; bodyHash?: string };
  /** The store could not record a webhook, so the webhook is in the spool until the store works again. */
  "webhook.spooled": { receiptId: string; error: unknown };
  /** A spooled webhook cannot be read, or cannot be recorded although the store works. Look at the file. */
  "webhook.set_aside": { reason: string; file: string };
  /**
   * The kit cannot write webhooks to the spool, or cannot read webhooks that wait in it. Sent once, when the
   * spool stops working. Until the spool works again, the health has the reason `spool_unavailable`.
   */
  "spool.unavailable": { error: unknown };
  /**
   * The store no longer has changes that it had acknowledged: the database was replaced by an older copy, or
   * by another database. The health has the reason `store_went_back` until the process ends.
   */
  "store.went_back": { error: unknown };
  /** A run of a handler failed and will be tried again. */
  "dispatch.failed": { event: TillkitEvent; handler: string; failures: number; error: unknown };
  /** The last attempt of a dispatch has failed. The dispatch stays dead until a person acts. */
  "dispatch.dead": { event: TillkitEvent; handler: string; error: string };
  /**
   * No webhooks come any more, although customers get new payments. With `channel`, only webhooks of this
   * channel are missing. Until a webhook comes, the health has the reason `webhooks_silent`, but for a
   * channel only for a week. `waiting` is the number of payments without a webhook. Usually, `expected` of
   * these payments would have a webhook. `probability` is the probability of such a silence if nothing is
   * wrong.
   */
  "webhooks.silent": {
    channel?: string;
    since: string;
    waiting: number;
    expected: number;
    probability: number;
  };
  /** A webhook came after a silence. With `channel`, only webhooks of this channel were missing. */
  "webhooks.recovered": { channel?: string; since: string; silentMs: number };
  /** The kit could not look up a payment, or could not use the answer. The kit asks again later. */
  "lookup.failed": { clientId?: string; error: unknown };
  /**
   * The store failed to start, to record, to claim, or during a handler's transaction. The kit keeps trying.
   */
  "store.unavailable": { during: "record" | "claim" | "start" | "handler"; error: unknown };
}

/** The name of a notice. */
export type NoticeType = keyof NoticeMap;

/** The names of all notices. */
export const noticeTypes = Object.keys({
  "webhook.rejected": 1,
  "webhook.spooled": 1,
  "webhook.set_aside": 1,
  "spool.unavailable": 1,
  "dispatch.failed": 1,
  "dispatch.dead": 1,
  "lookup.failed": 1,
  "store.unavailable": 1,
  "store.went_back": 1,
  "webhooks.silent": 1,
  "webhooks.recovered": 1,
} satisfies Record<NoticeType, 1>);

/** Sends a notice to the listeners of this process. */
export type Notify = <Type extends NoticeType>(type: Type, notice: NoticeMap[Type]) => void;

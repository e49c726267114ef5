import { type Logger } from "pino";
import { loggable } from "../errors/conceal-secrets.js";
import { type NoticeMap, type NoticeType, type Notify } from "../model/notice-map.js";

/**
 * A listener for a notice in this process. The errors of a listener are ignored, so that they cannot disturb
 * a payment.
 */
export type NoticeListener<Type extends NoticeType> = (notice: NoticeMap[Type]) => unknown;

/** Sends notices to the listeners of this process. Notices are never stored. */
export class Notices {
  readonly #listeners = new Map<NoticeType, Set<(notice: never) => unknown>>();

  add = <Type extends NoticeType>(type: Type, listener: NoticeListener<Type>): (() => void) => {
    const listeners = this.#listeners.get(type) ?? new Set();
    this.#listeners.set(type, listeners);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };

  notify: Notify = (type, notice) => {
    for (const listener of this.#listeners.get(type) ?? []) void call(listener, notice);
  };
}

async function call(listener: (notice: never) => unknown, notice: unknown): Promise<void> {
  try {
    await listener(notice as never);
  } catch {
    // An unhandled rejection would end the process.
  }
}

/** Logs every notice except `webhook.rejected`, because the request log has a line for each request. */
export function logNotices(addListener: Notices["add"], logger: Logger): void {
  addListener("dispatch.failed", ({ event, handler, failures, error }) => {
    logger.warn(
      { err: loggable(error), event: event.type, eventId: event.id, handler, failures },
      "a handler failed and will run again",
    );
  });
  addListener("dispatch.dead", ({ event, handler, error }) => {
    logger.error(
      { event: event.type, eventId: event.id, handler, error },
      "a dispatch used up its tries and needs a person",
    );
  });
  addListener("webhook.spooled", ({ receiptId, error }) => {
    logger.warn({ err: loggable(error), receiptId }, "a webhook was spooled");
  });
  addListener("webhook.set_aside", ({ reason, file }) => {
    logger.error({ reason, file }, "a spooled webhook could not be recorded and needs a person");
  });
  addListener("spool.unavailable", ({ error }) => {
    logger.error({ err: loggable(error) }, "the spool cannot be used");
  });
  addListener("store.went_back", ({ error }) => {
    logger.error({ err: loggable(error) }, "the store went back in time and needs a person");
  });
  addListener("webhooks.silent", ({ probability: _, ...silence }) => {
    logger.error(silence, "webhooks no longer come");
  });
  addListener("webhooks.recovered", (silence) => {
    logger.info(silence, "a webhook came again");
  });
  addListener("lookup.failed", ({ clientId, error }) => {
    logger.warn({ err: loggable(error), clientId }, "a lookup failed");
  });
  addListener("store.unavailable", ({ during, error }) => {
    logger.error({ err: loggable(error), during }, "the store is not available");
  });
}

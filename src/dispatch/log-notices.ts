import { type Logger } from "pino";
import { loggable } from "../errors/loggable.js";
import { type Notices } from "./notices.js";

/** Writes down what nobody may be listening to. Rejected webhooks have a line of their own, in the request log. */
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
  addListener("lookup.failed", ({ clientId, error }) => {
    logger.warn({ err: loggable(error), ...(clientId !== undefined && { clientId }) }, "a lookup failed");
  });
  addListener("store.unavailable", ({ during, error }) => {
    logger.error({ err: loggable(error), during }, "the store is not available");
  });
}

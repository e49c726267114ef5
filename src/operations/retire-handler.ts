import { type Logger } from "pino";
import { type Handlers } from "../dispatch/handlers.js";
import { TillkitError } from "../errors/index.js";
import { eventTypes, type EventType } from "../model/event-map.js";
import { describeUnknown } from "../shared/unknown-names.js";
import { type HandlerKey, type PaymentStore } from "../store/index.js";

const batchSize = 500;

/** Options of `payments.retireHandler`. */
export interface RetireHandlerOptions {
  /** Retires only the registration of the name for this event; `"*"` is that of `onAny`. @default all of the name */
  event?: EventType | "*" | undefined;
}

/**
 * Retires a handler name, in batches that commit one by one. Returns the number of retired dispatches. A repeated call
 * continues where one broke off. Logs a warning if the store does not know the name.
 *
 * @throws TillkitError `handler_registered`
 */
export async function retireHandler<Tx>(
  { store, handlers, logger }: { store: PaymentStore<Tx>; handlers: Handlers<Tx>; logger: Logger },
  name: string,
  options: RetireHandlerOptions = {},
): Promise<number> {
  const { event } = options;
  const unknown = describeUnknown(options, { event });
  if (unknown !== undefined) throw new TillkitError("option_invalid", unknown);
  if (event !== undefined && event !== "*" && !(eventTypes as readonly string[]).includes(event))
    throw new TillkitError("option_invalid", `No event is named ${JSON.stringify(event)}.`);
  const isRegistered = (key: HandlerKey) => key.name === name && (event === undefined || key.event === event);
  if (handlers.keys().some(isRegistered)) {
    const what = event === undefined ? "" : ` of ${event}`;
    throw new TillkitError("handler_registered", `This process has a handler${what} named "${name}".`);
  }
  const known = (await store.handlers()).map((one) => one.name);
  let total = 0;
  for (;;) {
    const retired = await store.retire({
      handler: name,
      ...(event !== undefined && { event }),
      limit: batchSize,
    });
    total += retired;
    if (retired === batchSize) continue;
    if (total === 0 && !known.includes(name))
      logger.warn(
        { handler: name, known },
        `nothing was retired: the store knows no handler named "${name}"`,
      );
    return total;
  }
}

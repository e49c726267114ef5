import { type Logger } from "pino";
import { type Handlers } from "../dispatch/handlers.js";
import { TillkitError } from "../errors/index.js";
import { eventTypes, type EventType } from "../model/event-map.js";
import { describeUnknown } from "../shared/unknown-names.js";
import { changeNote, type ChangeParts, expectOptionText } from "./handlers/control-handler.js";
import { withoutUndefined } from "../shared/without-undefined.js";
import { type HandlerKey } from "../store/index.js";

const batchSize = 500;

/** Options of `payments.retireHandler`. */
export interface RetireHandlerOptions {
  /**
   * The event for which the name is retired. `"*"` retires the registration with `onAny`.
   * @default all events
   */
  event?: EventType | "*" | undefined;
  /**
   * The person who retires the name, for `payments.handlers`: 1 to 128 characters.
   * @default no name is kept
   */
  by?: string | undefined;
  /**
   * The reason, for other people: 1 to 1,000 characters. Give it only with `by`. @default no reason is kept
   */
  reason?: string | undefined;
}

/**
 * Retires a handler name, in batches that commit separately. Returns the number of retired dispatches. After
 * an interrupted call, a second call continues. Logs a warning if the name is not in the store.
 *
 * @throws TillkitError `handler_registered` if this process has the handler; `option_invalid` if an option is
 * not valid
 */
export async function retireHandler<Tx>(
  parts: ChangeParts<Tx> & { handlers: Handlers<Tx>; logger: Logger },
  name: string,
  options: RetireHandlerOptions = {},
): Promise<number> {
  const { store, handlers, logger } = parts;
  const { event, by, reason } = options;
  const unknown = describeUnknown(options, { event, by, reason });
  if (unknown !== undefined) throw new TillkitError("option_invalid", unknown);
  if (by !== undefined) expectOptionText("by", by, 128);
  if (reason !== undefined) expectOptionText("reason", reason, 1000);
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
    await keepRetirement(parts, name, { by, reason, retired: total, wasKnown: known.includes(name) });
    return total;
  }
}

/**
 * Stores who retired a name. If nothing else of the name is left, also ends its pause and its limit, because
 * no person could end them later.
 */
async function keepRetirement<Tx>(
  parts: ChangeParts<Tx>,
  name: string,
  given: { by: string | undefined; reason: string | undefined; retired: number; wasKnown: boolean },
): Promise<void> {
  const { wasKnown, ...what } = given;
  const isLeft = (await parts.store.handlers()).some((one) => one.name === name);
  await changeNote(parts, name, undefined, ({ paused, perSecond }, at) => {
    const ends = !isLeft && (paused ?? perSecond) !== undefined;
    const isKept = what.by !== undefined && (wasKnown || what.retired > 0);
    if (!ends && !isKept) return undefined;
    const fields = ends ? { paused: undefined, perSecond: undefined } : {};
    return { fields, change: { did: "retired", ...withoutUndefined(what), at } };
  });
}

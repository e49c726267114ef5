import { pino, type Logger } from "pino";
import { Handlers } from "../dispatch/handlers.js";
import { logNotices, Notices } from "../dispatch/notices.js";
import { type SignedField } from "../model/signed-fields.js";
import { newId } from "../shared/new-id.js";
import { type RecordingParts } from "../webhook/recording/rematch.js";
import { openStore } from "./open-store.js";
import { type ResolvedOptions } from "./options/resolve-options.js";

/** What every part of the kit shares. */
export interface Core<Tx> extends RecordingParts<Tx> {
  logger: Logger;
  handlers: Handlers<Tx>;
  /** Adds a listener for notices. */
  listen: Notices["add"];
  /** Sends a notice to the listeners of this process. */
  notify: Notices["notify"];
  /** Calls the listener whenever a part announces that it saved events. */
  onEvents: (listener: () => void) => void;
}

/** Makes the core. Does no I/O: `ready()` opens the store. */
export function createCore<Covers extends SignedField, Tx>(options: ResolvedOptions<Covers, Tx>): Core<Tx> {
  const { store, now, signature } = options;
  const logger = options.logger || pino({ name: "tillkit", enabled: options.logger !== false });
  const { add: listen, notify } = new Notices();
  logNotices(listen, logger);
  for (const warning of signature.warnings ?? []) logger.warn({ option: "signature" }, warning);

  const handlers = new Handlers<Tx>();
  const onWarning = (warning: string) => logger.warn({ option: "store" }, warning);
  const listeners: (() => void)[] = [];
  return {
    store,
    now,
    newId,
    logger,
    handlers,
    listen,
    notify,
    ready: openStore({ store, handlers, onWarning }),
    policy: {
      clientIdPrefix: options.clientIdPrefix,
      confirms: options.confirm === "lookup",
      hasGrace: store.stray !== undefined,
    },
    onEvents: (listener) => void listeners.push(listener),
    announceEvents: () => {
      for (const listener of listeners) listener();
    },
  };
}

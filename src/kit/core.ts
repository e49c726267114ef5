import { pino, type Logger } from "pino";
import { Handlers } from "../dispatch/handlers.js";
import { logNotices, Notices } from "../dispatch/notices.js";
import { type SignedField } from "../model/signed-fields.js";
import { because } from "../shared/because.js";
import { type ClockWatch, watchClock } from "../shared/clock-watch.js";
import { newId } from "../shared/new-id.js";
import { storeInTime } from "../shared/with-timeout.js";
import { type PaymentStore } from "../store/index.js";
import { type RecordingParts } from "../webhook/recording/recording-parts.js";
import { RefusedWebhooks } from "../webhook/refused-webhooks.js";
import { type ResolvedOptions } from "./options/resolve-options.js";

/** The objects that all parts of the kit share. */
export interface Core<Tx> extends RecordingParts<Tx> {
  logger: Logger;
  clock: ClockWatch;
  handlers: Handlers<Tx>;
  /** Keeps refused webhooks. `undefined` if the kit keeps none. */
  refused: RefusedWebhooks | undefined;
  /** Adds a listener for notices. */
  listen: Notices["add"];
  /** Sends a notice to the listeners of this process. */
  notify: Notices["notify"];
  /** Returns a message if the store should be open and is not. */
  unopened: () => string | undefined;
  /** Registers the handlers again. Before the first registration, does nothing. */
  registerAgain: () => Promise<void>;
  /** Calls the listener whenever a part announces that it saved events. */
  onEvents: (listener: () => void) => void;
}

/** Creates the core. Does no I/O, because only `ready()` opens the store. */
export function createCore<Covers extends SignedField, Tx>(options: ResolvedOptions<Covers, Tx>): Core<Tx> {
  const { store, now, signature } = options;
  const directory = options.webhook.keepRefused;
  const concurrency = options.dispatches ? options.dispatch.concurrency : 0;
  // Pino's serializer would write "Object" as the type of an error from `loggable`, and no causes.
  const serializers = { err: (error: unknown) => error };
  const given = options.logger || pino({ name: "tillkit", enabled: options.logger !== false });
  const logger = given.child({}, { serializers });
  const { add: listen, notify } = new Notices();
  logNotices(listen, logger);
  for (const warning of signature.warnings ?? []) logger.warn({ option: "signature" }, warning);

  const handlers = new Handlers<Tx>();
  const listeners: (() => void)[] = [];
  return {
    store,
    now,
    newId,
    clock: watchClock(),
    logger,
    handlers,
    refused:
      directory === undefined
        ? undefined
        : new RefusedWebhooks({ directory, header: signature.header, logger, now }),
    listen,
    notify,
    ...openStore({ store, handlers, concurrency, logger, now }),
    policy: {
      clientIdPrefix: options.clientIdPrefix,
      confirms: options.confirm === "lookup",
    },
    maxGroup: Math.min(100, store.maxGroup),
    onEvents: (listener) => void listeners.push(listener),
    announceEvents: () => {
      for (const listener of listeners) listener();
    },
  };
}

interface OpeningParts<Tx> {
  store: PaymentStore<Tx>;
  handlers: Handlers<Tx>;
  concurrency: number;
  logger: Logger;
  now: () => Date;
}

/**
 * The interval at which the handlers are registered again. A store loses registrations if an older copy of
 * its database is restored, or if an asynchronous standby takes over.
 */
const registeredAgainMs = 10_000;

/** The maximum time of a registration. Otherwise, a call of the store that never ends would stop the kit. */
const maxRegisterMs = 60_000;

/** The time from which an opening is slow. A store usually opens in milliseconds. */
const slowOpeningMs = 2000;

/**
 * Returns `ready()`, which opens the store and registers the handlers of this process, `registerAgain()` and
 * `unopened()`.
 * `ready()` must be awaited before anything is recorded, because an event gets no dispatch for a handler name
 * that the store does not have yet. After a failure, the next call of `ready()` tries again.
 */
function openStore<Tx>({ store, handlers, concurrency, logger, now }: OpeningParts<Tx>) {
  let migrated = false;
  /** The times of the first registrations, in the order of the handlers. */
  const since: string[] = [];
  let registeredAt = -Infinity;
  let opening: Promise<void> | undefined;
  /** The start of the first try to open the store, by `performance.now()`, and the error of the last try. */
  let openedFrom = Infinity;
  let failure: unknown;

  async function register(): Promise<void> {
    registeredAt = performance.now();
    const at = now().toISOString();
    // The keys are in the order in which the handlers were added, so that each keeps its index.
    const keys = handlers.keys().map((key, index) => (since[index] ? { ...key, since: since[index] } : key));
    await storeInTime(store.registerHandlers(keys), maxRegisterMs);
    for (let index = since.length; index < keys.length; index++) since.push(at);
  }

  async function open(): Promise<void> {
    if (!migrated) {
      openedFrom = Math.min(openedFrom, performance.now());
      await store.migrate();
      // All warnings are read before the first one is logged. Otherwise, a new try after a failure would log
      // a warning twice.
      const warnings = await store.warnings({ concurrency });
      const option = "store";
      for (const warning of warnings) logger.warn({ option }, warning);
      migrated = true;
    }
    if (handlers.size > since.length) await register();
  }

  function unopened(): string | undefined {
    const openingMs = Math.round(performance.now() - openedFrom);
    if (migrated || (failure === undefined && openingMs < slowOpeningMs)) return undefined;
    return `The store has not opened for ${openingMs} ms${failure === undefined ? "." : because(failure)}`;
  }

  async function ready(): Promise<void> {
    while (!migrated || since.length < handlers.size) {
      opening ??= open()
        .catch((error: unknown) => {
          failure = error;
          throw error;
        })
        .finally(() => (opening = undefined));
      await opening;
    }
    // No caller waits for this registration. If it fails, a later call repeats it.
    const isDue = since.length > 0 && performance.now() - registeredAt > registeredAgainMs;
    if (isDue) void register().catch(() => {});
  }

  return { ready, unopened, registerAgain: async () => (since.length > 0 ? register() : undefined) };
}

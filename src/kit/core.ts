import { pino, type Logger } from "pino";
import { Handlers } from "../dispatch/handlers.js";
import { logNotices, Notices } from "../dispatch/notices.js";
import { type SignedField } from "../model/signed-fields.js";
import { type ClockWatch, watchClock } from "../shared/clock-watch.js";
import { newId } from "../shared/new-id.js";
import { type PaymentStore } from "../store/index.js";
import { type RecordingParts } from "../webhook/recording/recording-parts.js";
import { RefusedWebhooks } from "../webhook/refused-webhooks.js";
import { type ResolvedOptions } from "./options/resolve-options.js";

/** What every part of the kit shares. */
export interface Core<Tx> extends RecordingParts<Tx> {
  logger: Logger;
  clock: ClockWatch;
  handlers: Handlers<Tx>;
  /** Keeps refused webhooks; `undefined` where none are kept. */
  refused: RefusedWebhooks | undefined;
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
  const directory = options.webhook.keepRefused;
  const concurrency = options.dispatches ? options.dispatch.concurrency : 0;
  // Pino's serializer writes "Object" as the type of what `loggable` returns, and no causes.
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
    ready: openStore({ store, handlers, concurrency, logger, now }),
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
 * How often the handlers are registered again. A store forgets them where an older copy of its database is restored, or where an
 * asynchronous standby takes over.
 */
const registeredAgainMs = 10_000;

/**
 * Returns `ready()`, which opens the store and registers the handlers of this process there. It must be awaited before
 * anything is recorded: an event has no dispatch for a handler name that the store does not know yet. A failed call is
 * repeated by the next one.
 */
function openStore<Tx>({ store, handlers, concurrency, logger, now }: OpeningParts<Tx>): () => Promise<void> {
  let migrated = false;
  /** When each handler was registered first. */
  const since: string[] = [];
  let registeredAt = -Infinity;
  let opening: Promise<void> | undefined;

  async function register(): Promise<void> {
    registeredAt = performance.now();
    const at = now().toISOString();
    // In the order of their addition, so a handler keeps its place.
    const keys = handlers.keys().map((key, index) => (since[index] ? { ...key, since: since[index] } : key));
    await store.registerHandlers(keys);
    for (let index = since.length; index < keys.length; index++) since.push(at);
  }

  async function open(): Promise<void> {
    if (!migrated) {
      await store.migrate();
      // Read before anything is logged: a failed call is repeated.
      const warnings = await store.warnings({ concurrency });
      const option = "store";
      for (const warning of warnings) logger.warn({ option }, warning);
      migrated = true;
    }
    if (handlers.size > since.length) await register();
  }

  return async function ready(): Promise<void> {
    while (!migrated || since.length < handlers.size) {
      opening ??= open().finally(() => {
        opening = undefined;
      });
      await opening;
    }
    // Nothing waits for it: what fails is repeated, and the events of that time are found.
    const isDue = since.length > 0 && performance.now() - registeredAt > registeredAgainMs;
    if (isDue) void register().catch(() => {});
  };
}

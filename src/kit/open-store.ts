import { type Handlers } from "../dispatch/handlers.js";
import { type PaymentStore } from "../store/index.js";

/** The parts of the kit that opening the store uses. */
export interface OpenStoreParts<Tx> {
  store: PaymentStore<Tx>;
  handlers: Handlers<Tx>;
  onWarning: (warning: string) => void;
}

/**
 * Returns `ready()`, which opens the store and registers the handlers of this process there. It must be awaited before
 * anything is recorded: an event has no dispatch for a handler name that the store does not know yet. A failed call is
 * repeated by the next one.
 */
export function openStore<Tx>({ store, handlers, onWarning }: OpenStoreParts<Tx>): () => Promise<void> {
  let migrated = false;
  let knownHandlers = 0;
  let opening: Promise<void> | undefined;

  async function open(): Promise<void> {
    if (!migrated) {
      await store.migrate?.();
      for (const warning of (await store.warnings?.()) ?? []) onWarning(warning);
      migrated = true;
    }
    const keys = handlers.keys();
    if (keys.length > knownHandlers) await store.registerHandlers(keys);
    knownHandlers = keys.length;
  }

  return async function ready(): Promise<void> {
    while (!migrated || knownHandlers < handlers.size) {
      opening ??= open().finally(() => {
        opening = undefined;
      });
      await opening;
    }
  };
}

import { type Handlers } from "../dispatch/handlers.js";
import { type PaymentStore } from "../store/index.js";

/** What opening the store needs. */
export interface StartupOptions<Tx> {
  store: PaymentStore<Tx>;
  handlers: Handlers<Tx>;
  onWarning: (warning: string) => void;
}

/**
 * Sees to it that the store is open and knows the handlers of this process before anything is recorded: a name that
 * it does not know yet would miss the event. A failed attempt is repeated at the next call.
 */
export function startup<Tx>({ store, handlers, onWarning }: StartupOptions<Tx>): () => Promise<void> {
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

import { readDatabase } from "../../shared/database-address.js";
import { type SqlPaymentStore } from "../../store/sql/index.js";
import { storeMethods } from "./store-methods.js";

type Methods = Record<string, (...args: unknown[]) => unknown>;

/**
 * Returns the store for a database that one string names, as `sqlStore` does. The first use loads the code of
 * the SQL stores.
 *
 * @throws ConfigurationError `option_invalid`
 */
export function deferredStore(database: string): SqlPaymentStore {
  const { kind, at } = readDatabase(database);
  let store: SqlPaymentStore | undefined;

  async function load(): Promise<void> {
    const { sqlStore } = await import("../../store/sql/index.js");
    store ??= sqlStore(at);
  }
  // After the store is loaded, a call makes no additional promise.
  const call = (name: string, args: unknown[]): unknown =>
    store ? (store as unknown as Methods)[name]!(...args) : load().then(() => call(name, args));
  const forwarding = [...storeMethods, "runShared", "backup", "query"].map(
    (name) => [name, (...args: unknown[]) => call(name, args)] as const,
  );

  function wake(listener: () => void): () => void {
    let stop: (() => void) | undefined = () => undefined;
    const begin = (): void => void (stop &&= store!.wake!(listener));
    // If the store cannot be loaded, the other calls report the reason.
    load().then(begin, () => undefined);
    return () => {
      stop?.();
      stop = undefined;
    };
  }

  return {
    ...(Object.fromEntries(forwarding) as unknown as SqlPaymentStore),
    durable: true,
    maxGroup: Infinity,
    ...(kind === "sqlite" && { spoolDirectory: `${at}-spool` }),
    ...(kind === "postgres" && { wake }),
  };
}

import { readDatabase } from "../../store/database-address.js";
import { withoutMember } from "../../store/optional-members.js";
import { type SqlPaymentStore } from "../../store/sql/index.js";
import { requiredMethods } from "./option-problems.js";

/** Members that a SQL store lacks, and those whose answer cannot be a promise. */
const others = ["reports", "maxGroup", "spoolDirectory", "lazy", "wake"];
const methods = [...requiredMethods, ...Object.keys(withoutMember).filter((name) => !others.includes(name))];

type Methods = Record<string, (...args: unknown[]) => unknown>;

/**
 * Returns the store for a database that one string names, as `sqlStore` does. The code of the SQL stores is loaded at its first use.
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
  // Once the store is loaded, a call costs no promise of its own.
  const call = (name: string, args: unknown[]): unknown =>
    store ? (store as unknown as Methods)[name]!(...args) : load().then(() => call(name, args));
  const forwarding = methods.map((name) => [name, (...args: unknown[]) => call(name, args)] as const);

  function wake(listener: () => void): () => void {
    let stop: (() => void) | undefined = () => undefined;
    const begin = (): void => void (stop &&= store!.wake!(listener));
    // The other calls report why the store cannot be loaded.
    load().then(begin, () => undefined);
    return () => {
      stop?.();
      stop = undefined;
    };
  }

  return {
    ...(Object.fromEntries(forwarding) as unknown as SqlPaymentStore),
    durable: true,
    // The kit calls it for a dispatch that was claimed, and so after the store was loaded.
    lazy: (open) => store!.lazy(open),
    ...(kind === "sqlite" && { spoolDirectory: `${at}-spool` }),
    ...(kind === "postgres" && { wake }),
  };
}

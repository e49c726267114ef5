import { TillkitError } from "../../../errors/index.js";

/**
 * Returns the database's handle for one transaction. All transactions share the connection. So once `isOver`,
 * this handle, its statements and their rows refuse every call. Otherwise a handler that was given up could
 * write in the next transaction.
 */
export function handleOf<Handle extends object>(handle: Handle, isOver: () => boolean): Handle {
  const expectOpen = (): void => {
    if (isOver())
      throw new TillkitError("transaction_closed", "This handle belongs to a transaction that has ended.");
  };
  return new Proxy(handle, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        expectOpen();
        const result: unknown = value.apply(target, args);
        return canRun(result) ? handleOf(result, isOver) : result;
      };
    },
  });
}

/** Returns whether a result is a statement, or its rows. Reading the first row runs the statement. */
function canRun(result: unknown): result is object {
  const { run, next } = Object(result) as { run?: unknown; next?: unknown };
  return typeof run === "function" || typeof next === "function";
}

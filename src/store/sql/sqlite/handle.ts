import { TillkitError } from "../../../errors/index.js";

/**
 * Returns the database's handle for one transaction. All transactions share the connection. So once `isOver`,
 * this handle and its statements refuse every call. Otherwise a handler that was given up could write in the
 * next transaction.
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
        return isStatement(result) ? handleOf(result, isOver) : result;
      };
    },
  });
}

function isStatement(value: unknown): value is object {
  return typeof value === "object" && value !== null && "run" in value && typeof value.run === "function";
}

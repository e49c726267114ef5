import { setTimeout as delay } from "node:timers/promises";
import { isTillkitError } from "../../../errors/index.js";
import { type Dialect } from "../driver/dialect.js";

/** All tries of one transaction take about a second, and at most 2.6 seconds. */
const maxTries = 8;
const firstDelayMs = 20;

/** Runs a transaction of the kit, again where the database ended it in favour of another one. That may happen at its commit too. */
export async function retryConflicts<T>(
  dialect: Pick<Dialect, "isDeadlock">,
  run: () => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await run();
    } catch (error) {
      if (tries === maxTries || !dialect.isDeadlock(error)) throw error;
    }
    // A random delay, or two servers of a cluster would meet again.
    await delay(Math.random() * firstDelayMs * 2 ** (tries - 1));
  }
}

/** Runs a transaction with statements of the application. The kit's own conflicts repeat it, and the application's errors do not. */
export function retryOwnConflicts<T>(
  dialect: Pick<Dialect, "isDeadlock">,
  run: () => Promise<T>,
): Promise<T> {
  const isDeadlock = (error: unknown): boolean => isTillkitError(error) && dialect.isDeadlock(error);
  return retryConflicts({ isDeadlock }, run);
}

import { setTimeout as delay } from "node:timers/promises";
import { isTillkitError } from "../../../errors/index.js";
import { type Dialect } from "../driver/dialect.js";

/** The sum of the waits between these tries is about 1.3 seconds, and at most 2.6 seconds. */
const maxTries = 8;
const firstDelayMs = 20;

/**
 * Runs a transaction of the kit. Runs it again if the database ended it in favour of another one, which can
 * also happen at the commit.
 */
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
    // The delay is random. Otherwise two servers of a cluster would conflict again.
    await delay(Math.random() * firstDelayMs * 2 ** (tries - 1));
  }
}

/**
 * Runs a transaction with statements of the application. Repeats it after conflicts of the kit's own
 * statements, but not after errors of the application.
 */
export function retryOwnConflicts<T>(
  dialect: Pick<Dialect, "isDeadlock">,
  run: () => Promise<T>,
): Promise<T> {
  const isDeadlock = (error: unknown): boolean => isTillkitError(error) && dialect.isDeadlock(error);
  return retryConflicts({ isDeadlock }, run);
}

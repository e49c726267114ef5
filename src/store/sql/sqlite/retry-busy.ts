import { setTimeout as delay } from "node:timers/promises";
import { TillkitError } from "../../../errors/index.js";
import { isBusy } from "./database.js";

/**
 * Runs a synchronous piece of SQLite again while another connection holds the lock. The waiting is a timer of ours, and
 * not SQLite's own busy timeout, which would block the event loop that the holder may need.
 */
export async function retryBusy<T>(timeoutMs: number, run: () => T): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (let pause = 1; ; pause = Math.min(pause * 2, 50)) {
    try {
      return run();
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (performance.now() >= deadline)
        throw new TillkitError("store_busy", `The SQLite file stayed locked for ${timeoutMs} ms.`, {
          cause: error,
        });
    }
    await delay(pause * (0.5 + Math.random() / 2));
  }
}

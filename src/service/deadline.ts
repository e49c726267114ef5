import { type ConfigurationProblem } from "../errors/index.js";
import { isWholeNumber, maxTimerMs } from "../shared/whole-number.js";

/** Judges an option in milliseconds; `undefined` stands for the default. */
export function timeoutProblems(option: string, value: unknown): ConfigurationProblem[] {
  if (value === undefined || isWholeNumber(value, 1, maxTimerMs)) return [];
  const message = `must be a whole number of milliseconds from 1 to ${maxTimerMs}.`;
  return [{ code: "option_invalid", option, message }];
}

/**
 * Resolves with `work`, or rejects with the signal's reason once it aborts. Used besides handing the signal to
 * `fetch`: a token function or a `fetch` of the application's own may ignore it, and the built-in one can lose
 * track of it while a body is read.
 */
export function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

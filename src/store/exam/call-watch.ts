import { setTimeout as delay } from "node:timers/promises";

/** Notes the calls of one check: their results, their durations, and the calls that have not ended. */
export class CallWatch {
  /** Each call with its result, in the order in which the calls began. */
  readonly calls: string[] = [];
  readonly #running = new Map<number, { call: string; since: number }>();
  readonly #tookMs: number[] = [];
  #endedAt = performance.now();
  #step: string | undefined;

  /** Runs a step around the check, such as `remove`. If the step hangs, {@link describe} names it. */
  async during<T>(step: string, run: () => Promise<T>): Promise<T> {
    this.#step = step;
    return run().finally(() => (this.#step = undefined));
  }

  /** Notes the start of a call. Returns a function that notes the end and the result of the call. */
  begin(call: string): (result?: string) => void {
    const index = this.calls.push(call) - 1;
    const since = performance.now();
    this.#running.set(index, { call, since });
    return (result) => {
      if (result !== undefined) this.calls[index] += ` → ${result}`;
      this.#running.delete(index);
      this.#endedAt = performance.now();
      this.#tookMs.push(this.#endedAt - since);
    };
  }

  /** Resolves when no call has ended for this time. A check may be slow as long as its calls end. */
  async stands(ms: number, signal: AbortSignal): Promise<void> {
    for (;;) {
      const leftMs = this.#endedAt + ms - performance.now();
      if (leftMs <= 0) return;
      await delay(leftMs, undefined, { signal });
    }
  }

  /** Returns a sentence with the number of calls, their durations, and the calls that have not ended. */
  describe(): string {
    const times = this.#tookMs.toSorted((a, b) => a - b).map(Math.round);
    const median = times[Math.floor(times.length / 2)] ?? 0;
    const running = [...this.#running.values()];
    const [oldest] = running;
    const open = oldest
      ? `${oldest.call} has not ended for ${Math.round((performance.now() - oldest.since) / 1000)} s${others(running.length - 1)}`
      : `${this.#step ?? "no call is running, and the check"} has not ended`;
    return `${times.length} calls took ${median} ms in the median, ${times.at(-1) ?? 0} ms at most; ${open}.`;
  }
}

/** Returns the end of the sentence about a call that hangs: the number of other such calls, and a reason. */
function others(count: number): string {
  if (count === 0) return ". It may wait for a connection or a lock that an earlier call has not released";
  const calls = count === 1 ? "has one other call" : `have ${count} other calls`;
  return `, nor ${calls}. Each of them may wait for a connection or a lock that another one holds`;
}

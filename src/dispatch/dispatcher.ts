import { setMaxListeners } from "node:events";
import { setImmediate as nextIteration } from "node:timers/promises";
import { hasCode, TillkitError } from "../errors/index.js";
import { type Notify } from "../model/notice-map.js";
import { withTimeout } from "../shared/with-timeout.js";
import { type Claim, type HandlerKey } from "../store/index.js";
import { type ClaimedRun, runGroups } from "./group/run-group.js";
import { HandlerControls } from "./handler-controls.js";
import { type Handlers } from "./handlers.js";
import { describeError, handlerEvent, runClaim, type RunOptions, type RunResult } from "./run-claim.js";

/** Options of {@link Dispatcher}. */
export interface DispatcherOptions<Tx> extends Omit<RunOptions<Tx>, "losses" | "onHanging"> {
  handlers: Handlers<Tx>;
  /** The maximum number of runs at the same time. Each name has an equal share, but at least one run. */
  concurrency: number;
  /** The maximum pause between claims, which find retries, ended leases and events of other processes. */
  pollMs: number;
  /** Resolves when the store is open and has the handlers of this process. */
  ready: () => Promise<void>;
  notify: Notify;
  now: () => Date;
}

/** The handlers that can run more dispatches now, and the maximum number of dispatches in one claim. */
interface FreeSlots {
  keys: HandlerKey[];
  limit: number;
  /** The number of slots of each name. Each run takes one slot. */
  share: number;
}

/** The maximum time that the dispatcher waits for more free slots. */
const maxSlotWaitMs = 5;

/** The smallest number of hanging transactions at which this process stops running their handler. */
const minHanging = 8;

/** The maximum time of a claim, beyond the length of a lease. */
const maxClaimMs = 5000;

/** The time in which aborted runs must roll back and release their claims. */
const maxReleaseMs = 2000;

/** Calls the handlers of this process for stored events, until `stop`. */
export class Dispatcher<Tx> {
  readonly #options: DispatcherOptions<Tx>;
  readonly #controls: HandlerControls<Tx>;
  /** The running handlers, by their name. */
  readonly #running = new Map<string, Set<Promise<unknown>>>();
  /** The open transactions of runs that have ended, by the name of their handler. */
  readonly #hanging = new Map<string, Set<Promise<unknown>>>();
  /** The running groups of runs that share a transaction, by handler name. A name has at most one group. */
  readonly #groups = new Map<string, Set<Promise<unknown>>>();
  /** The number of claims in the next group, by handler name. */
  readonly #groupSizes = new Map<string, number>();
  readonly #losses = new Map<string, number>();
  readonly #closing = new AbortController();
  #loop: Promise<void> | undefined;
  #stopped = false;
  #woken = false;
  #keepAlive = false;
  /** The time until a handler that has reached its limit may run again. */
  #waitMs = Infinity;
  #wakeUp: () => void = () => {};

  constructor(options: DispatcherOptions<Tx>) {
    this.#options = options;
    this.#controls = new HandlerControls(options);
    // Each run listens to the signal, and Node would report so many listeners as a leak.
    setMaxListeners(0, this.#closing.signal);
  }

  /** Starts to dispatch. With `keepAlive`, the process lives until `stop`, even without a server. */
  start({ keepAlive }: { keepAlive: boolean }): void {
    this.#keepAlive ||= keepAlive;
    this.#loop ??= this.#run();
    this.#wakeUp();
  }

  /** Wakes the dispatcher, because there may be work. */
  wake(): void {
    this.#woken = true;
    this.#wakeUp();
  }

  /** Must be called after a person paused, resumed or limited a handler. */
  controlsChanged(): void {
    this.#controls.forget();
    this.wake();
  }

  /**
   * Stops claiming, waits at most `drainMs` for running handlers, then aborts them and releases their claims.
   * If the store hangs, `stop` gives up after `maxReleaseMs`, because the leases of the claims end by
   * themselves.
   */
  async stop(drainMs: number): Promise<void> {
    this.#stopped = true;
    this.#wakeUp();
    const abort = setTimeout(() => this.#closing.abort(new Error("tillkit is closing")), drainMs);
    const drained = Promise.resolve(this.#loop).then(() =>
      Promise.all([...this.#running.values(), ...this.#groups.values()].flatMap((runs) => [...runs])),
    );
    await withTimeout(drained, drainMs + maxReleaseMs);
    clearTimeout(abort);
  }

  /** The number of transactions that are still open although their runs have ended. */
  get hanging(): number {
    return [...this.#hanging.values()].reduce((sum, { size }) => sum + size, 0);
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      // With a synchronous store, a backlog would otherwise block the event loop for all other work.
      await nextIteration();
      const { keys, limit } = await this.#waitForSlots();
      this.#woken = false;
      this.#waitMs = Infinity;
      const claims = limit > 0 ? await this.#claim(keys, limit) : [];
      for (const claim of claims) this.#track(claim.handler, this.#runOne(claim));
      for (const [name, group] of this.#sharedKeys()) await this.#startGroup(name, group);
      // After a full claim, there may be more work. A slot that becomes free wakes the loop.
      if (claims.length < limit || limit === 0) await this.#idle();
    }
  }

  /**
   * Returns the free slots. If less than half of them are free, waits a moment for more free slots. One claim
   * of several dispatches costs as much as a claim of one.
   */
  async #waitForSlots(): Promise<FreeSlots> {
    const giveUpAt = performance.now() + maxSlotWaitMs;
    for (;;) {
      const slots = this.#freeSlots();
      const left = giveUpAt - performance.now();
      if (slots.limit === 0 || slots.limit * 2 >= slots.share || left <= 0 || this.#stopped) return slots;
      await this.#wakeOrAfter(left);
    }
  }

  /** Returns the free slots. Each name has its own slots, so a handler that hangs does not stop others. */
  #freeSlots(): FreeSlots {
    const all = this.#options.handlers.keys();
    const shared = new Set([...this.#sharedKeys().values()].flat());
    const keys = all.filter((key) => !shared.has(key));
    const names = new Set(all.map(({ name }) => name)).size;
    const share = Math.max(1, Math.floor(this.#options.concurrency / Math.max(1, names)));
    const maxHanging = Math.max(minHanging, this.#options.concurrency);
    const freeOf = ({ name }: HandlerKey) => {
      const [running, hanging] = [this.#running, this.#hanging].map((all) => all.get(name)?.size ?? 0);
      // A transaction that hangs keeps a connection, so a name with too many of them gets no more slots.
      return Math.min(share - running!, maxHanging - running! - hanging!);
    };
    const claimable = keys.filter((key) => freeOf(key) > 0);
    // One claim is for several names, so the name with the fewest free slots determines its limit.
    const limit = claimable.length > 0 ? Math.min(...claimable.map(freeOf)) : 0;
    return { keys: claimable, limit, share };
  }

  /**
   * Returns new claims. If a claim takes too long, the dispatcher goes on without it, because its transaction
   * may never end. If the claim ends later, its dispatches run then.
   */
  async #claim(free: readonly HandlerKey[], maxEach: number): Promise<Claim[]> {
    const { notify, ready, leaseMs } = this.#options;
    const maxMs = leaseMs + maxClaimMs;
    const unref = !this.#keepAlive;
    const tooSlow = () =>
      new TillkitError("store_unavailable", `The store did not answer a claim within ${maxMs} ms.`);
    try {
      await withTimeout(ready(), maxMs, tooSlow, { unref });
      const claiming = this.#claimNow(free, maxEach);
      const claims = await withTimeout(claiming, maxMs, undefined, { unref });
      if (claims) return claims;
      void this.#runLate(claiming);
      throw tooSlow();
    } catch (error) {
      notify("store.unavailable", { during: "claim", error });
      return [];
    }
  }

  async #runLate(claiming: Promise<Claim[]>): Promise<void> {
    for (const claim of await claiming) this.#track(claim.handler, this.#runOne(claim));
  }

  /** Claims dispatches. Never rejects. */
  async #claimNow(free: readonly HandlerKey[], maxEach: number): Promise<Claim[]> {
    const { store, leaseMs, notify } = this.#options;
    const claims: Claim[] = [];
    try {
      const permits = this.#stopped ? [] : await this.#controls.permit(free, maxEach);
      this.#waitMs = Math.min(this.#waitMs, this.#controls.waitMs);
      for (const { handlers, limit, charge } of permits) {
        const claimed = await store.claim({ handlers, limit, leaseMs });
        claims.push(...claimed);
        if (!charge || claimed.length === 0) continue;
        await charge(claimed.length);
        // More dispatches may wait for this handler. The next permit contains the time until its next run.
        if (claimed.length === limit) this.#woken = true;
      }
    } catch (error) {
      notify("store.unavailable", { during: "claim", error });
    }
    return claims;
  }

  /** Returns the keys of the handlers whose runs share transactions in this store, by name. */
  #sharedKeys(): Map<string, HandlerKey[]> {
    return this.#options.store.runShared ? this.#options.handlers.sharedKeys() : new Map();
  }

  /** Claims and runs dispatches of a name whose runs share transactions, unless its last group still runs. */
  async #startGroup(name: string, keys: readonly HandlerKey[]): Promise<void> {
    if (this.#groups.get(name)?.size || (this.#hanging.get(name)?.size ?? 0) >= minHanging) return;
    const size = this.#groupSizes.get(name) ?? 1;
    const claims = await this.#claim(keys, size);
    const claimed = claims.flatMap((claim) => this.#claimedRun(claim) ?? []);
    if (claimed.length === 0) return;
    const running = runGroups(claimed, size, this.#closing.signal, (claim, result) =>
      this.#report(claim, result),
    );
    this.#track(
      name,
      running.then((next) => this.#groupSizes.set(name, next)),
      this.#groups,
    );
  }

  async #runOne(claim: Claim): Promise<void> {
    const run = this.#claimedRun(claim);
    if (!run) return; // No such handler here. Another process can claim the dispatch after the lease.
    this.#report(claim, await runClaim(run.options, claim, run.handler, this.#closing.signal));
  }

  #claimedRun(claim: Claim): ClaimedRun<Tx> | undefined {
    const { handlers, handlerTimeoutMs } = this.#options;
    const handler = handlers.find(claim.event.type, claim.handler);
    if (!handler) return undefined;
    const { run, timeoutMs = handlerTimeoutMs, isShared } = handler;
    const onHanging = (of: Claim, ended: Promise<unknown>): void => this.#leaveHanging(of, ended);
    const own = { handlerTimeoutMs: timeoutMs, isShared, losses: this.#losses, onHanging };
    return { claim, handler: run, options: { ...this.#options, ...own } };
  }

  #report(claim: Claim, result: RunResult): void {
    const { notify } = this.#options;
    const isUntold =
      result.state === "released" || (result.state === "lost" && !hasCode(result.error, "lease_lost"));
    if (isUntold && "error" in result)
      return notify("store.unavailable", { during: "handler", error: result.error });
    if (result.state !== "failed" && result.state !== "dead") return;
    const { error } = result;
    const about = { event: handlerEvent(claim), handler: claim.handler };
    if (result.state === "dead") notify("dispatch.dead", { ...about, error: describeError(error) });
    else notify("dispatch.failed", { ...about, failures: result.failures, error });
  }

  #track(name: string, run: Promise<unknown>, among = this.#running): void {
    const runs = among.get(name) ?? new Set();
    among.set(name, runs);
    const tracked = run.finally(() => {
      runs.delete(tracked);
      this.wake();
    });
    runs.add(tracked);
  }

  /** Frees the slot of a run whose transaction hangs. The fence prevents the commit of the transaction. */
  #leaveHanging({ handler, event }: Claim, ended: Promise<unknown>): void {
    this.#track(handler, Promise.allSettled([ended]), this.#hanging);
    const message = `A run of "${handler}" for ${event.id} has ended, and its transaction has not.`;
    this.#options.notify("store.unavailable", {
      during: "handler",
      error: new TillkitError("transaction_hangs", message),
    });
  }

  #idle(): Promise<void> {
    if (this.#woken || this.#stopped) return Promise.resolve();
    return this.#wakeOrAfter(Math.min(this.#options.pollMs, this.#waitMs));
  }

  #wakeOrAfter(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      if (!this.#keepAlive) timer.unref();
      this.#wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

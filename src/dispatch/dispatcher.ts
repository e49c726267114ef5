import { setMaxListeners } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import { type NoticeMap } from "../model/event-map.js";
import { type Claim, type HandlerKey, type PaymentStore } from "../store/index.js";
import { type Handlers } from "./handlers.js";
import { describe, eventOf, runClaim, type RunOptions } from "./run-claim.js";

/** What dispatching needs. */
export interface DispatcherOptions<Tx> extends RunOptions<Tx> {
  store: PaymentStore<Tx>;
  handlers: Handlers<Tx>;
  /** Handlers running at once in this process; shared out evenly among their names, and at least one for each. */
  concurrency: number;
  /** How often to look for work that nobody announced: retries, ended leases, other processes' events. */
  pollMs: number;
  /** Resolves when the store is ready and knows this process's handlers. */
  ready: () => Promise<void>;
  notify: <Type extends keyof NoticeMap>(type: Type, notice: NoticeMap[Type]) => void;
}

/** How long a free slot waits for others while most are taken. */
const companyMs = 5;

/** After the abort, how long runs have to be rolled back and given back. */
const givingBackMs = 2000;

/** Calls the handlers of this process for recorded events, from the record, until `stop`. */
export class Dispatcher<Tx> {
  readonly #options: DispatcherOptions<Tx>;
  /** What runs, by handler name. */
  readonly #running = new Map<string, Set<Promise<void>>>();
  readonly #closing = new AbortController();
  #loop: Promise<void> | undefined;
  #stopped = false;
  #woken = false;
  #keepAlive = false;
  #wakeUp: () => void = () => {};

  constructor(options: DispatcherOptions<Tx>) {
    this.#options = options;
    // Each run listens; there may be more of them than Node takes for a leak.
    setMaxListeners(0, this.#closing.signal);
  }

  /** `keepAlive`: the process lives until `stop`, also without a server. */
  start({ keepAlive }: { keepAlive: boolean }): void {
    this.#keepAlive ||= keepAlive;
    if (!this.#stopped) this.#loop ??= this.#run();
    this.#wakeUp();
  }

  /** There may be work. */
  wake(): void {
    this.#woken = true;
    this.#wakeUp();
  }

  /**
   * Takes no more work, lets running handlers finish for at most `drainMs`, then aborts them and gives them back. A
   * store that hangs does not hold this up for longer: the lease of what it did not take back runs out.
   */
  async stop(drainMs: number): Promise<void> {
    this.#stopped = true;
    this.#wakeUp();
    const abort = setTimeout(() => this.#closing.abort(new Error("tillkit is closing")), drainMs);
    let giveUp: NodeJS.Timeout | undefined;
    const hung = new Promise<void>((resolve) => {
      giveUp = setTimeout(resolve, drainMs + givingBackMs);
    });
    const drained = Promise.resolve(this.#loop).then(() =>
      Promise.all([...this.#running.values()].flatMap((runs) => [...runs])),
    );
    await Promise.race([drained, hung]);
    clearTimeout(abort);
    clearTimeout(giveUp);
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      // A store that answers at once, and handlers that wait for nothing else, would keep the process from all else it has
      // to do for as long as there is a backlog: no webhook was taken meanwhile.
      await turn();
      const { keys, limit } = await this.#roomForSeveral();
      this.#woken = false;
      const claims = limit > 0 ? await this.#claim(keys, limit) : [];
      for (const claim of claims) this.#track(claim.handler, this.#runOne(claim));
      // A full batch suggests more behind it; a slot that comes free wakes the loop.
      if (claims.length < limit || limit === 0) await this.#idle();
    }
  }

  /**
   * A claim costs as much for one dispatch as for eight. While most slots are taken, one that comes free waits a moment for
   * others, so that a busy dispatcher claims several at once; with slots to spare nothing waits.
   */
  async #roomForSeveral(): Promise<{ keys: HandlerKey[]; limit: number }> {
    const giveUpAt = performance.now() + companyMs;
    for (;;) {
      const room = this.#room();
      const left = giveUpAt - performance.now();
      if (room.limit === 0 || room.limit * 2 >= room.share || left <= 0 || this.#stopped) return room;
      await this.#wakeOrAfter(left);
    }
  }

  /**
   * What may be claimed now. Every handler name has a share of the slots of its own, so that one that hangs, and whose
   * dispatches are always the oldest, leaves the others theirs.
   */
  #room(): { keys: HandlerKey[]; limit: number; share: number } {
    const keys = this.#options.handlers.keys();
    const names = new Set(keys.map(({ name }) => name)).size;
    const share = Math.max(1, Math.floor(this.#options.concurrency / Math.max(1, names)));
    const roomOf = ({ name }: HandlerKey) => share - (this.#running.get(name)?.size ?? 0);
    const claimable = keys.filter((key) => roomOf(key) > 0);
    // One claim serves several names, so it may take no more than the fullest of them has room for. Until the
    // handlers are known there is nothing to claim, but the store is to be opened.
    return { keys: claimable, limit: claimable.length > 0 ? Math.min(...claimable.map(roomOf)) : 0, share };
  }

  async #claim(handlers: readonly HandlerKey[], limit: number): Promise<Claim[]> {
    const { store, leaseMs, notify, ready } = this.#options;
    try {
      await ready();
      return await store.claim({ handlers, limit, leaseMs });
    } catch (error) {
      notify("store.unavailable", { during: "claim", error });
      return [];
    }
  }

  async #runOne(claim: Claim): Promise<void> {
    const { handlers, notify } = this.#options;
    const handler = handlers.find(claim.event.type, claim.handler);
    if (!handler) return; // Not ours: its lease runs out and its owner takes it.
    const { run, timeoutMs: handlerTimeoutMs = this.#options.handlerTimeoutMs } = handler;
    const result = await runClaim({ ...this.#options, handlerTimeoutMs }, claim, run, this.#closing.signal);
    if (result.state === "failed") {
      const { failures, error } = result;
      notify("dispatch.failed", { event: eventOf(claim), handler: claim.handler, failures, error });
    } else if (result.state === "dead") {
      notify("dispatch.dead", {
        event: eventOf(claim),
        handler: claim.handler,
        error: describe(result.error),
      });
    }
  }

  #track(name: string, run: Promise<void>): void {
    const runs = this.#running.get(name) ?? new Set();
    this.#running.set(name, runs);
    const tracked = run.finally(() => {
      runs.delete(tracked);
      this.wake();
    });
    runs.add(tracked);
  }

  #idle(): Promise<void> {
    if (this.#woken || this.#stopped) return Promise.resolve();
    return this.#wakeOrAfter(this.#options.pollMs);
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

import { randomFrom } from "../../crash/harness/random.mjs";
import { connectionLost } from "./plan.mjs";

/** Returned by the effect of an operation that must wait for a lock. */
export const blocked = Symbol("blocked");

const nativeSetImmediate = globalThis.setImmediate;
/** The virtual time at which every run starts: ISO 8601 UTC. */
export const epoch = Date.parse("2026-03-01T12:00:00.000Z");

/** How much time may go by in one step while I/O is under way. Without faults it is too little for a deadline of the kit. */
const maxSlowMs = { faulty: 3000, settling: 500 };

/** One process of the simulated world. After a crash nothing of it runs any more. */
class SimulatedProcess {
  isAlive = true;

  constructor(name, pid) {
    this.name = name;
    this.pid = pid;
  }
}

/**
 * The scheduler, the clock and the random numbers of one run. Everything that does not complete in a microtask completes
 * here, one step at a time, in an order that the seed decides.
 */
export class World {
  /** Milliseconds of the monotonic clock. */
  mono = 0;
  /** How far the wall clock is from where it would be without jumps. */
  wallOffset = 0;
  maxWallOffset = 0;
  steps = 0;
  /** Set when the world only settles: no fault happens any more. */
  isSettling = false;
  /** Whether changes may have given up: the store is slow, and another change was faster. */
  isStarved = false;
  /** Whether the shop cannot use its database. */
  isStoreBlocked = false;
  problems = [];
  trace = undefined;
  #pending = [];
  #blocked = [];
  #timers = [];
  #timerCount = 0;
  #pids = 1000;
  #crashed = [];

  constructor(seed, { faults, isStrict = false, isTraced = false }) {
    this.seed = seed;
    this.random = randomFrom(seed);
    this.kitRandom = randomFrom(seed ^ 0x5eed);
    this.outside = new SimulatedProcess("world", 1);
    this.current = this.outside;
    this.faults = faults;
    this.isStrict = isStrict;
    // The share of steps in which I/O completes before time goes on.
    this.ioShare = isStrict ? 1 : this.random.pick([0.9, 0.98, 0.995, 1]);
    if (isTraced) this.trace = [];
  }

  wall() {
    return this.clock() + this.wallOffset;
  }

  /** Returns the time of a clock that never jumps, such as the database's: milliseconds since 1970. */
  clock() {
    return epoch + Math.floor(this.mono);
  }

  jump(ms) {
    this.wallOffset += ms;
    this.maxWallOffset = Math.max(this.maxWallOffset, this.wallOffset);
  }

  /** Lets time go by in one step: every timer that is due by then runs once. */
  pass(ms) {
    this.mono += ms;
  }

  note(text) {
    this.trace?.push(`${this.steps} +${Math.round(this.mono)}ms ${this.current.name}: ${text}`);
  }

  violate(invariant, text) {
    this.note(`VIOLATED ${invariant}: ${text}`);
    this.problems.push({ invariant, text });
  }

  newProcess(name) {
    return new SimulatedProcess(name, ++this.#pids);
  }

  isAlive(pid) {
    return this.#crashed.every((dead) => dead.pid !== pid);
  }

  /** Runs code as this process. What it starts belongs to the process. */
  as(process, run) {
    const before = this.current;
    this.current = process;
    try {
      return run();
    } finally {
      this.current = before;
    }
  }

  /** The label of an operation that a fault delays and that is still on its way. */
  get delayed() {
    return this.#timers.find((timer) => timer.delayed)?.delayed;
  }

  /** Calls `run` in a later step of the present process. */
  post(label, run) {
    this.#pending.push({ label, owner: this.current, fire: run });
  }

  /** Calls `run` in a later step of another process, to which everything belongs that follows from it. */
  start(process, label, run) {
    this.as(process, () => this.post(label, run));
  }

  /**
   * Does I/O: `effect` happens in a later step, and its answer arrives in that step or a later one. A fault of the plan may
   * prevent the effect, lose the answer, or delay both. `effect` is called again where it returns {@link blocked}.
   */
  io(kind, label, effect) {
    const owner = this.current;
    return new Promise((resolve, reject) => {
      const operation = { kind, label, owner, effect, resolve, reject, isTried: false };
      this.#pending.push(operation);
    });
  }

  /** Tries the operations again that wait for a lock. */
  unblock() {
    if (this.#blocked.length === 0) return;
    this.#pending.push(...this.#blocked);
    this.#blocked.length = 0;
  }

  setTimer(run, ms, interval) {
    const timer = {
      owner: this.current,
      at: this.mono + Math.max(1, Number(ms) || 1),
      order: ++this.#timerCount,
      run,
      interval,
      unref: () => timer,
      ref: () => timer,
      hasRef: () => true,
    };
    this.#timers.push(timer);
    return timer;
  }

  clearTimer(timer) {
    const at = this.#timers.indexOf(timer);
    if (at !== -1) this.#timers.splice(at, 1);
    if (timer) timer.isCleared = true;
  }

  /** Ends a process: its timers and promises never continue. What it asked for last may still happen. */
  crash(process) {
    this.note(`${process.name} crashes`);
    process.isAlive = false;
    this.#crashed.push(process);
    this.#timers = this.#timers.filter(({ owner }) => owner !== process);
    this.#blocked = this.#blocked.filter(({ owner }) => owner !== process);
    const lost = this.#pending.filter(({ owner }) => owner === process);
    this.#pending = this.#pending.filter(({ owner }) => owner !== process);
    for (const { effect, answer, label } of lost) {
      if (!effect || answer || !this.random.chance(0.3)) continue;
      this.note(`${label}: happens although ${process.name} is gone`);
      try {
        effect();
      } catch {
        // Nothing waits for its answer.
      }
    }
  }

  /** Runs steps until `isOver`, or until nothing is left to do. Resolves to whether `isOver` was reached. */
  run(isOver, maxSteps) {
    // A macrotask, because `_tickCallback` completes no promise while the callback of another promise runs.
    return new Promise((resolve, reject) =>
      nativeSetImmediate(() => {
        try {
          resolve(this.#run(isOver, maxSteps));
        } catch (error) {
          reject(error);
        }
      }),
    );
  }

  #run(isOver, maxSteps) {
    for (const last = this.steps + maxSteps; this.steps < last;) {
      if (isOver()) return true;
      this.steps += 1;
      this.current = this.outside;
      if (!this.isSettling) this.faults.atStep(this);
      try {
        if (!this.#step()) return isOver();
      } catch (error) {
        this.violate("errors", `${this.current.name} would have ended: ${String(error)}`);
      }
      // Everything that follows from the step without waiting belongs to its process. Waiting for the event loop instead
      // would make a run a quarter longer.
      process._tickCallback();
    }
    return false;
  }

  #step() {
    const timer = this.#nextTimer();
    const count = this.#pending.length;
    const isFar = timer && timer.at > this.mono + maxSlowMs[this.isSettling ? "settling" : "faulty"];
    if (count > 0 && (!timer || isFar || this.random.chance(this.ioShare))) {
      this.#complete(this.random.below(count));
      return true;
    }
    if (!timer) return false;
    if (timer.at > this.mono) this.mono = timer.at;
    if (timer.interval === undefined) this.clearTimer(timer);
    else timer.at = this.mono + timer.interval;
    this.current = timer.owner;
    timer.run();
    return true;
  }

  #nextTimer() {
    let next;
    for (const timer of this.#timers)
      if (!next || timer.at < next.at || (timer.at === next.at && timer.order < next.order)) next = timer;
    return next;
  }

  #complete(at) {
    const list = this.#pending;
    const operation = list[at];
    list[at] = list[list.length - 1];
    list.pop();
    if (operation.fire) {
      this.current = operation.owner;
      this.note(operation.label);
      operation.fire();
    } else if (operation.answer) this.#deliver(operation);
    else this.#perform(operation);
  }

  #perform(operation) {
    const { kind, label, effect, isTried, owner } = operation;
    const fault = isTried ? undefined : this.#faultOf(kind, owner);
    operation.isTried = true;
    if (fault?.delayMs !== undefined) {
      const timer = this.as(owner, () => this.setTimer(() => this.#perform(operation), fault.delayMs));
      timer.delayed = label;
      return this.note(`${label}: delayed by ${fault.delayMs} ms`);
    }
    let answer;
    try {
      const result = fault?.how === "error" ? undefined : effect(fault);
      if (result === blocked) return void this.#blocked.push(operation);
      answer = fault?.error ? { error: fault.error() } : { result };
    } catch (error) {
      answer = { error };
    }
    if (this.trace) {
      const how = fault ? ` (${fault.how})` : "";
      this.as(owner, () =>
        this.note(`${label}${how}${answer.error ? ` fails: ${answer.error.message}` : ""}`),
      );
    }
    operation.answer = answer;
    // The answers of the service may be slower than its webhooks.
    if (kind === "service" && this.random.chance(0.3))
      return void this.as(owner, () =>
        this.setTimer(() => this.#deliver(operation), this.random.pick([1, 50, 2500])),
      );
    if (this.random.chance(0.6)) this.#deliver(operation);
    else this.#pending.push(operation);
  }

  #faultOf(kind, owner) {
    const isStore = kind === "store" || kind === "commit";
    if (this.isStoreBlocked && isStore && owner.name.startsWith("kit"))
      return { how: "error", error: connectionLost };
    return this.isSettling ? undefined : this.faults.take(kind, owner, this);
  }

  #deliver({ owner, answer, resolve, reject }) {
    this.current = owner;
    if (answer.error) reject(answer.error);
    else resolve(answer.result);
  }
}

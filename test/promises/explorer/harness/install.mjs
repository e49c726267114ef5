import { createRequire, syncBuiltinESMExports } from "node:module";
import { epoch } from "./world.mjs";

const require = createRequire(import.meta.url);
const NativeDate = Date;
const nativeNow = performance.now.bind(performance);
/** The world of the run, or `undefined` between runs: then everything is real. */
let world;
/** How often random bytes were asked for. */
let fills = 0;

/** Makes this world the one that the kit runs in. */
export function enter(next) {
  world = next;
}

export function leave() {
  world = undefined;
}

/** Calls `newId` until its random bytes are used up, so that each run begins with bytes of its own seed. */
export function alignIds(newId) {
  const before = fills;
  const isAligned = () => fills > before;
  while (!isAligned()) newId();
}

/** Replaces what is not deterministic in this process: time, timers, random numbers, files, process numbers. Call it before the kit is loaded. */
export function install() {
  installClock();
  installTimers();
  installRandom();
  installFiles();
  installProcess();
  syncBuiltinESMExports();
}

function installClock() {
  globalThis.Date = class extends NativeDate {
    constructor(...given) {
      super(...(given.length === 0 ? [globalThis.Date.now()] : given));
    }
    static now() {
      return world ? world.wall() : NativeDate.now();
    }
  };
  performance.now = () => (world ? world.mono : nativeNow());
  const { timeOrigin } = performance;
  Object.defineProperty(performance, "timeOrigin", { get: () => (world ? epoch : timeOrigin) });
}

function installTimers() {
  const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate } = globalThis;
  const stop = (native) => (timer) => {
    if (world) world.clearTimer(timer);
    else native(timer);
  };
  Object.assign(globalThis, {
    setTimeout: (run, ms, ...given) =>
      world ? world.setTimer(() => run(...given), ms) : setTimeout(run, ms, ...given),
    setInterval: (run, ms, ...given) =>
      world ? world.setTimer(() => run(...given), ms, ms) : setInterval(run, ms, ...given),
    setImmediate: (run, ...given) =>
      world ? world.post("iteration", () => run(...given)) : setImmediate(run, ...given),
    clearTimeout: stop(clearTimeout),
    clearInterval: stop(clearInterval),
  });

  const timers = require("node:timers/promises");
  const { setTimeout: pause, setImmediate: next } = timers;
  timers.setImmediate = (value) =>
    world ? new Promise((resolve) => world.post("iteration", () => resolve(value))) : next(value);
  timers.setTimeout = (ms, value, options) =>
    world ? pauseIn(world, ms, value, options) : pause(ms, value, options);

  const nativeTimeout = AbortSignal.timeout.bind(AbortSignal);
  AbortSignal.timeout = (ms) => {
    if (!world) return nativeTimeout(ms);
    const controller = new AbortController();
    const late = () => controller.abort(new DOMException("The operation timed out.", "TimeoutError"));
    world.setTimer(late, ms);
    return controller.signal;
  };
}

function pauseIn(current, ms, value, { signal } = {}) {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const timer = current.setTimer(() => resolve(value), ms);
    const onAbort = () => {
      current.clearTimer(timer);
      reject(signal.reason);
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    return undefined;
  });
}

function installRandom() {
  const nativeRandom = Math.random;
  Math.random = () => (world ? world.kitRandom.below(2 ** 32) / 2 ** 32 : nativeRandom());
  const crypto = require("node:crypto");
  const { randomFillSync, randomBytes, randomUUID } = crypto;
  const fill = (buffer) => {
    for (let at = 0; at < buffer.length; at++) buffer[at] = world.kitRandom.below(256);
    return buffer;
  };
  crypto.randomFillSync = (buffer) => {
    fills += 1;
    return world ? fill(buffer) : randomFillSync(buffer);
  };
  crypto.randomBytes = (size) => (world ? fill(Buffer.alloc(size)) : randomBytes(size));
  crypto.randomUUID = () => (world ? fill(Buffer.alloc(16)).toString("hex") : randomUUID());
}

function installFiles() {
  const files = require("node:fs/promises");
  const used = [
    "access",
    "chmod",
    "link",
    "lstat",
    "mkdir",
    "open",
    "readdir",
    "readFile",
    "rename",
    "stat",
    "unlink",
    "utimes",
  ];
  for (const name of used) {
    const native = files[name];
    files[name] = (...given) => (world ? world.disk[name](...given) : native(...given));
  }
}

function installProcess() {
  const { pid } = process;
  // The call of the system took 7 % of a run, because the kit checks the owner of files often.
  const user = process.geteuid?.();
  process.geteuid &&= () => user;
  const kill = process.kill.bind(process);
  Object.defineProperty(process, "pid", { get: () => (world ? world.current.pid : pid) });
  process.kill = (target, signal) => {
    if (!world) return kill(target, signal);
    if (world.isAlive(target)) return true;
    throw Object.assign(new Error(`kill ESRCH ${target}`), { code: "ESRCH" });
  };
}

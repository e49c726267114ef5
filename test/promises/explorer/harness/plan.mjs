import { randomFrom } from "../../crash/harness/random.mjs";

const day = 24 * 60 * 60 * 1000;
/** The steps of a run in which faults begin. */
const faultySteps = 400;

/** What the faults of a run are mostly about. The seed chooses one of these lists. */
const themes = [
  ["store", "commit", "commit", "service", "disk", "crash", "outage", "clock", "stop"],
  ["store", "store", "commit", "commit", "commit", "crash", "crash"],
  ["outage", "outage", "disk", "clock", "clock", "crash", "stop"],
  ["service", "service", "service", "commit", "crash"],
  ["crash", "crash", "crash", "stop", "commit"],
  ["hang", "commit", "crash", "stop"],
];

/**
 * Returns the faults of a seed, each with the step from which on it strikes. The list is made before the run, so that it can
 * be shortened without changing what the other faults are.
 */
export function planFaults(seed) {
  const random = randomFrom(seed ^ 0xfa17);
  const count = random.chance(0.15) ? 0 : random.between(1, 9);
  const theme = random.pick(themes);
  return Array.from({ length: count }, () => planFault(random, theme)).toSorted((a, b) => a.at - b.at);
}

function planFault(random, theme) {
  const at = random.below(random.pick([60, 150, faultySteps]));
  const what = random.pick(theme);
  const process = random.below(3);
  const delayMs = random.between(1, 12_000);
  switch (what) {
    case "crash":
      return { at, what, process, hasPower: random.chance(0.6), restartMs: random.between(1, 15_000) };
    case "stop":
      return { at, what, process, restartMs: random.between(1, 5000) };
    case "outage":
      return {
        at,
        what,
        ms: random.between(500, 20_000),
        how: random.pick(["error", "delay"]),
        // Only one process loses its way to the database, or all of them do.
        ...(random.chance(0.5) && { process }),
      };
    case "clock":
      return { at, what, ms: random.pick([-day, day, -3_600_000, 3_600_000]) };
    case "service":
      return {
        at,
        what,
        how: random.pick(["error", "unreachable", "lost", "delay", "500", "409", "400"]),
        delayMs,
      };
    default:
      return { at, what, how: random.pick(["error", "lost", "lost", "delay"]), delayMs };
  }
}

/** Returns one line about a fault, for people. */
export function describeFault({ at, what, ...details }) {
  const facts = Object.entries(details).map(([name, value]) => `${name} ${value}`);
  return `from step ${at}: ${what}, ${facts.join(", ")}`;
}

/** Lets the faults of a plan strike. `shop` carries out those of whole processes. */
export class Faults {
  #waiting;
  #outages = [];
  struck = 0;
  /** Whether a process ended, or could not use the store. What it left undone then waits for the sweep. */
  hasInterrupted = false;

  constructor(plan) {
    this.#waiting = [...plan];
  }

  atStep(world) {
    while (this.#waiting.length > 0) {
      const at = this.#waiting.findIndex(
        (fault) => fault.at <= world.steps && ["crash", "stop", "outage", "clock"].includes(fault.what),
      );
      if (at === -1) return;
      const [fault] = this.#waiting.splice(at, 1);
      this.#count(fault);
      this.#strike(fault, world);
    }
  }

  /** Returns the fault of an operation, or `undefined`. */
  take(kind, owner, world) {
    if (kind === "rollback") return undefined;
    const isStore = kind === "store" || kind === "commit";
    const outage =
      isStore &&
      this.#outages.find(({ until, name = owner.name }) => world.mono < until && name === owner.name);
    if (outage) {
      const { how, until } = outage;
      return how === "delay" ? { how, delayMs: until - world.mono } : { how, error: connectionLost };
    }
    const at = this.#waiting.findIndex((fault) => fault.what === kind && fault.at <= world.steps);
    if (at === -1) return undefined;
    const [fault] = this.#waiting.splice(at, 1);
    this.#count(fault);
    const { how, delayMs } = fault;
    if (how === "delay") return { how, delayMs };
    if (kind === "service" && !["error", "lost"].includes(how))
      return { how, status: Number(how) || undefined };
    return { how, error: kind === "disk" ? diskFailed : connectionLost };
  }

  #count({ what }) {
    this.struck += 1;
    this.hasInterrupted ||= !["clock", "service", "disk"].includes(what);
  }

  #strike(fault, world) {
    world.note(describeFault(fault));
    if (fault.what === "clock") world.jump(fault.ms);
    else if (fault.what === "outage") {
      const { how, ms, process: place } = fault;
      this.#outages.push({
        how,
        until: world.mono + ms,
        ...(place !== undefined && { name: `kit${place}` }),
      });
    } else world.shop.strike(fault);
  }
}

export function connectionLost() {
  return Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
}

function diskFailed() {
  return Object.assign(new Error("EIO: i/o error"), { code: "EIO" });
}

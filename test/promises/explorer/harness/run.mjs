import { checkAttention } from "./attention.mjs";
import { alignIds, enter, leave } from "./install.mjs";
import { SimulatedDisk } from "./disk.mjs";
import { Database } from "./database.mjs";
import { checkRaised, checkSettled } from "./invariants.mjs";
import { factsOf, Monitor } from "./monitor.mjs";
import { Faults, planFaults } from "./plan.mjs";
import { SimulatedService } from "./service.mjs";
import { SimulatedShop } from "./shop.mjs";
import { Traffic } from "./traffic.mjs";
import { askHealth, checkHealth, goBack, pass, sweepAll, troubles } from "./troubles.mjs";
import { World } from "./world.mjs";

const minute = 60_000;
const hour = 60 * minute;
const maxSteps = 40_000;
/** In this time every process has started again, and has drained the segments of those that ended. */
const refusedMs = 60_000;

/**
 * Runs one seed: the kit under faults, then without any, then the checks. `plan` replaces the faults of the seed. Resolves to
 * the violations, and with `isTraced` to every step.
 */
export async function runSeed(kit, seed, { plan = planFaults(seed), isTraced = false } = {}) {
  const faults = new Faults(plan);
  const world = new World(seed, { faults, isStrict: plan.length === 0, isTraced });
  const parts = {};
  world.disk = new SimulatedDisk(world);
  world.monitor = new Monitor(world, parts);
  parts.world = world;
  parts.database = new Database(world, world.monitor);
  parts.service = new SimulatedService(world, (payment) => parts.traffic.onCreated(payment));
  const onRejection = (error) => world.violate("errors", `nothing handled ${error?.stack ?? error}`);
  process.on("unhandledRejection", onRejection);
  enter(world);
  try {
    alignIds(kit.newId);
    parts.shop = world.shop = new SimulatedShop(world, { kit, ...parts });
    parts.traffic = new Traffic(world, parts);
    await live(world, parts);
  } finally {
    leave();
    process.off("unhandledRejection", onRejection);
  }
  const { steps, mono, problems, trace } = world;
  return { seed, plan, steps, virtualMs: Math.round(mono), struck: faults.struck, problems, trace };
}

async function live(world, parts) {
  const { shop, traffic } = parts;
  const { reminders, features, hasLateHandlers, hasRefused } = shop.setup;
  // So many handlers, or events of webhooks without a payment, need so many reads that a slow store would take hours for them.
  if (reminders > 0) world.ioShare = 1;
  else if (features.over && (hasLateHandlers || hasRefused)) world.ioShare = Math.max(world.ioShare, 0.98);
  const isBad = () => world.problems.length > 0;
  shop.open();
  traffic.begin();
  const isQuiet = () => {
    traffic.giveUp();
    return isBad() || (world.mono > 2500 && isSettled(world, parts));
  };
  // While faults strike: long enough for most of them.
  await world.run(() => isQuiet() || world.mono > 30_000, 2500);
  world.isSettling = true;
  await settle(world, parts, isQuiet, shop.setup.hasRefused ? refusedMs : 0);
  if (isBad()) return;
  // Beside conflicts in a slow store, matching is left to the sweep after five seconds.
  if (!world.faults.hasInterrupted && !world.isStarved) checkParked(world, parts, ["unmatched", "foreign"]);
  // The clocks are right again, and later than anything that they have shown. The kit notices this at its next sweep, and
  // holds back for an hour what it cannot take back.
  world.wallOffset = world.maxWallOffset;
  const trouble = world.random.chance(0.25) && world.random.pick(Object.keys(troubles));
  if (trouble) {
    // The operations that an outage has delayed end, and the spool is drained again after a fault of the disk.
    await pass(parts, 20_000);
    world.note(`trouble: ${trouble}`);
    world.isStrict = false;
    await troubles[trouble](parts);
    await settle(world, parts, isQuiet);
    if (isBad()) return;
  }
  const rests = [0, 2 * hour, 25 * hour, 7 * hour];
  for (const [index, ms] of rests.entries()) {
    world.pass(ms);
    // A webhook of the last round would have no time left to be confirmed or raised.
    if (ms > 0) traffic.claimSome({ withWebhooks: index < rests.length - 1 });
    await sweepAll(parts);
    await settle(world, parts, isQuiet);
    // In a slow store a sweep gives up beside the lookups that change the same payments. When the store is fast again, the next one must not.
    if (world.isStarved) await sweepFast(world, parts, isQuiet);
    // The first sweep after the hour already matches what an interruption left.
    if (ms > 0) checkParked(world, parts, ["unmatched"]);
    if (isBad()) return;
  }
  checkSettled(world, parts);
  checkRaised(world, parts);
  // What was late when the time went on ends first, and a run may have reached its time limit just then.
  await pass(parts, shop.running.some((one) => one?.process.hasHanging) ? minute : 5000);
  await settle(world, parts, isQuiet);
  // The health tries the last refused webhook again. A spool that had no disk for it takes it now.
  if (shop.setup.hasRefused) {
    for (const one of shop.running) await askHealth(parts, one);
    await settle(world, parts, isQuiet);
  }
  await checkHealth(parts);
  if (!isBad()) await checkAttention(parts);
  if (!isBad() && world.random.chance(0.1)) await goBack(parts);
}

async function sweepFast(world, parts, isQuiet) {
  const { ioShare } = world;
  world.ioShare = 1;
  await sweepAll(parts);
  await settle(world, parts, isQuiet);
  world.ioShare = ioShare;
}

/** Waits until nothing is left to do. For the first `aloneMs` no webhook is sent to help others out of the spool. */
async function settle(world, parts, isQuiet, aloneMs = 0) {
  const { shop, traffic } = parts;
  const restarted = () => {
    for (let place = 0; place < parts.shop.setup.processes; place++)
      if (!parts.shop.running[place] && world.mono > startAt)
        world.as(world.outside, () => parts.shop.start(place));
  };
  const startAt = world.mono + 16_000;
  const until = world.mono + 10 * minute;
  let nudgedAt = world.mono + aloneMs;
  const isOver = () => {
    restarted();
    // A webhook that the database refuses is set aside once others were recorded.
    if (shop.setup.hasRefused && world.mono > nudgedAt + 3000 && shop.spoolFiles().length > 0) {
      if (aloneMs > 0 && world.mono < startAt + aloneMs) checkBehindRefused(world, parts);
      nudgedAt = world.mono;
      traffic.nudge();
    }
    return isQuiet() || world.mono > until;
  };
  if (!(await world.run(isOver, maxSteps)) || world.mono > until) {
    if (world.problems.length === 0) world.violate("liveness", `not settled: ${whatIsLeft(world, parts)}`);
  }
}

function isSettled(world, parts) {
  return whatIsLeft(world, parts) === "";
}

/** Returns what is still to be done, or an empty string. */
function whatIsLeft(world, { database, shop, traffic }) {
  if (traffic.planned > 0) return `${traffic.planned} requests`;
  if (traffic.pending.size > 0) return [...traffic.pending].map(({ what }) => what).join(", ");
  for (let place = 0; place < shop.setup.processes; place++)
    if (!shop.running[place]) return "a process is down";
  // A process that started just now may still be adding handlers.
  const unknown = shop.handlerKeys.find(({ process, key }) => process.isAlive && !database.handlers.has(key));
  if (unknown) return `the store does not know the handler ${unknown.key}`;
  if (world.delayed) return `the delayed ${world.delayed}`;
  if (!database.transactions.isIdle) return "open transactions";
  for (const { state, handler } of database.dispatches.values())
    if (state === "pending" || state === "leased") return `${state} dispatch of ${handler}`;
  return shop.setup.hasSpool && shop.spoolFiles().length > 0 ? "spooled webhooks" : "";
}

/** Checks that no webhook waits behind one that the database refuses. */
function checkBehindRefused(world, { database, traffic }) {
  const answered = traffic.answered.filter(({ status }) => status === 200).map(({ rawBody }) => rawBody);
  const stored = new Set([...database.webhooks.values()].map(({ rawBody }) => factsOf(rawBody)));
  const others = answered.filter((rawBody) => !rawBody.includes(database.refusedPart));
  // A drain stops where it had to skip many in a row, because then it is the store that refuses.
  if (world.ioShare < 0.98 || answered.length - others.length > 10) return;
  for (const rawBody of others)
    if (!stored.has(factsOf(rawBody)))
      world.violate("spool", `a webhook waits behind one that the database refuses: ${factsOf(rawBody)}`);
}

function checkParked(world, { database }, outcomes) {
  for (const { clientId, outcome } of database.webhooks.values())
    if (outcomes.includes(outcome) && database.payments.has(clientId))
      world.violate("matching", `a webhook of ${clientId} still waits, although its payment is stored`);
}

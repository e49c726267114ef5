import { Database } from "./database.mjs";

const minute = 60_000;
const spool = "/var/spool";
/** The number of copies of one webhook in the spool at most. */
const maxCopies = 50;

/**
 * What goes wrong for a while after the faults of a run, with what the shop must be told within a minute: by the health of each process,
 * and where there is one by a notice. At most one of them happens in a run.
 */
export const troubles = {
  /** Webhooks wait in the spool, and it cannot be read; or none waits, and a process starts with it. */
  async "unusable spool"(parts) {
    const { world, shop, traffic } = parts;
    if (!shop.setup.hasSpool) return;
    world.isStoreBlocked = true;
    traffic.nudge();
    await pass(parts, 8000);
    // The kit makes another key while no line was signed with the first.
    await world.run(() => traffic.pending.size === 0 && shop.spoolFiles().length > 0, 2000);
    const isAtStart = world.random.chance(0.3);
    if (isAtStart) {
      world.isStoreBlocked = false;
      await pass(parts, 20_000);
    }
    const { name, isTold = () => true, repair } = world.random.pick(waysToBreak)(world.disk);
    world.note(`the spool cannot be used: ${name}`);
    world.isStoreBlocked = false;
    for (const { notices } of shop.running) notices.delete("spool.unavailable");
    if (isAtStart) shop.strike({ what: "crash", process: 0, hasPower: true, restartMs: 1 });
    const before = countSetAside(world);
    await pass(parts, minute);
    if (!shop.setup.hasRefused && countSetAside(world) > before)
      world.violate("spool", `webhooks were set aside: ${name}`);
    await expectTold(parts, isTold(shop) ? { code: "spool_unavailable", notice: "spool.unavailable" } : {});
    repair();
  },

  /** Somebody repeats a captured webhook while the database is away. It does not fill the spool. */
  async "repeated webhook"(parts) {
    const { world, shop, traffic } = parts;
    if (!shop.setup.hasSpool) return;
    world.isStoreBlocked = true;
    world.ioShare = 1;
    const rawBody = traffic.repeat(shop.running[0], 2 * maxCopies);
    await pass(parts, 8000);
    const count = world.disk.count(JSON.stringify(rawBody.toString("base64")), spool);
    if (!areTaken(traffic, [rawBody]) || count > maxCopies)
      world.violate(
        "spool",
        `of a webhook that was sent ${2 * maxCopies} times, ${count} copies were spooled`,
      );
    world.isStoreBlocked = false;
  },

  /** Another shop has the same directory. Nothing of this shop may reach its database. */
  async "spool of another shop"(parts) {
    const { world, shop, traffic } = parts;
    const { hasSpool, features } = shop.setup;
    // A process that has never reached its store cannot name it in the directory.
    if (!hasSpool || !features.durable || !world.disk.files().includes(`${spool}/store`)) return;
    const others = new Database(world, silentMonitor);
    world.isStoreBlocked = true;
    traffic.nudge();
    await pass(parts, 8000);
    // The segments of ended processes are adopted.
    shop.strike({ what: "crash", process: 0, hasPower: true, restartMs: minute });
    const other = shop.startOther(others);
    await pass(parts, 0.8 * minute);
    world.isStoreBlocked = false;
    const health = await askHealth(parts, other);
    if (others.webhooks.size > 0)
      world.violate("spool", "another shop has recorded webhooks that this one had answered 200");
    if (!has(health, "spool_unavailable"))
      world.violate("told", "no health of another shop with the same spool");
    world.crash(other.process);
  },

  /** The database refuses what the sweep reads. */
  async "failing sweeps"(parts) {
    const { database } = parts;
    database.refusesSweeps = true;
    for (let sweep = 1; sweep <= 5; sweep++) await sweepAll(parts);
    await expectTold(parts, { code: "sweep_failing" });
    database.refusesSweeps = false;
    await sweepAll(parts);
  },

  /** The database forgets a handler, as an older copy or an asynchronous standby does. The next events must reach it. */
  async "forgotten handler"(parts) {
    const { world, database, shop, traffic, service } = parts;
    const { key } = world.random.pick(shop.handlerKeys.filter(({ process }) => process.isAlive));
    world.note(`the store forgets the handler ${key}`);
    database.forget(key);
    const payments = Array.from({ length: 6 }, (_, index) => {
      const total = { value: "1475", currency: "KMF" };
      return service.add(`late-${index}`, total, undefined, false);
    });
    world.start(shop.running[0].process, "adopt", () => {
      for (const { clientId, total } of payments)
        void shop.running[0].payments.adopt({ clientId, reference: clientId, total }).catch(() => {});
    });
    await pass(parts, 1000);
    // Some of their events are saved while the handler is registered again.
    for (const payment of payments) {
      traffic.report(payment, "completed");
      await pass(parts, 2000);
    }
    await pass(parts, minute);
  },

  /** Where many events wait, the database takes long to register handlers. Webhooks do not wait for it. */
  async "slow registration"(parts) {
    const { world, database, shop, traffic } = parts;
    database.registrationMs = 75_000;
    world.ioShare = 1;
    for (const { notices } of shop.running) notices.delete("webhook.spooled");
    // The next webhook after a while registers again.
    const sent = [];
    for (const ms of [12_000, 1000]) await pass(parts, ms).then(() => sent.push(...traffic.nudge()));
    await pass(parts, 15_000);
    const isSpooled = shop.running.some(({ notices }) => notices.has("webhook.spooled"));
    if (isSpooled || !areTaken(traffic, sent))
      world.violate("registration", "webhooks wait until the handlers are registered");
    database.registrationMs = 0;
  },
};

/** What the shop must be told at the end of a run, after everything else was checked: the database becomes an older copy. */
export const wentBack = {
  async "while it runs"(parts) {
    const copy = parts.database.copy();
    await answerAll(parts);
    parts.database.restore(copy);
  },

  async "at a restart"(parts) {
    const { database, shop, world } = parts;
    if (!shop.setup.hasSpool) return false;
    const copy = database.copy();
    await answerAll(parts);
    // The directory of the spool remembers webhooks after a while.
    await pass(parts, 25_000);
    // The database may be away while the processes start.
    world.isStoreBlocked = world.random.chance(0.5);
    restartAll(shop);
    database.restore(copy);
    await pass(parts, 3000);
    world.isStoreBlocked = false;
  },

  async "by an empty one"(parts) {
    const { database, world, shop } = parts;
    await answerAll(parts);
    // A process without a spool that has recorded nothing knows the store by its identity alone.
    if (!shop.setup.hasSpool) restartAll(shop);
    // Every process has asked for the identity.
    await pass(parts, 12_000);
    database.restore(new Database(world, silentMonitor).copy());
  },
};

function restartAll(shop) {
  for (let place = 0; place < shop.setup.processes; place++)
    shop.strike({ what: "crash", process: place, hasPower: true, restartMs: 1 });
}

/** Lets the database become an older copy, and checks that each process says so. */
export async function goBack(parts) {
  const { world, shop } = parts;
  if (!shop.setup.features.durable) return;
  const way = world.random.pick(Object.keys(wentBack));
  world.note(`the database becomes an older copy: ${way}`);
  if ((await wentBack[way](parts)) === false) return;
  await pass(parts, minute);
  await expectTold(parts, { code: "store_went_back", notice: "store.went_back" });
}

/** Checks that the health says exactly what is wrong after everything has settled. */
export async function checkHealth(parts) {
  const { world, shop, database } = parts;
  const dead = [...database.dispatches.values()].some(({ state }) => state === "dead");
  const isSetAside = countSetAside(world) > 0;
  // A refused webhook that such a call records can start a run that hangs, in any of the processes.
  const hadHanging = new Set(shop.running.filter(({ process }) => process.hasHanging));
  for (const one of shop.running) {
    const health = await askHealth(parts, one);
    const expect = (code, isExpected) => {
      if (has(health, code) !== isExpected)
        world.violate("told", `the health of ${one.process.name} says ${code}: ${!isExpected}`);
    };
    expect("transactions_hanging", hadHanging.has(one));
    expect("dispatches_dead", dead);
    expect("spool_set_aside", isSetAside && shop.setup.hasSpool);
    for (const code of ["spool_unavailable", "spool_waiting", "store_went_back"]) expect(code, false);
    if (!world.isStarved) expect("sweep_failing", false);
    for (const code of ["store_unreachable", "store_not_writable", "store_stuck"]) expect(code, false);
  }
}

/** Lets time pass, step by step. */
export function pass({ world }, ms) {
  const until = world.mono + ms;
  return world.run(() => world.mono >= until, 20_000);
}

export async function sweepAll(parts) {
  for (const { process, payments } of parts.shop.running) {
    const call = parts.traffic.expect("sweep", process, 10 * minute);
    parts.world.start(process, "sweep", () => void payments.sweep().then(call.end, call.end));
    await parts.world.run(() => !parts.traffic.pending.has(call), 6000);
  }
}

/** Sends a webhook to each process, and waits for the answers. */
async function answerAll(parts) {
  const { world, traffic } = parts;
  world.ioShare = 1;
  const sent = traffic.nudge();
  await pass(parts, 5000);
  if (!areTaken(traffic, sent)) world.violate("liveness", "a webhook was not answered 200, without a fault");
}

/** Returns whether each of these webhooks was answered 200. */
const areTaken = ({ answered }, sent) =>
  sent.every((one) => answered.some(({ rawBody, status }) => rawBody === one && status === 200));

async function expectTold(parts, { code, notice }) {
  const { world, shop } = parts;
  for (const one of shop.running) {
    const health = await askHealth(parts, one);
    if (code !== undefined && !has(health, code))
      world.violate("told", `the health of ${one.process.name} does not say ${code}`);
    if (code === undefined && has(health, "spool_unavailable"))
      world.violate("told", `the health of ${one.process.name} says spool_unavailable`);
    if (notice !== undefined && !one.notices.has(notice))
      world.violate("told", `${one.process.name} sends no notice ${notice}`);
  }
}

/** Asks one process for its health. */
export async function askHealth({ world, traffic }, { process, payments }) {
  let health;
  // A slow answer of the store would be one that did not come.
  world.ioShare = 1;
  const call = traffic.expect("health", process);
  const take = (answer) => {
    health = answer;
    call.end();
  };
  world.start(process, "health", () => void payments.health().then(take, call.end));
  await world.run(() => !traffic.pending.has(call), 6000);
  if (!health) world.violate("liveness", "the health does not answer");
  return health;
}

const countSetAside = ({ disk }) =>
  disk.files().filter((file) => file.startsWith(`${spool}/set-aside/`)).length;

const has = (health, code) => health?.reasons.some((reason) => reason.code === code) === true;

/** What somebody, or a volume of a container, does to the directory of the spool. */
const waysToBreak = [
  (disk) => change(disk, "all users may write", spool, { mode: 0o777 }),
  (disk) => change(disk, "others than its group may write", spool, { mode: 0o707 }),
  (disk) => change(disk, "all users may write to the key", `${spool}/key`, { mode: 0o606 }),
  (disk) => change(disk, "it belongs to another user", spool, { uid: 12_345 }),
  (disk) => change(disk, "the key belongs to another user", `${spool}/key`, { uid: 12_345 }),
  (disk) => replace(disk, "the key is empty", `${spool}/key`, Buffer.alloc(0)),
  (disk) => ({
    ...replace(disk, "the key is missing", `${spool}/key`, undefined),
    // A drain that had read it may have recorded everything.
    isTold: (shop) => shop.spoolFiles().length > 0,
  }),
  // The kit takes this right away by itself.
  (disk) => ({ ...change(disk, "its group may write", spool, { mode: 0o770 }), isTold: () => false }),
];

function change(disk, name, path, attributes) {
  disk.attributes.set(path, attributes);
  return { name, repair: () => disk.attributes.delete(path) };
}

function replace(disk, name, path, content) {
  const before = disk.replace(path, content);
  return { name, repair: () => disk.replace(path, before) };
}

const silentMonitor = new Proxy({}, { get: () => () => {} });

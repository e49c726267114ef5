import { announces } from "./attention.mjs";
import { createStore, storeFeatures } from "./store.mjs";

const secret = "a secret of the explorer, long enough to pass";
const spoolFolder = "/var/spool";

/** Returns how this run's shop is set up, as the seed chose. */
function chooseSetup(random) {
  const scheme = random.pick(["body", "body", "fields", "sloppy"]);
  const hasLookup = random.chance(0.6);
  return {
    scheme,
    hasLookup,
    confirms: scheme === "fields" && hasLookup && random.chance(0.3),
    hasSpool: random.chance(0.8),
    // With a prefix, payments of other code are another shop's until they are adopted.
    clientIdPrefix: random.chance(0.2) ? "shop-" : undefined,
    hasSlowHandler: random.chance(0.4),
    hasLateHandlers: random.chance(0.5),
    processes: random.between(1, 3),
    // Some webhooks have a value that the database does not take.
    hasRefused: random.chance(0.12),
    // More dispatches than one write takes, if many payments are overdue at the same time.
    reminders: random.chance(0.1) ? 8 : 0,
    features: storeFeatures(random),
  };
}

/** The notices with which a process says what went wrong. */
const notices = [
  "store.unavailable",
  "store.went_back",
  "spool.unavailable",
  "webhook.spooled",
  "webhook.set_aside",
];

/** The merchant's processes. Each has the kit, its handlers, and a router; all of them share the database and the disk. */
export class SimulatedShop {
  /** One for each place of a process; `undefined` while it is down. */
  running = [];
  /** The runs of handlers, by event and name. */
  runs = new Map();
  handlerKeys = [];
  /** The processes that were asked to stop and have not ended. */
  #stopping = new Set();
  #world;
  #kit;
  #database;
  #service;

  constructor(world, { kit, database, service }) {
    this.#world = world;
    this.#kit = kit;
    this.#database = database;
    this.#service = service;
    this.setup = chooseSetup(world.random);
    this.setup.announces = announces(world.seed, this.setup.features);
    this.scheme = this.#makeScheme();
  }

  open() {
    for (let place = 0; place < this.setup.processes; place++) this.start(place);
  }

  /** Starts a process in this place, unless one runs. */
  start(place) {
    if (this.running[place]) return;
    const world = this.#world;
    const process = world.newProcess(`kit${place}`);
    // Nothing here is asynchronous: the kit does no I/O before its first step.
    world.as(process, () => {
      world.note("starts");
      const started = this.#create(process, this.#database);
      this.running[place] = { ...started, place };
      this.#addHandlers(this.running[place]);
      this.running[place].router = this.#kit.paymentRouter(started.payments);
    });
  }

  /** Starts a process of another shop, which has the directory of the spool by mistake. */
  startOther(database) {
    const process = this.#world.newProcess("other");
    return this.#world.as(process, () => {
      const other = this.#create(process, database);
      void other.payments.start().catch(() => {});
      return other;
    });
  }

  #create(process, database) {
    const payments = this.#kit.createPayments(this.#options(database));
    const started = { process, payments, router: undefined, notices: new Set() };
    for (const type of notices)
      payments.on(type, ({ error }) => {
        started.notices.add(type);
        if (error?.code) started.notices.add(error.code);
      });
    return started;
  }

  /** Carries out a fault of a whole process: it ends without a warning, or is asked to stop. */
  strike({ what, process: place, hasPower, restartMs }) {
    const target = this.running[place];
    if (!target) return;
    if (what === "stop") return this.#stop(target, restartMs);
    // A power failure takes all processes, also those that are stopping, because they share the disk.
    const ended = hasPower ? [target] : [...this.running.filter(Boolean), ...this.#stopping];
    for (const one of ended) this.#end(one, restartMs);
    if (!hasPower) this.#world.disk.failPower();
  }

  pick() {
    const { random } = this.#world;
    return this.running[random.below(this.setup.processes)];
  }

  spoolFiles() {
    return this.#world.disk.files().filter((file) => /^\/var\/spool\/[^/]+\.spool$/.test(file));
  }

  get spoolFolder() {
    return spoolFolder;
  }

  #stop(target, restartMs) {
    const world = this.#world;
    this.running[target.place] = undefined;
    this.#stopping.add(target);
    const ended = () => world.as(world.outside, () => this.#end(target, restartMs));
    world.start(target.process, "is asked to stop", () => void target.payments.close().then(ended, ended));
  }

  #end(target, restartMs) {
    const { process, place } = target;
    const world = this.#world;
    this.#stopping.delete(target);
    if (!process.isAlive) return;
    world.crash(process);
    if (this.running[place]?.process === process) this.running[place] = undefined;
    world.as(world.outside, () => {
      // The database notices immediately, or after a while, that a connection is gone.
      const delay = world.random.pick([1, 1, 2000]);
      world.setTimer(() => this.#database.transactions.endOf(process), delay);
      world.setTimer(() => this.start(place), restartMs);
    });
  }

  #options(database) {
    const { hasLookup, confirms, hasSpool, features, clientIdPrefix } = this.setup;
    return {
      publicUrl: "https://shop.example/payments",
      service: {
        baseUrl: "https://api.example",
        accessToken: "token-of-the-shop",
        fetch: this.#service.fetch,
      },
      signature: this.scheme,
      store: createStore(this.#world, database, features, this.#kit),
      spool: hasSpool ? { directory: spoolFolder } : false,
      lookup: hasLookup,
      clientIdPrefix,
      ...(confirms && { confirm: "lookup" }),
      dispatch: { ...dispatch, ...this.#world.random.pick([{}, longerTimes]) },
      logger: this.#kit.logger,
    };
  }

  #makeScheme() {
    const { hmacSignature, fieldsSignature } = this.#kit;
    if (this.setup.scheme === "fields") return fieldsSignature({ secret, merchantId: "shop" });
    const hmac = hmacSignature({ secret });
    if (this.setup.scheme === "body") return hmac;
    // A merchant's own scheme, which does not answer `false`.
    const verify = async (input) => {
      try {
        return hmac.verify(input) ? true : "refused";
      } catch {
        return "refused";
      }
    };
    return { header: hmac.header, covers: "body", verify, sign: hmac.sign };
  }

  #addHandlers({ payments, process, place }) {
    const { random } = this.#world;
    const sharing = this.setup.features.shared && { transaction: "shared" };
    const add = (type, name, behave = async () => {}) => {
      const handler = async (event, { tx }) => {
        const run = this.#noteRun(event, name);
        try {
          await behave(run);
          const row = { eventId: event.id, handler: name, type: event.type };
          await (tx.write ? tx.write(row) : tx.add(row));
          // What was written before must not remain.
          failOnPurpose(run);
        } catch (error) {
          run.threw += 1;
          throw error;
        }
      };
      const options = { name, ...(name !== "slow" && sharing) };
      if (type === "*") payments.onAny(handler, options);
      else payments.on(type, handler, options);
      this.handlerKeys.push({ process, key: `${type} ${name}` });
    };
    add("payment.completed", "books");
    // The first place runs every handler; the others may be without some of them.
    if (place === 0 || random.chance(0.7))
      add("payment.completed", "mail", async (run) => {
        if (run.started % 2 === 0) failOnPurpose(run);
      });
    if (place === 0 || random.chance(0.5)) add("*", "audit");
    if (this.setup.announces) add("attention.opened", "chat");
    if (this.setup.hasSlowHandler) add("payment.completed", "slow", (run) => pause(run.plan.ms));
    for (let number = 1; number <= this.setup.reminders; number++)
      add("payment.overdue", `reminder-${number}`);
    if (!this.setup.hasLateHandlers) return;
    // Beside the events of the other processes.
    setTimeout(() => add("payment.completed", `late-${place}`), random.pick([1, 2, 5, 1500, 3000, 6000]));
  }

  #noteRun(event, name) {
    const { random } = this.#world;
    const key = `${event.id} ${name}`;
    const run = this.runs.get(key) ?? { started: 0, threw: 0, failed: 0, plan: planRun(random, name) };
    run.started += 1;
    this.runs.set(key, run);
    this.#world.note(`runs ${name} for ${event.type}`);
    return run;
  }
}

/** Returns how often a handler fails for an event, and how long it takes. */
function planRun(random, name) {
  const failures = name === "mail" ? random.pick([0, 0, 1, 2, 3, 99]) : 0;
  return { failures, ms: random.pick([100, 3000, 5000, 9000]) };
}

/** How the kit's dispatcher is configured: short, so that a run has few polls. */
export const dispatch = {
  pollMs: 2000,
  leaseMs: 4000,
  handlerTimeoutMs: 12_000,
  maxFailures: 4,
  maxLostLeases: 4,
  firstDelayMs: 500,
  maxDelayMs: 4000,
};

/** Other processes of the same shop may have longer times. */
const longerTimes = { leaseMs: 12_000, maxDelayMs: 20_000 };

/** Fails as often as the plan of the run says. */
function failOnPurpose(run) {
  if (run.failed >= run.plan.failures) return;
  run.failed += 1;
  throw new Error("the handler fails on purpose");
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

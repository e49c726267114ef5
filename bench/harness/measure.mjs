import path from "node:path";
import { Child } from "./child.mjs";

const copies = 32;

/** The share of a round's length that runs before the round and is not counted. */
const leadIn = 0.4;

/** A contender under one load: its server process, and what it was sent. */
export class Entrant {
  /** @param contender `{ name, file, options, kit }`, from contenders/index.mjs; `kit`: the folder of another build */
  constructor(contender, connections, execArgv = []) {
    this.contender = contender;
    this.name = contender.name;
    this.connections = connections;
    this.execArgv = execArgv;
    this.module = path.resolve(import.meta.dirname, "../contenders", contender.file);
    this.rounds = [];
    this.acknowledged = 0;
    this.next = 1;
    this.perSecond = 1000;
  }

  async start() {
    const args = [this.module, JSON.stringify(this.contender.options ?? {})];
    const { kit } = this.contender;
    this.server = new Child("serve.mjs", args, this.execArgv, kit && { TILLKIT_BENCH_KIT: kit });
    ({ port: this.port } = await this.server.answer());
  }

  async stop() {
    if (!this.server) return;
    await this.server.ask("stop").catch(() => {});
    const timer = setTimeout(() => this.server.end(), 5000);
    await this.server.gone;
    clearTimeout(timer);
  }

  /** Throws if the contender accepts a forged webhook: then it does not do the work that is measured. */
  async refusesForged(load) {
    const { statuses } = await this.#send(load, { count: 1, connections: 1, forged: true });
    if (Object.keys(statuses).some((status) => status < "400")) {
      throw new Error(`${this.name} took a forged webhook (${Object.keys(statuses).join(", ")}).`);
    }
  }

  /**
   * Throws if one webhook, sent several times, becomes several events. Only the kit can report its events; for the other
   * contenders the completed payments are counted at the end.
   */
  async takesOnce(load) {
    const n = this.next++;
    await this.server.ask("prepare", { first: n, count: 1 });
    // With a checkout, the first one comes after it. The others are no work for the handler.
    const { checkout } = this.contender.options ?? {};
    if (checkout) await this.exchange(load, { first: n, count: 1, connections: 1 });
    const left = checkout ? copies - 1 : copies;
    const same = { first: n, count: left, same: true, connections: 8 };
    const { statuses } = await this.exchange(
      load,
      checkout ? { ...same, checkout: false, undrained: true } : same,
    );
    this.acknowledged += 1;
    const found = await this.server.ask("recordOf", { n });
    if (found === undefined) return undefined;
    const isOnce = found.events === 1 && found.webhooks === 1 && found.copies === copies - 1;
    if (statuses["200"] === left && isOnce) return copies;
    throw new Error(
      `${this.name} made ${found.events} events of one webhook that was sent ${copies} times: ` +
        JSON.stringify({ ...found, statuses }),
    );
  }

  /** Sends webhooks until the code is compiled, which takes some thousands, or for the time of eight rounds. */
  async warmUp(load, seconds) {
    let left = 8 * (1 + leadIn) * seconds;
    for (let webhooks = 0; webhooks < 15_000 && left > 0; webhooks = this.acknowledged) {
      const startedAt = performance.now();
      await this.round(load, Math.min(left, seconds), { warmup: true });
      left -= (performance.now() - startedAt) / 1000;
    }
  }

  /**
   * Runs for about `seconds`, estimated by the rate of the round before. The first webhooks are not counted: while the other
   * contenders ran, this engine was idle and discarded compiled code that a server under load keeps.
   */
  async round(load, seconds, { warmup = false } = {}) {
    if (warmup) return void (await this.#sendFor(load, seconds));
    await this.#sendFor(load, seconds * leadIn);
    this.rounds.push(await this.#sendFor(load, seconds));
  }

  async #sendFor(load, seconds) {
    const count = Math.round(Math.max(20, Math.min(40_000, this.perSecond * seconds)));
    const { statuses, ...measured } = await this.#send(load, { count });
    const good = statuses["200"] ?? statuses["202"] ?? 0;
    if (good !== count) throw new Error(`${this.name} refused webhooks: ${JSON.stringify(statuses)}`);
    this.acknowledged += count;
    this.perSecond = measured.perSecond;
    return measured;
  }

  async #send(load, { count, connections = this.connections, forged = false }) {
    const first = this.next;
    this.next += count;
    await this.server.ask("prepare", { first, count });
    return this.exchange(load, { first, count, connections, forged });
  }

  /** Sends webhooks about payments that were prepared. */
  async exchange(load, { first, count, connections = this.connections, ...which }) {
    const { module, port } = this;
    const { checkout } = this.contender.options ?? {};
    await load.ask("plan", { module, ports: [port], connections, first, count, checkout, ...which });
    await this.server.ask("begin");
    const startedAt = performance.now();
    const { seconds, p50Ms, p99Ms, statuses } = await load.ask("go");
    const { cpuUs, databaseCpuUs } = await this.server.ask("end", {
      count: which.forged ? 0 : which.same ? 1 : count,
      undrained: which.undrained,
    });
    // With a handler, a webhook is done when it was handled, not when it was acknowledged.
    const settled =
      this.contender.options?.handler && !which.undrained ? (performance.now() - startedAt) / 1000 : seconds;
    return {
      requests: count,
      cpuUs: cpuUs / count,
      perSecond: count / settled,
      p50Ms,
      p99Ms,
      ...(databaseCpuUs !== undefined && { databaseCpuUs: databaseCpuUs / count }),
      statuses,
    };
  }

  /** Throws unless every acknowledged webhook is on record. */
  async keptEverything() {
    const completed = await this.server.ask("completed");
    if (completed !== undefined && completed !== this.acknowledged) {
      throw new Error(`${this.name} acknowledged ${this.acknowledged} webhooks and recorded ${completed}.`);
    }
    return completed;
  }
}

/**
 * Runs a suite: every contender, round after round. Resolves to the entrants with their rounds. After `endsAt` (by
 * `performance.now()`) and three rounds, no further round starts: a slow machine gets fewer rounds, not a longer run.
 */
export async function runSuite({ contenders, connections, rounds, seconds }, { tick, endsAt = Infinity }) {
  const entrants = contenders.map((contender) => new Entrant(contender, connections));
  const load = new Child("load.mjs");
  try {
    await Promise.all(entrants.map((entrant) => entrant.start()));
    for (const entrant of entrants) {
      await entrant.refusesForged(load);
      entrant.copies = await entrant.takesOnce(load);
    }
    for (const entrant of entrants) {
      await entrant.warmUp(load, seconds);
      tick(entrant.name);
    }
    for (let round = 0; round < rounds; round++) {
      const isLate = round >= Math.min(rounds, 3) && performance.now() > endsAt;
      for (const entrant of entrants) {
        if (!isLate) await entrant.round(load, seconds);
        tick(entrant.name);
      }
    }
    for (const entrant of entrants) entrant.completed = await entrant.keptEverything();
    return entrants;
  } finally {
    await Promise.all(entrants.map((entrant) => entrant.stop()));
    load.end();
  }
}

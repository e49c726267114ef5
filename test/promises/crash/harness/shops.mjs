import { fork } from "node:child_process";
import { once } from "node:events";
import path from "node:path";

const program = path.join(import.meta.dirname, "shop-process.cjs");

/** Shop processes. A few are always loaded in advance, so that a killed one can be replaced immediately. */
export class Shops {
  #settings;
  #spares = [];
  #spareCount;
  #living = new Set();
  #closed = false;
  /** Problems of processes that were not killed. */
  deaths = [];

  constructor(settings, { spares = 2 } = {}) {
    this.#settings = settings;
    this.#spareCount = spares;
  }

  /** Opens a shop in a loaded process. Resolves when it listens. */
  async open({ pauses = [0], renewalFails = false } = {}) {
    if (this.#closed) throw new Error("The run is over.");
    const shop = this.#spares.shift() ?? this.#fork();
    while (this.#spares.length < this.#spareCount) this.#spares.push(this.#fork());
    await shop.next("loaded");
    shop.child.send({ open: { pauses, renewalFails } });
    const { port } = await shop.next("port");
    return Object.assign(shop, { port });
  }

  #fork() {
    // node:sqlite is experimental before Node 24, and prints a warning in every process.
    const env = { ...process.env, CRASH_SHOP: JSON.stringify(this.#settings), NODE_NO_WARNINGS: "1" };
    const child = fork(program, { env, execArgv: [] });
    const shop = new Shop(child);
    this.#living.add(shop);
    child.on("exit", (code, signal) => {
      this.#living.delete(shop);
      if (!shop.condemned)
        this.deaths.push(`a shop ended without a signal of the harness (${signal ?? `exit code ${code}`})`);
    });
    return shop;
  }

  /** Ends every process, also the spare ones. */
  async killAll() {
    this.#closed = true;
    await Promise.all([...this.#living].map((shop) => shop.kill()));
  }
}

class Shop {
  condemned = false;
  #messages = [];

  constructor(child) {
    this.child = child;
    this.exited = once(child, "exit");
    child.on("message", (message) => {
      this.#messages.push(message);
      child.emit("told");
    });
  }

  /** Resolves with the next message that has this key and, where given, this value. Rejects when the process ends. */
  async next(key, value, signal) {
    for (;;) {
      const index = this.#messages.findIndex(
        (message) => key in message && (value === undefined || message[key] === value),
      );
      if (index >= 0) return this.#messages.splice(index, 1)[0];
      const ended = this.exited.then(() => Promise.reject(new Error("The shop ended.")));
      await Promise.race([once(this.child, "told", { signal }), ended]);
    }
  }

  /** Returns whether any event waits for a handler. */
  async undone() {
    this.child.send({ ask: true });
    return (await this.next("undone")).undone;
  }

  kill() {
    this.condemned = true;
    this.child.kill("SIGKILL");
    return this.exited;
  }

  /** Lets running handlers finish, like a deployment. */
  end() {
    this.condemned = true;
    this.child.kill("SIGTERM");
    return this.exited;
  }

  stop() {
    this.child.kill("SIGSTOP");
  }

  wake() {
    this.child.kill("SIGCONT");
  }
}

import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { type Rejections, type WebhookOptions } from "tillkit";
import { secret } from "../../../support/kit.js";

/** The answers of a child, by their question. */
interface Said {
  listening: number;
  memory: { bytes: number };
  peak: { bytes: number };
  connections: { count: number };
  rejections: Rejections;
  ready: number;
  closed: Record<string, number>;
}

const running = new Set<ChildProcess>();

/** A child process that answers by messages. */
class Child {
  readonly #process: ChildProcess;
  readonly #heard: Partial<Said>[] = [];

  constructor(script: string, args: string[]) {
    this.#process = fork(path.join(__dirname, script), args, {
      execArgv: ["--expose-gc"],
      env: { ...process.env, SECRET: secret },
    });
    running.add(this.#process);
    this.#process.on("message", (message: Partial<Said>) => this.#heard.push(message));
  }

  async next<Key extends keyof Said>(key: Key): Promise<Said[Key]> {
    for (;;) {
      const index = this.#heard.findIndex((message) => key in message);
      if (index >= 0) return this.#heard.splice(index, 1)[0]![key]!;
      await once(this.#process, "message");
    }
  }

  ask<Key extends keyof Said>(question: Key): Promise<Said[Key]> {
    this.#process.send(question);
    return this.next(question);
  }

  async kill(): Promise<void> {
    if (!running.delete(this.#process)) return;
    this.#process.kill("SIGKILL");
    await once(this.#process, "exit");
  }
}

/** Starts a shop with the built kit. */
export async function startServer(
  kit: string,
  webhook: WebhookOptions,
): Promise<{ port: number; server: Child }> {
  const server = new Child("server.cjs", [kit, JSON.stringify(webhook)]);
  return { port: await server.next("listening"), server };
}

/** The bytes that each of many bad connections sends. */
export interface Bad {
  port: number;
  count: number;
  head: string;
  first: string;
  /** The bytes that it sends after that, `times` times. */
  again?: { text: string; bytes: number };
  times?: number;
}

export function startSenders(bad: Bad): Child {
  return new Child("senders.cjs", [JSON.stringify(bad)]);
}

/** Ends the children. Call it in `afterEach`. */
export function killAll(): void {
  for (const child of running) child.kill("SIGKILL");
  running.clear();
}

import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import path from "node:path";
import { type DispatchOptions } from "tillkit";
import { buildKit } from "../../support/built-kit.js";
import { secret } from "../../support/kit.js";
import { signed, type WebhookBody } from "../../support/webhooks.js";
import { type Address } from "./databases.js";

/** The settings of a process. */
export interface MemberSettings {
  address: Address;
  /** Whether it has a server. Without one it is a worker. */
  web: boolean;
  /** The names of its handlers of `payment.completed`. */
  names: readonly string[];
  /** `false`: other processes call the handlers. */
  dispatch: DispatchOptions | false;
  spool?: string;
  /** The point at which it does what `act` says. */
  at?: "sent" | "saved" | "committed" | "handling" | "written";
  act?: "die" | "hang" | "linger";
  /** Whether it records like a lookup: lock, save and commit one after the other. */
  inSteps?: boolean;
  renewalFails?: boolean;
  migrateOnly?: boolean;
}

/** A message of a process. Its first key is its kind. */
export interface Message {
  port?: number;
  name?: string;
  clientId?: string;
  attempt?: number;
  idempotencyKey?: string;
  dead?: string;
}
type Point = "ready" | "sent" | "saved" | "committed" | "handling" | "written" | "ended" | "closing" | "dead";

/** A process, and its messages. */
export interface Member {
  child: ChildProcess;
  port: number;
  messages: (Message & Partial<Record<Point, unknown>>)[];
  /** Resolves with the first message of this kind that was not taken before. Rejects when the process ends without it. */
  next(point: Point): Promise<Message>;
  /** Sends a webhook. Resolves with the status, or `undefined` where there was no answer. */
  post(body: WebhookBody): Promise<number | undefined>;
  signal(signal: NodeJS.Signals): void;
  /** Resolves with the exit code, or `null` where a signal ended it. */
  exited: Promise<number | null>;
}

/** Compiles the kit for child processes, and ends the remaining ones after each test. */
export function members(): { start(settings: MemberSettings): Promise<Member> } {
  let kit = "";
  const living = new Set<Member>();
  beforeAll(() => {
    kit = buildKit();
  }, 60_000);
  afterAll(() => kit && rmSync(kit, { recursive: true, force: true }));
  afterEach(async () => {
    for (const member of living) member.signal("SIGKILL");
    await Promise.all([...living].map(({ exited }) => exited));
  });
  return {
    async start(settings) {
      const member = launch({ kit, secret, ...settings });
      living.add(member);
      void member.exited.then(() => living.delete(member));
      const ready = member.next("ready").then(({ port = 0 }) => (member.port = port));
      // A process that must die may do so before it is ready.
      await ready.catch((error: unknown) => {
        if (settings.act !== "die") throw error;
      });
      return member;
    },
  };
}

function launch(settings: MemberSettings & { kit: string; secret: string }): Member {
  const env = { ...process.env, MEMBER: JSON.stringify(settings), NODE_NO_WARNINGS: "1" };
  const child = fork(path.join(__dirname, "member.cjs"), { env, execArgv: [] });
  const exited = once(child, "exit").then(([code]) => code as number | null);
  const messages: Member["messages"] = [];
  const taken = new Set<object>();
  child.on("message", (message: Message) => {
    messages.push(message);
    child.emit("noted");
  });
  const member: Member = {
    child,
    port: 0,
    messages,
    exited,
    async next(point) {
      for (;;) {
        const message = messages.find((one) => point in one && !taken.has(one));
        if (message) {
          taken.add(message);
          return message;
        }
        const over = exited.then((code) => {
          if (messages.some((one) => point in one && !taken.has(one))) return;
          throw new Error(`The process ended (${code}) and never sent "${point}".`);
        });
        await Promise.race([once(child, "noted"), over]);
      }
    },
    async post(body) {
      const { headers, rawBody } = signed(body);
      const url = `http://127.0.0.1:${member.port}/payments/webhook`;
      const answer = fetch(url, {
        method: "POST",
        headers: { ...headers, connection: "close" },
        body: rawBody,
      });
      return answer.then(
        ({ status }) => status,
        () => undefined,
      );
    },
    signal: (signal) => void child.kill(signal),
  };
  return member;
}

/** Repeats a check until it is true. */
export async function until(holds: () => Promise<boolean>, what: string, deadlineMs = 50_000): Promise<void> {
  const from = performance.now();
  while (!(await holds())) {
    if (performance.now() - from > deadlineMs) throw new Error(`This did not happen in time: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

import { type EventEmitter } from "node:events";
import { TillkitError } from "../../../errors/index.js";
import { Deadlines, type Waiting } from "../../../shared/deadlines.js";
import { withTimeout } from "../../../shared/with-timeout.js";
import { type Purpose } from "../driver/driver.js";

/** Sends a statement on one connection. Settles as the statement does, or when the connection is cut off. */
export type Ask = <T>(send: () => Promise<T>, purpose?: Purpose) => Promise<T>;

/** A connection, whose `session` stays the same when the pool gives it out again. */
interface Watched {
  session: object;
  query(sql: string): Promise<unknown>;
  cutOff: (error: Error) => void;
  /** Returns the error with which the server ended the connection, which a later statement does not repeat. */
  whyEnded?: () => Error | undefined;
  /** Asks on another connection whether the server lets this one wait for a lock. Then it is not dead. */
  waitsForLock?: () => Promise<boolean>;
}

/** A statement that waits for its answer. */
interface Asked extends Waiting {
  session: object;
  isAnswered: boolean;
  end: () => void;
  waitsForLock: Watched["waitsForLock"];
}

/**
 * How much longer than `busyTimeoutMs` an answer may take: the server itself ends a wait for a lock after that time. With the
 * defaults, two of six seconds are left for a new connection.
 */
const marginMs = 1000;
/** How long the server may take to say why an answer is late. */
const lockAnswerMs = 500;
/** The additional time for statements that read or write many rows, which a slow machine may need. */
const manyRowsMs = 60_000;
/** The time for a step of a migration, which may make an index of a large table. */
const migrationMs = 3_600_000;
/** For a handler's statements, which have the time limit of the handler: the longest time of a timer. */
const endlessMs = 2 ** 31 - 1;

/** When a connection was opened or last answered. Several stores may share a pool. */
const answeredAt = new WeakMap<object, number>();
/** When the kit began to watch which connections a pool of an application opens. */
const watchedSince = new WeakMap<object, number>();

/**
 * Cuts off connections that do not answer. After one was found dead, those that have not answered since are suspect: what swallows
 * the bytes of one connection often swallows those of all, and each would be found by a statement of its own.
 */
export class AnswerLimits {
  /** How long a short statement may take, in milliseconds. */
  readonly limitMs: number;
  readonly #isSessionOver: (error: unknown) => boolean;
  readonly #short: Deadlines<Asked>;
  readonly #application: Deadlines<Asked>;
  readonly #queues: Partial<Record<Purpose, Deadlines<Asked>>>;
  /** Stands for a connection that has not answered a statement of the kit. In a pool of the kit's own it is new. */
  #unknownAt = Infinity;
  #deadFoundAt = -Infinity;

  /** @param isSessionOver - Whether an error of the server means that its sessions are of no more use. */
  constructor(busyTimeoutMs: number, isSessionOver: (error: unknown) => boolean) {
    this.limitMs = busyTimeoutMs + marginMs;
    this.#isSessionOver = isSessionOver;
    const after = (ms: number) => new Deadlines<Asked>(ms, (asked) => this.#onLate(asked));
    this.#short = after(this.limitMs);
    this.#application = after(endlessMs);
    const [upkeep, migration] = [after(busyTimeoutMs + manyRowsMs), after(migrationMs)];
    this.#queues = { application: this.#application, upkeep, migration };
  }

  /** Notes when an application's pool opens connections: it may have opened others long ago, for its own statements. */
  watchPool(pool: object, event: "connect" | "connection", sessionOf: (connection: never) => object): void {
    if (!("on" in pool)) return;
    const note = (connection: object): void => noteAnswer(sessionOf(connection as never));
    if (!watchedSince.has(pool)) (pool as EventEmitter).on(event, note);
    this.#unknownAt = watchedSince.get(pool) ?? performance.now();
    watchedSince.set(pool, this.#unknownAt);
  }

  /** Returns whether a connection is likely to be dead, because another one was found dead after its last answer. */
  isSuspect(session: object): boolean {
    return (answeredAt.get(session) ?? this.#unknownAt) < this.#deadFoundAt;
  }

  /** Returns how to send statements on a connection. */
  on(watched: Watched): Ask {
    const ask: Ask = (send, purpose) => {
      const asked = () => this.#ask(watched, send, this.#queues[purpose!] ?? this.#short);
      if (purpose !== "application" || !this.isSuspect(watched.session)) return asked();
      // Without a limit for the statement itself, nothing else would find the connection dead.
      return ask(() => watched.query("select 1")).then(asked);
    };
    return ask;
  }

  #ask<T>(
    { session, cutOff, whyEnded, waitsForLock }: Watched,
    send: () => Promise<T>,
    queue: Deadlines<Asked>,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const end = (): void => {
        note();
        const error = new TillkitError("store_unavailable", "The database did not answer in time.");
        reject(error);
        cutOff(error);
      };
      const asked: Asked = { since: performance.now(), session, isAnswered: false, end, waitsForLock };
      queue.add(asked);
      const note = (): void => {
        asked.isAnswered = true;
        queue.delete(asked);
        noteAnswer(session);
      };
      const fail = (error: Error): void => {
        note();
        reject(whyEnded?.() ?? error);
        if (!this.#isSessionOver(error)) return;
        this.#deadFoundAt = performance.now();
        cutOff(error);
      };
      const succeed = (answer: T): void => {
        note();
        resolve(answer);
      };
      send().then(succeed, fail);
    });
  }

  #onLate(asked: Asked): void {
    // After a pause of this process the answer may have come, and is read before this.
    setImmediate(() => void this.#endLate(asked));
  }

  async #endLate(asked: Asked): Promise<void> {
    if (asked.isAnswered) return;
    const asking = asked.waitsForLock?.().catch(() => false);
    const waits = asking && (await withTimeout(asking, lockAnswerMs, undefined, { unref: true }));
    if (asked.isAnswered) return;
    // The server answers, or the statement was sent before a connection was found dead: it says nothing about newer connections.
    if (waits || asked.since < this.#deadFoundAt) return asked.end();
    const now = performance.now();
    this.#deadFoundAt = now;
    asked.end();
    for (const { session, since, end } of [...this.#short, ...this.#application])
      if ((answeredAt.get(session) ?? since) < now - this.limitMs / 2) end();
  }
}

function noteAnswer(session: object): void {
  answeredAt.set(session, performance.now());
}

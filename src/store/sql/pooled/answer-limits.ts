import { type EventEmitter } from "node:events";
import { setImmediate as nextIteration } from "node:timers/promises";
import { TillkitError } from "../../../errors/index.js";
import { Deadlines, type Waiting } from "../../../shared/deadlines.js";
import { withTimeout } from "../../../shared/with-timeout.js";
import { type Purpose } from "../driver/driver.js";

/** Sends a statement on one connection. Settles with the statement, or when the connection is cut off. */
export type Ask = <T>(send: () => Promise<T>, purpose?: Purpose) => Promise<T>;

/**
 * A connection. The `session` of a connection stays the same when the pool gives the connection out again.
 */
interface Watched {
  session: object;
  query(sql: string): Promise<unknown>;
  cutOff: (error: Error) => void;
  /**
   * Returns the error with which the server ended the connection. The error of a later statement would not
   * contain the cause.
   */
  whyEnded?: () => Error | undefined;
  /** Asks on another connection whether this connection waits for a lock, and therefore is not dead. */
  waitsForLock?: () => Promise<boolean>;
  /** Returns whether the pool has no free connection, so that `waitsForLock` cannot ask. */
  isPoolFull?: () => boolean | Promise<boolean>;
}

/** A statement that waits for its answer. */
interface Asked extends Waiting {
  session: object;
  isAnswered: boolean;
  end: () => void;
  waitsForLock: Watched["waitsForLock"];
  isPoolFull: Watched["isPoolFull"];
}

/**
 * The time beyond `busyTimeoutMs` after which an answer is late. The server itself ends a wait for a lock
 * after `busyTimeoutMs`, so a connection without an answer by then is probably dead.
 */
const marginMs = 1000;
/** The maximum time for the server to answer whether a late statement waits for a lock. */
const lockAnswerMs = 500;
/** The additional time for statements that read or write many rows, which a slow machine may need. */
const manyRowsMs = 60_000;
/** The time limit for a step of a migration, which may make an index of a large table. */
const migrationMs = 3_600_000;
/** The maximum time of a timer, for a handler's statements. The handler's own time limit applies to them. */
const endlessMs = 2 ** 31 - 1;

/** For each connection, the time when it was opened or last answered. Several stores may share a pool. */
const answeredAt = new WeakMap<object, number>();
/** For each application's pool, the time since which the kit notes the opening of connections. */
const watchedSince = new WeakMap<object, number>();

/**
 * Cuts off connections that do not answer. After one was found dead, all connections that have not answered
 * since then are suspect. A firewall that drops one connection often drops all.
 */
export class AnswerLimits {
  /** The time limit of a short statement, in milliseconds. */
  readonly limitMs: number;
  readonly #isSessionOver: (error: unknown) => boolean;
  readonly #short: Deadlines<Asked>;
  readonly #application: Deadlines<Asked>;
  readonly #queues: Partial<Record<Purpose, Deadlines<Asked>>>;
  /**
   * The assumed time of the last answer of a connection that has not answered yet. In the kit's own pool,
   * such a connection is new.
   */
  #unknownAt = Infinity;
  #deadFoundAt = -Infinity;

  /**
   * @param isSessionOver - Returns whether an error of the server means that its sessions are no longer
   * usable.
   */
  constructor(busyTimeoutMs: number, isSessionOver: (error: unknown) => boolean) {
    this.limitMs = busyTimeoutMs + marginMs;
    this.#isSessionOver = isSessionOver;
    const after = (ms: number) => new Deadlines<Asked>(ms, (asked) => this.#onLate(asked));
    this.#short = after(this.limitMs);
    this.#application = after(endlessMs);
    const [upkeep, migration] = [after(busyTimeoutMs + manyRowsMs), after(migrationMs)];
    this.#queues = { application: this.#application, upkeep, migration };
  }

  /** Notes when an application's pool opens connections. The pool may have opened others before. */
  watchPool(pool: object, event: "connect" | "connection", sessionOf: (connection: never) => object): void {
    if (!("on" in pool)) return;
    const note = (connection: object): void => noteAnswer(sessionOf(connection as never));
    if (!watchedSince.has(pool)) (pool as EventEmitter).on(event, note);
    this.#unknownAt = watchedSince.get(pool) ?? performance.now();
    watchedSince.set(pool, this.#unknownAt);
  }

  /** Returns whether a connection has not answered since another one was found dead. */
  isSuspect(session: object): boolean {
    return (answeredAt.get(session) ?? this.#unknownAt) < this.#deadFoundAt;
  }

  /** Returns a function that sends statements on a connection. */
  on(watched: Watched): Ask {
    const ask: Ask = (send, purpose) => {
      const asked = () => this.#ask(watched, send, this.#queues[purpose!] ?? this.#short);
      if (purpose !== "application" || !this.isSuspect(watched.session)) return asked();
      // The statement has no time limit, so a dead connection would not be noticed without this query.
      return ask(() => watched.query("select 1")).then(asked);
    };
    return ask;
  }

  #ask<T>(
    { session, cutOff, whyEnded, waitsForLock, isPoolFull }: Watched,
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
      const since = performance.now();
      const asked: Asked = { since, session, isAnswered: false, end, waitsForLock, isPoolFull };
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
    // After a pause of this process, the answer may have arrived. The answer is then read before this
    // callback.
    setImmediate(() => void this.#endLate(asked));
  }

  async #endLate(asked: Asked): Promise<void> {
    if (asked.isAnswered) return;
    const asking = asked.waitsForLock?.().catch(() => false);
    // Statements that wait for a lock can fill the pool, so that the question waits for a connection.
    await nextIteration();
    const wasFull = await asked.isPoolFull?.();
    const answer = asking && (await withTimeout(asking, lockAnswerMs, undefined, { unref: true }));
    if (asked.isAnswered) return;
    const waits = answer ?? (wasFull || (await asked.isPoolFull?.()));
    // If the statement waits for a lock, or was sent before another connection was found dead, no further
    // connection becomes suspect.
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

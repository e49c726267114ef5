import { EventEmitter } from "node:events";
import { TillkitError } from "../../../errors/index.js";
import { optionInvalid } from "../../../shared/unknown-names.js";
import { type SqlTx } from "../driver/sql-tx.js";
import { runInside } from "../transaction/lazy-tx.js";
import { Savepoints } from "./savepoints.js";

/** The handle of the driver pg or mysql2/promise. */
type Handle = Record<"query" | "execute", (statement: unknown, values?: unknown) => Promise<unknown>>;
type Callback = (error: unknown, ...answer: unknown[]) => void;

/** The savepoints of each transaction. All pools of a transaction share them. */
const savepoints = new WeakMap<object, Savepoints<Handle>>();

/**
 * Returns an object that an ORM can use like a pool of the driver `pg` or `mysql2`. All its connections are
 * the transaction of the handler. So the ORM's writes commit with the handler's mark "done", or not at all.
 * - BEGIN, COMMIT and ROLLBACK become savepoints
 * - one connection has a transaction open at a time, and the others wait for its end
 * - `end` and `release` close nothing
 * - an isolation level above read committed rejects with `transaction_control_refused`
 * - every statement after the handler's end rejects with `transaction_closed`
 *
 * See docs/orms.md.
 *
 * @param Class - The driver's class of pools, for the type, and for an ORM that checks with `instanceof`.
 * @param types - The parsers of values for `pg`, if the ORM has its own parsers.
 * @throws TillkitError `transaction_control_refused` on SQLite.
 * @throws ConfigurationError `option_invalid` if `tx` is not the tx of a handler.
 */
export function asPool<Pool>(tx: SqlTx, Class?: { prototype: Pool }, types?: unknown): Pool {
  if (typeof Object(tx).query !== "function") throw optionInvalid("asPool", "takes the tx of a handler.");
  if (tx.dialect === "sqlite") throw refused("The drivers of SQLite have no pool. Use tx.raw or tx.query.");
  const pool = new OrmPool(tx, types);
  if (Class) Object.setPrototypeOf(pool, Class.prototype as object);
  return pool as Pool;
}

/**
 * The pool, and also each of its connections. Methods resolve, or call a callback that is the last argument.
 * Methods are fields, because `asPool` may replace the prototype.
 */
class OrmPool extends EventEmitter {
  readonly #tx: SqlTx;
  readonly #types: unknown;
  /** The newest step of this connection. The step never rejects. */
  #newest: Promise<unknown> = Promise.resolve();
  /** The emitter of pg's protocol events. The emitter never emits an event. */
  readonly connection = new EventEmitter();

  constructor(tx: SqlTx, types: unknown) {
    super();
    this.#tx = tx;
    this.#types = types;
  }

  readonly connect = (callback?: Callback): unknown => {
    const connection = new OrmPool(this.#tx, this.#types);
    if (!callback) return Promise.resolve(connection);
    return void setImmediate(callback, undefined, connection, connection.release);
  };
  readonly getConnection = this.connect;
  readonly promise = (): this => this;

  readonly query = (...args: unknown[]): unknown => this.#send("query", args);
  readonly execute = (...args: unknown[]): unknown => this.#send("execute", args);

  readonly release = (): void => void this.end();
  readonly destroy = this.release;
  readonly end = (callback?: Callback): unknown => {
    const send = (raw: Handle, text?: string) => raw.query(text);
    const ending = this.#inOrder((all) => all.release(this, send)).catch(() => undefined);
    return callback ? void ending.finally(() => callback(undefined)) : ending;
  };

  #send(method: keyof Handle, args: unknown[]): unknown {
    const callback = typeof args.at(-1) === "function" ? (args.pop() as Callback) : undefined;
    const [statement, values] = args as [{ text?: string; sql?: string; submit?: unknown }, unknown];
    const text = typeof statement === "string" ? statement : (statement.text ?? statement.sql ?? "");
    const own = typeof statement === "string" ? { text } : statement;
    const sent = this.#types === undefined ? statement : { types: this.#types, ...own };
    const send = (raw: Handle, other?: string) =>
      other === undefined ? raw[method](sent, values) : raw.query(other);
    const answer = this.#inOrder((all) => {
      if (statement.submit)
        throw refused("Streams and cursors cannot be used in the transaction of a handler.");
      return all.run(this, text, send);
    });
    if (!callback) return answer;
    // A result of mysql2 is a list: the rows, and the fields.
    const succeed = (given: unknown) =>
      callback(null, ...(this.#tx.dialect === "mysql" ? (given as []) : [given]));
    answer.then(succeed, callback);
    return this;
  }

  /** Runs a step after the earlier steps of this connection. */
  #inOrder<T>(step: (all: Savepoints<Handle>) => Promise<T>): Promise<T> {
    const running = this.#newest.then(async () => {
      const all = await runInside(this.#tx, async (inner) => {
        if (!savepoints.has(inner)) savepoints.set(inner, new Savepoints(inner as never));
        return savepoints.get(inner)!;
      });
      return step(all);
    });
    this.#newest = running.catch(() => undefined);
    return running;
  }
}

function refused(message: string): TillkitError {
  return new TillkitError("transaction_control_refused", message);
}

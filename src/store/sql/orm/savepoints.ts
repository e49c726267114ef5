import { TillkitError } from "../../../errors/index.js";
import { Semaphore } from "../../../shared/semaphore.js";
import { refuseEnding } from "../transaction/transaction-parts.js";
import { type Transaction } from "../transaction/transaction.js";
import { type TransactionCommand, transactionCommand } from "./transaction-command.js";

/** Sends `text` on the driver's handle. Without `text`, sends the statement of the ORM. */
export type Send<Raw> = (raw: Raw, text?: string) => Promise<unknown>;

/**
 * The transactions that ORMs open inside one transaction of the kit, as savepoints. A session is a connection
 * as an ORM sees it. One session has a transaction open at a time, and the others wait.
 */
export class Savepoints<Raw> {
  readonly #tx: Transaction<Raw>;
  readonly #semaphore = new Semaphore(1);
  /** The open savepoints, oldest first. The oldest one stands for a BEGIN of the ORM. */
  readonly #open: { name: string; isBegin: boolean }[] = [];
  #holder: object | undefined;
  #endTurn: (() => void) | undefined;
  /** The first failure inside a savepoint. After such a failure, only a rollback runs. */
  #failure: { cause: unknown } | undefined;
  #count = 0;

  constructor(tx: Transaction<Raw>) {
    this.#tx = tx;
    // The waiting sessions continue, and their statements are refused.
    tx.onClosed = () => this.#endTurn?.();
  }

  run(session: object, text: string, send: Send<Raw>): Promise<unknown> {
    const command = transactionCommand(text);
    if (!command && this.#tx.isShared) refuseEnding(text);
    const running = (): Promise<unknown> =>
      this.#run(command, send).finally(() => this.#open.length === 0 && this.#endTurn?.());
    if (this.#holder === session) return running();
    return new Promise((resolve, reject) => {
      void this.#semaphore.run(async () => {
        await running().then(resolve, reject);
        if (this.#open.length === 0 || this.#tx.isClosed) return;
        this.#holder = session;
        await new Promise<void>((end) => (this.#endTurn = end));
        this.#holder = undefined;
      });
    });
  }

  /** Rolls back everything that a session left open. */
  async release(session: object, send: Send<Raw>): Promise<void> {
    while (this.#holder === session && this.#open.length > 0) await this.run(session, "rollback", send);
  }

  async #run(command: TransactionCommand | undefined, send: Send<Raw>): Promise<unknown> {
    const isRollback = command?.kind.startsWith("rollback");
    // An error inside a savepoint is returned, because a thrown error would poison the whole transaction.
    const { error, answer } = await this.#tx.onHandle(async (ask) => {
      if (this.#failure && !isRollback) return { error: poisoned(this.#failure.cause) };
      try {
        return { answer: await this.#step(command, (text) => ask((raw) => send(raw, text))) };
      } catch (cause) {
        if (this.#open.length === 0 || isRollback) throw cause;
        this.#failure ??= { cause };
        return { error: this.#tx.orLost(cause) };
      }
    });
    if (error !== undefined) throw error;
    return answer;
  }

  async #step(
    command: TransactionCommand | undefined,
    send: (text?: string) => Promise<unknown>,
  ): Promise<unknown> {
    if (!command) return send();
    const { kind, name } = command;
    const at = this.#open.findLastIndex((open) => (name === undefined ? open.isBegin : open.name === name));
    let answer: unknown;
    if (kind === "begin" || (kind === "savepoint" && this.#open.length > 0)) {
      const added = { name: name ?? `tillkit_${++this.#count}`, isBegin: kind === "begin" };
      answer = await send(`savepoint ${added.name}`);
      this.#open.push(added);
    } else if (at < 0 || kind === "mode" || kind === "savepoint") {
      // The command has no effect here. The query returns a result in the driver's form.
      return send("select 1");
    } else {
      const savepoint = this.#open[at]!.name;
      if (kind.startsWith("rollback")) answer = await send(`rollback to savepoint ${savepoint}`);
      if (kind !== "rollback to") answer = await send(`release savepoint ${savepoint}`);
      if (kind.startsWith("rollback")) this.#failure = undefined;
      this.#open.splice(kind === "rollback to" ? at + 1 : at);
    }
    this.#tx.openSavepoints = this.#open.length;
    return answer;
  }
}

function poisoned(cause: unknown): TillkitError {
  const why = cause instanceof Error ? cause.message : String(cause);
  const message = `A statement of this transaction failed, and it can only be rolled back: ${why}`;
  return new TillkitError("transaction_poisoned", message, { cause });
}

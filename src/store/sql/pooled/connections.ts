import { type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { errorFixes, TillkitError } from "../../../errors/index.js";
import { withTimeout } from "../../../shared/with-timeout.js";

/** A connection that a transaction has taken from a pool. */
interface PooledConnection<Answer> {
  query(sql: string): Promise<Answer>;
  giveBack(): void;
  /** Ends the connection immediately, also while a statement runs on it. */
  cutOff(error: Error): void;
  /** Called before the connection is given back or cut off. Has the error if it is cut off. */
  onEnd?: ((error?: Error) => void) | undefined;
}

/** After how much silence, in milliseconds, the operating system checks a connection of the kit's own. */
export const keepAliveAfterMs = 10_000;

/** The maximum duration of a rollback, in milliseconds. Over a connection that died silently it would never end. */
const maxRollbackMs = 2000;

/** How long to wait for a connection of the pool where the server takes no more, in milliseconds. */
const maxFullMs = 3000;

/**
 * Takes a connection of a pool. Where the server takes no further one, it waits for one that is open already: the pool gives those that
 * are free.
 */
export async function takeOpen<Connection>(
  take: () => Promise<Connection>,
  isFull: (error: unknown) => boolean,
): Promise<Connection> {
  const giveUpAt = performance.now() + maxFullMs;
  for (let waitMs = 10; ; waitMs = Math.min(waitMs * 2, 200)) {
    try {
      return await take();
    } catch (error) {
      if (!isFull(error) || performance.now() > giveUpAt) throw error;
    }
    await delay(waitMs * (0.5 + Math.random()));
  }
}

/**
 * Returns the ways in which a transaction gives its connection back. Only the first call has an effect.
 *
 * @param open - The functions that abandon the open transactions of the driver.
 */
export function endsOf<Answer>(connection: PooledConnection<Answer>, open: Set<() => void>) {
  let isOver = false;
  const end = (error?: Error): void => {
    if (isOver) return;
    isOver = true;
    open.delete(abandon);
    connection.onEnd?.(error);
    if (error) connection.cutOff(error);
    else connection.giveBack();
  };
  const abandon = (error = new Error("The transaction was abandoned.")): void => end(error);
  open.add(abandon);
  const rollback = async (): Promise<void> => {
    const hangs = (): Error => new Error("The rollback takes too long.");
    await withTimeout(connection.query("rollback"), maxRollbackMs, hangs).then(() => end(), end);
  };
  const commit = async (): Promise<Answer> => {
    try {
      const answer = await connection.query("commit");
      end();
      return answer;
    } catch (error) {
      end(error as Error);
      throw error;
    }
  };
  return { giveBack: () => end(), abandon, rollback, commit };
}

/** Returns the warning that commits do not wait for this number of standbys. */
export function replicationWarning(database: string, standbys: number): string {
  const seen = `${database} has ${standbys} connected standbys and waits for none of them`;
  return `replication_asynchronous: ${seen}: a failover can lose a webhook that was answered 200. ${errorFixes.replication_asynchronous}`;
}

/** Returns whether a connection with this socket is gone. Of a driver with another kind of connection this is not known. */
export function isGone(socket: Partial<Socket> | undefined): boolean {
  return socket?.destroyed === true || socket?.readable === false;
}

/** Returns the error for a driver's package that cannot be loaded: none is a dependency of the kit. */
export function driverMissing(name: string, neededBy: string, cause: unknown): TillkitError {
  const message = `${neededBy} needs the package ${name}; run "npm install ${name}".`;
  return new TillkitError("driver_missing", message, { cause });
}

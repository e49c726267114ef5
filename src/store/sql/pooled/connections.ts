import { type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { errorFixes, TillkitError } from "../../../errors/index.js";
import { withTimeout } from "../../../shared/with-timeout.js";

/** A connection that a transaction has taken from a pool. */
interface PooledConnection<Answer> {
  query(sql: string): Promise<Answer>;
  giveBack(): void;
  /** Ends the connection immediately, even while a statement runs on it. */
  cutOff(error: Error): void;
  /** Called before the connection is given back or cut off. Gets the error in the latter case. */
  onEnd?: ((error?: Error) => void) | undefined;
}

/** The silence, in milliseconds, after which the operating system checks a connection of the kit's own. */
export const keepAliveAfterMs = 10_000;

/** The maximum duration of a rollback, in milliseconds. On a dead connection, a rollback would never end. */
const maxRollbackMs = 2000;

/** The maximum wait, in milliseconds, for a free connection if the server accepts no more. */
const maxFullMs = 3000;

/** Takes a connection of a pool. If the server accepts no further connection, waits for a free one. */
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

/** Waits for a connection of a pool, with a limit of time. A connection that comes later is given back. */
export async function takeInTime<Connection extends { release(): void }>(
  connecting: Promise<Connection>,
  maxMs: number,
  tooLate: () => Error,
): Promise<Connection> {
  try {
    return await withTimeout(connecting, maxMs, tooLate);
  } catch (error) {
    connecting.then(
      (connection) => connection.release(),
      () => undefined,
    );
    throw error;
  }
}

/**
 * Returns functions that end a transaction and give its connection back. Only the first call has an effect.
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

/** Returns the warning that commits do not wait for any of the connected standbys. */
export function replicationWarning(database: string, standbys: number): string {
  const seen = `${database} has ${standbys} connected standbys and waits for none of them`;
  return `replication_asynchronous: ${seen}: a failover can lose a webhook that was answered 200. ${errorFixes.replication_asynchronous}`;
}

/** Returns whether the connection of this socket is lost. Returns `false` for a driver without a socket. */
export function isGone(socket: Partial<Socket> | undefined): boolean {
  return socket?.destroyed === true || socket?.readable === false;
}

/** Returns the error for a driver's package that cannot be loaded. No driver is a dependency of the kit. */
export function driverMissing(name: string, neededBy: string, cause: unknown): TillkitError {
  const message = `${neededBy} needs the package ${name}; run "npm install ${name}".`;
  return new TillkitError("driver_missing", message, { cause });
}

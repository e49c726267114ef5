import { hasCode, TillkitError } from "../../errors/index.js";
import { type Changes, type Locked, type LockKeys } from "../contract.js";
import { type Driver } from "./driver/driver.js";
import { lockKeys } from "./tables/lock-payments.js";
import { type Database } from "./tables/names.js";
import { fitsOneStatement, saveChanges, saveOrFail } from "./tables/save-changes.js";
import { Transaction } from "./transaction/transaction.js";

/** Thrown inside `recordChanges` if the eventKey or the receiptId of a new webhook is taken. */
class WebhookTaken extends Error {}

/**
 * Locks, decides and saves in one transaction. Resolves `false` if a webhook is taken. On a pipelined
 * connection, there are two round trips: the begin with the locks, and the changes with the commit. If the
 * changes fail, the database refuses the commit.
 */
export async function recordChanges<Raw>(
  driver: Driver<Raw>,
  db: Database,
  keys: LockKeys,
  decide: (locked: Locked) => Changes,
): Promise<boolean> {
  const { dialect, tables } = db;
  const tx = new Transaction(dialect, (await driver.beginPipelined?.()) ?? (await driver.begin("record")));
  let locked: Locked;
  let changes: Changes;
  let unsaved: Changes | undefined;
  try {
    locked = await lockKeys(tx, db, keys);
    changes = decide(locked);
    expectLocked(changes, locked);
    if (tx.isPipelined && fitsOneStatement(changes)) unsaved = changes;
    else expectNoneTaken((await saveChanges(tx, db, changes, locked)).takenEventKeys);
  } catch (error) {
    await tx.rollback();
    if (error instanceof WebhookTaken) return false;
    throw error;
  }
  // The changes and the commit are sent in order, without waiting for the result of the changes.
  const saving = unsaved && saveOrFail(tx, db, unsaved, locked);
  const [saved, committed] = await Promise.allSettled([saving, tx.commit()]);
  if (saved.status === "rejected") {
    const { reason } = saved as { reason: Error };
    if (hasCode(reason, "store_conflict") && dialect.isClashIn!(reason.cause, tables.webhooks)) return false;
    throw reason;
  }
  if (committed.status === "rejected") throw committed.reason;
  if (changes.events && changes.events.length > 0) driver.announce?.();
  return true;
}

function expectNoneTaken(eventKeys: readonly string[]): void {
  if (eventKeys.length > 0) throw new WebhookTaken();
}

/**
 * Throws if an unlocked payment would be updated, because an update without a row would not stop the commit.
 */
function expectLocked({ updated = [] }: Changes, { payments }: Locked): void {
  const locked = new Set(payments.map(({ clientId }) => clientId));
  const missing = updated.find(({ clientId }) => !locked.has(clientId));
  if (missing)
    throw new TillkitError("store_conflict", "The transaction changed a payment that it had not locked.");
}

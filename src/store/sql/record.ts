import { hasCode, TillkitError } from "../../errors/index.js";
import { type Changes, type Locked, type LockKeys } from "../payment-store.js";
import { type Dialect } from "./dialect.js";
import { type Driver } from "./driver.js";
import { lockAlone } from "./sqlite/synchronous/lock-alone.js";
import { lockKeys } from "./tables/lock-payments.js";
import { type Tables } from "./tables/names.js";
import { canSaveAlone, saveAlone } from "./sqlite/synchronous/save-alone.js";
import { saveChanges } from "./tables/save-changes.js";
import { areUsual, saveOrFail } from "./tables/save-together.js";
import { Transaction } from "./transaction.js";

/** Of a webhook that is to be stored, the eventKey or the receiptId is taken. */
class WebhookTaken extends Error {}

/**
 * Locks, decides and saves in one transaction; `false` where a webhook is taken. Where the driver sends ahead, that is two
 * round trips: the begin with the locks; and the changes with the commit behind them, which is no commit if they fail.
 */
export async function record<Raw>(
  driver: Driver<Raw>,
  tables: Tables,
  keys: LockKeys,
  decide: (locked: Locked) => Changes,
): Promise<boolean> {
  if (driver.atOnce) return recordAtOnce(driver, tables, keys, decide);
  const { dialect } = driver;
  const tx = new Transaction(dialect, (await driver.beginAhead?.()) ?? (await driver.begin()));
  let locked: Locked;
  let changes: Changes;
  let unsaved: Changes | undefined;
  try {
    locked = await lockKeys(tx, dialect, tables, keys);
    changes = decide(locked);
    expectLocked(changes, locked);
    if (tx.isOrdered && areUsual(changes)) unsaved = changes;
    else expectNoneTaken((await saveChanges(tx, dialect, tables, changes, locked)).takenEventKeys);
  } catch (error) {
    await tx.rollback();
    if (error instanceof WebhookTaken) return false;
    throw error;
  }
  // Handed over in this order, and at once; from here on nothing is known until the commit is answered.
  const saving = unsaved && saveOrFail(tx, dialect, tables, unsaved, locked);
  const [saved, committed] = await Promise.allSettled([saving, tx.commit()]);
  if (saved.status === "rejected") {
    if (isTakenWebhook(saved.reason, dialect, tables)) return false;
    throw saved.reason;
  }
  if (committed.status === "rejected") throw committed.reason;
  if (changes.events && changes.events.length > 0) driver.announce?.();
  return true;
}

/** The same where the database is in this process. */
async function recordAtOnce<Raw>(
  driver: Driver<Raw>,
  tables: Tables,
  keys: LockKeys,
  decide: (locked: Locked) => Changes,
): Promise<boolean> {
  try {
    await driver.atOnce!((tx) => {
      const locked = lockAlone(tx, driver.dialect, tables, keys);
      const changes = decide(locked);
      expectLocked(changes, locked);
      if (!canSaveAlone(changes))
        throw new TypeError("What is recorded are webhooks, and what follows from them.");
      expectNoneTaken(saveAlone(tx, driver.dialect, tables, changes));
    });
    return true;
  } catch (error) {
    if (error instanceof WebhookTaken) return false;
    throw error;
  }
}

function expectNoneTaken(eventKeys: readonly string[]): void {
  if (eventKeys.length > 0) throw new WebhookTaken();
}

/** An update that finds nothing must fail before the commit is sent; what is locked is there. */
function expectLocked({ updated = [] }: Changes, { payments }: Locked): void {
  const locked = new Set(payments.map(({ clientId }) => clientId));
  const missing = updated.find(({ clientId }) => !locked.has(clientId));
  if (missing) throw new TillkitError("store_conflict", "A payment was changed that had not been locked.");
}

function isTakenWebhook(error: unknown, dialect: Dialect, tables: Tables): boolean {
  return hasCode(error, "store_conflict") && dialect.isClashIn!((error as Error).cause, tables.webhooks);
}

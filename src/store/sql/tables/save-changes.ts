import { type Changes, type Locked, type Saved } from "../../payment-store.js";
import { type Dialect } from "../dialect.js";
import { type KitTx } from "../sql-tx.js";
import { insertEvents } from "./events.js";
import { type Tables } from "./names.js";
import { insertPayments, updatePayments } from "./payments.js";
import { insertResolutions } from "./resolutions.js";
import { canSaveAlone, saveAlone } from "../sqlite/synchronous/save-alone.js";
import { canSaveTogether, saveTogether } from "./save-together.js";
import { countCopies, insertWebhooks, markTold, rematch } from "./webhooks.js";

/** Writes all of it, or rejects; answers what it found in its way. What is `locked` is known as it lies in the tables. */
export async function saveChanges(
  tx: KitTx,
  dialect: Dialect,
  tables: Tables,
  changes: Changes,
  locked?: Locked,
): Promise<Saved> {
  if (canSaveTogether(dialect, changes)) {
    const takenEventKeys = await saveTogether(tx, dialect, tables, changes);
    return { takenClientIds: [], takenEventKeys };
  }
  if (!tx.atOnce) return saveInSteps(tx, dialect, tables, changes, locked);
  const takenEventKeys = await tx.atOnce((now) => saveAlone(now, dialect, tables, changes));
  if (canSaveAlone(changes)) return { takenClientIds: [], takenEventKeys };
  const others = { ...changes, updated: [], webhooks: [], copies: [], events: [] };
  return { ...(await saveInSteps(tx, dialect, tables, others)), takenEventKeys };
}

async function saveInSteps(
  tx: KitTx,
  dialect: Dialect,
  tables: Tables,
  changes: Changes,
  locked?: Locked,
): Promise<Saved> {
  const { created = [], updated = [], webhooks = [], copies = [], rematched = [], events = [] } = changes;
  const args = [tx, dialect, tables] as const;
  await updatePayments(...args, updated, locked?.payments);
  const takenClientIds = await insertPayments(...args, created);
  const takenEventKeys = await insertWebhooks(...args, webhooks);
  await countCopies(...args, copies);
  await rematch(...args, rematched);
  await markTold(...args, changes);
  await insertResolutions(...args, changes.resolutions ?? []);
  await insertEvents(...args, events);
  return { takenClientIds, takenEventKeys };
}

import { type Changes, type Saved } from "../../payment-store.js";
import { type Dialect } from "../dialect.js";
import { type KitTx } from "../sql-tx.js";
import { insertEvents } from "./events.js";
import { type Tables } from "./names.js";
import { insertPayments, updatePayments } from "./payments.js";
import { insertResolutions } from "./resolutions.js";
import { canSaveTogether, saveTogether } from "./save-together.js";
import { countCopies, insertWebhooks, markTold, rematch } from "./webhooks.js";

/** Writes all of it, or rejects; answers what it found in its way. */
export async function saveChanges(
  tx: KitTx,
  dialect: Dialect,
  tables: Tables,
  changes: Changes,
): Promise<Saved> {
  const { created = [], updated = [], webhooks = [], copies = [], rematched = [], events = [] } = changes;
  const args = [tx, dialect, tables] as const;
  if (canSaveTogether(dialect, changes))
    return { takenClientIds: [], takenEventKeys: await saveTogether(...args, changes) };
  await updatePayments(...args, updated);
  const takenClientIds = await insertPayments(...args, created);
  const takenEventKeys = await insertWebhooks(...args, webhooks);
  await countCopies(...args, copies);
  await rematch(...args, rematched);
  await markTold(...args, changes);
  await insertResolutions(...args, changes.resolutions ?? []);
  await insertEvents(...args, events);
  return { takenClientIds, takenEventKeys };
}

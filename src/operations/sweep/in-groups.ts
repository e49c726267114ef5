import { hasCode } from "../../errors/index.js";
import { type PaymentStore } from "../../store/index.js";

/**
 * Calls `run` with all items. If the call rejects and the store limits its writes, calls `run` with each half
 * of the items, and so on. The dispatches of many handlers may exceed the limit of the database for one
 * transaction. Resolves to the results, in order. Rejects if a single item is refused. Rejects with a
 * `store_conflict` immediately, because smaller groups do not prevent it.
 */
export async function inGroups<T, Result>(
  store: Pick<PaymentStore, "maxGroup">,
  items: readonly T[],
  run: (items: readonly T[]) => Promise<Result>,
): Promise<Result[]> {
  try {
    return [await run(items)];
  } catch (error) {
    if (store.maxGroup === Infinity || items.length <= 1 || hasCode(error, "store_conflict")) throw error;
    const middle = Math.ceil(items.length / 2);
    const first = await inGroups(store, items.slice(0, middle), run);
    return [...first, ...(await inGroups(store, items.slice(middle), run))];
  }
}

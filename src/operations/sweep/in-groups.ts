import { type PaymentStore } from "../../store/index.js";

/**
 * Runs `run` on all items. Where a store that limits its writes rejects, runs it on each half of them, and so on: the dispatches of
 * many handlers may be more than its database takes in one transaction. Resolves to the results, in order. Rejects where a single
 * item is refused.
 */
export async function inGroups<T, Result>(
  store: Pick<PaymentStore, "maxGroup">,
  items: readonly T[],
  run: (items: readonly T[]) => Promise<Result>,
): Promise<Result[]> {
  try {
    return [await run(items)];
  } catch (error) {
    if (store.maxGroup === Infinity || items.length <= 1) throw error;
    const middle = Math.ceil(items.length / 2);
    const first = await inGroups(store, items.slice(0, middle), run);
    return [...first, ...(await inGroups(store, items.slice(middle), run))];
  }
}

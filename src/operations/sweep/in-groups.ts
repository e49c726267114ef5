import { hasCode } from "../../errors/index.js";
import { type PaymentStore } from "../../store/index.js";

/** The number of refused items after which a call ends, because the store seems to fail. */
const maxRefusedItems = 10;

/** The minimum number of records on a page of a sweep. Otherwise, a few refused ones could fill each page. */
export const minPageSize = 2 * maxRefusedItems;

/**
 * Calls `run` with all items, or with groups of `maxGroup`. If a call rejects, calls `run` with each item of
 * the group. If the store limits its writes, calls `run` with each half of the items instead, and so on,
 * because the dispatches of many handlers may exceed the limit of the database for one transaction. Resolves
 * to the results, in order. If single items are refused, rejects with the first error, after the call for the
 * last item or for the refused item number `maxRefused`. Rejects with a `store_conflict` immediately, because
 * smaller groups do not prevent it.
 */
export async function inGroups<T, Result>(
  store: Pick<PaymentStore, "maxGroup">,
  items: readonly T[],
  run: (items: readonly T[]) => Promise<Result>,
  maxRefused = maxRefusedItems,
): Promise<Result[]> {
  const errors: unknown[] = [];

  async function runParts(some: readonly T[]): Promise<Result[]> {
    try {
      return [await run(some)];
    } catch (error) {
      if (hasCode(error, "store_conflict")) throw error;
      if (some.length <= 1) errors.push(error);
      if (errors.length === maxRefused) throw errors[0];
    }
    if (some.length <= 1) return [];
    const size = store.maxGroup === Infinity ? 1 : Math.ceil(some.length / 2);
    const results: Result[] = [];
    for (let at = 0; at < some.length; at += size)
      results.push(...(await runParts(some.slice(at, at + size))));
    return results;
  }

  const results: Result[] = [];
  for (let first = 0; first === 0 || first < items.length; first += store.maxGroup)
    results.push(...(await runParts(items.slice(first, first + store.maxGroup))));
  if (errors.length > 0) throw errors[0];
  return results;
}

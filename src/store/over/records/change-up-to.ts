/**
 * Changes records until `limit` of them are changed or none is left. `find` returns at most the given number
 * of entries. `change` resolves to 1, or to 0 if another process has changed the record since it was found.
 * Such a record does not count, because callers take a smaller number than `limit` as the end. Stops where
 * `find` returns the same entries again. An earlier version of the kit may have left entries in an index that
 * `change` can never change.
 */
export async function changeUpTo<Entry>(
  limit: number,
  find: (limit: number) => Promise<readonly Entry[]>,
  change: (entry: Entry) => Promise<number>,
): Promise<number> {
  let changed = 0;
  let last: string | undefined;
  for (;;) {
    const wanted = limit - changed;
    const found = await find(wanted);
    for (const entry of found) changed += await change(entry);
    const all = JSON.stringify(found);
    if (found.length < wanted || changed === limit || all === last) return changed;
    last = all;
  }
}

/**
 * Changes records until `limit` of them are changed or none is left. `find` returns at most the given number
 * of entries. `change` resolves to 1, or to 0 if another process has changed the record since it was found.
 * Such a record does not count, because callers take a smaller number than `limit` as the end.
 */
export async function changeUpTo<Entry>(
  limit: number,
  find: (limit: number) => Promise<readonly Entry[]>,
  change: (entry: Entry) => Promise<number>,
): Promise<number> {
  let changed = 0;
  for (;;) {
    const wanted = limit - changed;
    const found = await find(wanted);
    for (const entry of found) changed += await change(entry);
    if (found.length < wanted || changed === limit) return changed;
  }
}

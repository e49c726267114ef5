import { inGroups } from "../../../src/operations/sweep/in-groups.js";

describe("a call in groups", () => {
  const items = [1, 2, 3, 4, 5, 6, 7];
  /** Returns a call that refuses more than this number of items, and the groups that it took. */
  const taking = (limit: number) => {
    const groups: (readonly number[])[] = [];
    const run = async (some: readonly number[]) => {
      if (some.length > limit) throw new Error(`${some.length} are too many`);
      groups.push(some);
      return some.length;
    };
    return { groups, run };
  };

  it.each([1, 2, 3, 4, 7])("takes each item once and in order, also where %d fit in one", async (limit) => {
    const { groups, run } = taking(limit);
    const counts = await inGroups({ maxGroup: 9 }, items, run);
    expect(groups.flat()).toEqual(items);
    expect(counts).toEqual(groups.map(({ length }) => length));
  });

  it("rejects where a single item is refused, or the store has no limit", async () => {
    await expect(inGroups({ maxGroup: 9 }, items, taking(0).run)).rejects.toThrow("1 are too many");
    await expect(inGroups({ maxGroup: Infinity }, items, taking(6).run)).rejects.toThrow("7 are too many");
  });
});

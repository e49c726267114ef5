import { TillkitError } from "tillkit";
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

  it("takes each item alone where the store has no limit and refuses them as one group", async () => {
    const { groups, run } = taking(6);
    await inGroups({ maxGroup: Infinity }, items, run);
    expect(groups).toEqual(items.map((item) => [item]));
  });

  it.each([9, Infinity])(
    "takes all other items where some are refused, and rejects then: %d",
    async (maxGroup) => {
      const { groups, run } = taking(9);
      const refusing = async (some: readonly number[]) => {
        if (some.includes(2) || some.includes(5)) throw new Error(`${some.join()} was refused`);
        return run(some);
      };
      await expect(inGroups({ maxGroup }, items, refusing)).rejects.toThrow("2 was refused");
      expect(groups.flat()).toEqual([1, 3, 4, 6, 7]);
    },
  );

  it.each([9, Infinity])(
    "ends after ten refused items, because the store seems to fail: %d",
    async (maxGroup) => {
      const alone: number[] = [];
      const many = Array.from({ length: 64 }, (_, index) => index);
      const refusing = async (some: readonly number[]) => {
        if (some.length === 1) alone.push(...some);
        throw new Error(`${some.join()} was refused`);
      };
      await expect(inGroups({ maxGroup }, many, refusing)).rejects.toThrow(/^0 was refused/);
      expect(alone).toEqual(many.slice(0, 10));
    },
  );

  it("rejects immediately where another process was faster", async () => {
    const conflict = new TillkitError("store_conflict", "Another process was faster.");
    const run = jest.fn(() => Promise.reject(conflict));
    await expect(inGroups({ maxGroup: Infinity }, items, run)).rejects.toBe(conflict);
    expect(run).toHaveBeenCalledTimes(1);
  });
});

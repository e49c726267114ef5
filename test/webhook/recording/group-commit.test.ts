import { groupCommit } from "../../../src/webhook/recording/group-commit.js";

/** A commit whose end the test decides. */
function gate() {
  const groups: string[][] = [];
  const opens: (() => void)[] = [];
  const commit = async (items: readonly string[]) => {
    groups.push([...items]);
    await new Promise<void>((resolve) => opens.push(resolve));
    return items.map((item) => `${item} kept`);
  };
  const open = async () => {
    while (opens.length === 0) await new Promise(setImmediate);
    opens.shift()!();
  };
  return { groups, commit, open };
}

describe("group commit", () => {
  it("commits a lone item without waiting for company", async () => {
    const { record } = groupCommit({
      commit: async (items: readonly string[]) => items,
      maxGroup: 10,
      deadlineMs: 1000,
    });
    expect(await record("a")).toBe("a");
  });

  it("begins to commit at once where items have come one by one, and sees when they no longer do", async () => {
    const sizes: number[] = [];
    const commit = async (items: readonly number[]) => (sizes.push(items.length), items);
    const { record } = groupCommit({ commit, maxGroup: 10, deadlineMs: 1000 });
    const beginsAtOnce: boolean[] = [];
    for (let n = 0; n < 130; n++) {
      const before = sizes.length;
      const recording = record(n);
      beginsAtOnce.push(sizes.length > before);
      await recording;
      await new Promise(setImmediate);
    }
    const waited = beginsAtOnce.flatMap((is, n) => (is ? [] : [n]));
    expect(waited).toEqual([0, 1, 2, 3, 64, 128]);

    sizes.length = 0;
    for (let burst = 0; burst < 30; burst++) {
      await Promise.all([1, 2, 3].map(record));
      await new Promise(setImmediate);
    }
    expect(sizes.slice(-5)).toEqual([3, 3, 3, 3, 3]);
  });

  it("commits together what arrives while another commit is under way, and answers each with its own result", async () => {
    const { groups, commit, open } = gate();
    const { record } = groupCommit({ commit, maxGroup: 10, deadlineMs: 1000 });
    const first = record("a");
    while (groups.length === 0) await new Promise(setImmediate);
    const rest = ["b", "c", "d"].map(record);
    await open();
    await open();
    expect(await Promise.all([first, ...rest])).toEqual(["a kept", "b kept", "c kept", "d kept"]);
    expect(groups).toEqual([["a"], ["b", "c", "d"]]);
  });

  it("commits those together that come again within a few turns of having been answered together", async () => {
    const sizes: number[] = [];
    const commit = async (items: readonly number[]) => (sizes.push(items.length), items);
    const { record } = groupCommit({ commit, maxGroup: 10, deadlineMs: 1000, turnsForCompany: 3 });
    const comeAndGo = async (_: unknown, turns: number) => {
      for (let round = 0; round < 3; round++) {
        await record(turns);
        for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
      }
    };
    await Promise.all(Array.from({ length: 3 }, comeAndGo));
    expect(sizes).toEqual([3, 3, 3]);
  });

  it("never commits more than its limit at once", async () => {
    const sizes: number[] = [];
    const commit = async (items: readonly number[]) => (sizes.push(items.length), items);
    const { record } = groupCommit({ commit, maxGroup: 3, deadlineMs: 1000 });
    await Promise.all([1, 2, 3, 4, 5, 6, 7].map(record));
    expect(sizes).toEqual([3, 3, 1]);
  });

  it("lets one bad item fail alone", async () => {
    const commit = async (items: readonly string[]) => {
      if (items.includes("bad")) throw new Error("no room for it");
      return items;
    };
    const { record } = groupCommit({ commit, maxGroup: 10, deadlineMs: 1000 });
    const results = await Promise.allSettled(["a", "bad", "b"].map(record));
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  });

  it("holds all that were given together or none, so that a later one never goes before an earlier", async () => {
    const held: string[] = [];
    let isBack = false;
    const commit = async (items: readonly string[]) => {
      if (!isBack) {
        isBack = true;
        throw new Error("the connection was dead");
      }
      held.push(...items);
      return items.map((item) => `${item} kept`);
    };
    const { record, recordTogether } = groupCommit({ commit, maxGroup: 10, deadlineMs: 1000 });
    const together = recordTogether(["a", "b", "c"]);
    await expect(together).rejects.toThrow("dead");
    expect(held).toEqual([]);

    const [kept, alone] = await Promise.all([recordTogether(["a", "b", "c"]), record("d")]);
    expect(kept).toEqual(["a kept", "b kept", "c kept"]);
    expect(alone).toBe("d kept");
    expect(held).toEqual(["a", "b", "c", "d"]);
  });

  it("rejects at the deadline, and lets the next go ahead while the first still hangs", async () => {
    const { commit, open, groups } = gate();
    const { record, isStuck } = groupCommit({ commit, maxGroup: 10, deadlineMs: 40 });
    await expect(record("a")).rejects.toMatchObject({ code: "store_unavailable" });

    const next = record("b");
    while (groups.length < 2) await new Promise(setImmediate);
    await open();
    await open();
    expect(await next).toBe("b kept");
    expect(groups).toEqual([["a"], ["b"]]);
    expect(isStuck()).toBe(false);
  });

  it("rejects at once while three commits hang, and recovers when one of them ends", async () => {
    const { commit, open, groups } = gate();
    const { record, isStuck } = groupCommit({ commit, maxGroup: 10, deadlineMs: 30 });
    for (const item of ["a", "b", "c"]) {
      await expect(record(item)).rejects.toMatchObject({ code: "store_unavailable" });
      while (groups.length < 3 && groups.at(-1)?.[0] !== item) await new Promise(setImmediate);
    }
    while (!isStuck()) await new Promise((resolve) => setTimeout(resolve, 5));
    const before = performance.now();
    await expect(record("d")).rejects.toMatchObject({ code: "store_unavailable" });
    expect(performance.now() - before).toBeLessThan(25);

    await open();
    while (isStuck()) await new Promise(setImmediate);
    const again = record("e");
    while (groups.length < 4) await new Promise(setImmediate);
    await open();
    await open();
    await open();
    expect(await again).toBe("e kept");
    expect(groups).toEqual([["a"], ["b"], ["c"], ["e"]]);
  });
});

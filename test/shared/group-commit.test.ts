import { GroupCommit, type GroupCommitOptions } from "../../src/shared/group-commit.js";

/** Makes a group commit, and returns its methods. */
function groupCommit<Item, Result>(options: GroupCommitOptions<Item, Result>) {
  const group = new GroupCommit(options);
  return {
    add: (item: Item) => group.add(item),
    addAll: (items: readonly Item[]) => group.addAll(items),
    isStuck: () => group.isStuck(),
  };
}

/** A commit that ends when the test calls `open`. */
function gate() {
  const groups: string[][] = [];
  const opens: (() => void)[] = [];
  const write = async (items: readonly string[]) => {
    groups.push([...items]);
    await new Promise<void>((resolve) => opens.push(resolve));
    return items.map((item) => `${item} kept`);
  };
  const open = async () => {
    while (opens.length === 0) await new Promise(setImmediate);
    opens.shift()!();
  };
  return { groups, write, open };
}

describe("a group commit", () => {
  it("commits a single item without waiting for others, and then does not keep the process alive", async () => {
    const write = async (items: readonly string[]) => items;
    const { add } = groupCommit({ write, maxGroup: 10, deadlineMs: 60_000 });
    const started = jest.spyOn(globalThis, "setTimeout");
    expect(await add("a")).toBe("a");
    await new Promise(setImmediate);
    expect(started.mock.results.map(({ value }) => value.hasRef())).toEqual([false, false]);
    started.mockRestore();
  });

  it("starts a commit immediately where items have come one by one, and notices when they no longer do", async () => {
    const sizes: number[] = [];
    const write = async (items: readonly number[]) => (sizes.push(items.length), items);
    const { add } = groupCommit({ write, maxGroup: 10, deadlineMs: 60_000 });
    const startsImmediately: boolean[] = [];
    for (let n = 0; n < 130; n++) {
      const before = sizes.length;
      const recording = add(n);
      startsImmediately.push(sizes.length > before);
      await recording;
      await new Promise(setImmediate);
    }
    const waited = startsImmediately.flatMap((is, n) => (is ? [] : [n]));
    expect(waited).toEqual([0, 1, 2, 3, 64, 128]);

    sizes.length = 0;
    for (let burst = 0; burst < 30; burst++) {
      await Promise.all([1, 2, 3].map(add));
      await new Promise(setImmediate);
    }
    expect(sizes.slice(-5)).toEqual([3, 3, 3, 3, 3]);
  });

  it("commits in one group what arrives during another commit, and resolves each item to its own result", async () => {
    const { groups, write, open } = gate();
    const { add } = groupCommit({ write, maxGroup: 10, deadlineMs: 60_000 });
    const first = add("a");
    while (groups.length === 0) await new Promise(setImmediate);
    const rest = ["b", "c", "d"].map(add);
    await open();
    await open();
    expect(await Promise.all([first, ...rest])).toEqual(["a kept", "b kept", "c kept", "d kept"]);
    expect(groups).toEqual([["a"], ["b", "c", "d"]]);
  });

  it("commits in one group the items that come again within a few iterations of the event loop", async () => {
    const sizes: number[] = [];
    const write = async (items: readonly number[]) => (sizes.push(items.length), items);
    const { add } = groupCommit({ write, maxGroup: 10, deadlineMs: 60_000, refillIterations: 3 });
    const comeAgain = async (_: unknown, iterations: number) => {
      for (let round = 0; round < 3; round++) {
        await add(iterations);
        for (let waited = 0; waited < iterations; waited++) await new Promise(setImmediate);
      }
    };
    await Promise.all(Array.from({ length: 3 }, comeAgain));
    expect(sizes).toEqual([3, 3, 3]);
  });

  it("waits for no further items after a single one, and for none that do not come", async () => {
    const sizes: number[] = [];
    const write = async (items: readonly number[]) => (sizes.push(items.length), items);
    const { add } = groupCommit({ write, maxGroup: 10, deadlineMs: 60_000, refillIterations: 3 });
    await Promise.all([1, 2, 3].map(add));
    for (let n = 0; n < 4; n++) await add(n);
    await new Promise(setImmediate);
    const last = add(5);
    expect(sizes).toEqual([3, 1, 1, 1, 1, 1]);
    await last;
  });

  it.each([
    ["where it does not wait for further items", 0, ["c"]],
    ["where as many have come already", 100, ["c", "d"]],
  ])(
    "starts the next commit in the iteration in which the last one ends, %s",
    async (_, refillIterations, next) => {
      const { groups, write, open } = gate();
      const { add } = groupCommit({ write, maxGroup: 10, deadlineMs: 60_000, refillIterations });
      const adding = ["a", "b"].map(add);
      while (groups.length === 0) await new Promise(setImmediate);
      adding.push(...next.map(add));
      await open();
      await new Promise(setImmediate);
      expect(groups).toEqual([["a", "b"], next]);
      await open();
      await Promise.all(adding);
    },
  );

  it("commits what one call handed over in one group, also beyond its limit, and does not count it as a single item", async () => {
    const sizes: number[] = [];
    const write = async (items: readonly number[]) => (sizes.push(items.length), items);
    const { add, addAll } = groupCommit({ write, maxGroup: 3, deadlineMs: 60_000 });
    for (let n = 0; n < 4; n++) expect(await addAll([1, 2, 3, 4])).toEqual([1, 2, 3, 4]);
    await new Promise(setImmediate);
    await Promise.all([1, 2, 3].map(add));
    expect(sizes).toEqual([4, 4, 4, 4, 3]);
  });

  it("never commits more items in one group than its limit", async () => {
    const sizes: number[] = [];
    const write = async (items: readonly number[]) => (sizes.push(items.length), items);
    const { add } = groupCommit({ write, maxGroup: 3, deadlineMs: 60_000 });
    await Promise.all([1, 2, 3, 4, 5, 6, 7].map(add));
    expect(sizes).toEqual([3, 3, 1]);
  });

  it("rejects only the bad item of a group", async () => {
    const write = async (items: readonly string[]) => {
      if (items.includes("bad")) throw new Error("it does not fit");
      return items;
    };
    const { add } = groupCommit({ write, maxGroup: 10, deadlineMs: 60_000 });
    const results = await Promise.allSettled(["a", "bad", "b"].map(add));
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  });

  it("commits the items of a failed group again one after the other", async () => {
    let running = 0;
    const written: string[] = [];
    const write = async (items: readonly string[]) => {
      if (items.length > 1) throw new Error("one of them does not fit");
      running += 1;
      await new Promise(setImmediate);
      written.push(`${items[0]} of ${running}`);
      running -= 1;
      return items;
    };
    const { add } = groupCommit({ write, maxGroup: 10, deadlineMs: 60_000 });
    await Promise.all(["a", "b", "c"].map(add));
    expect(written).toEqual(["a of 1", "b of 1", "c of 1"]);
  });

  it("commits all items of one call or none, so that a later item never precedes an earlier one", async () => {
    const held: string[] = [];
    let isBack = false;
    const write = async (items: readonly string[]) => {
      if (!isBack) {
        isBack = true;
        throw new Error("the connection was dead");
      }
      held.push(...items);
      return items.map((item) => `${item} kept`);
    };
    const { add, addAll } = groupCommit({ write, maxGroup: 10, deadlineMs: 60_000 });
    const first = addAll(["a", "b", "c"]);
    await expect(first).rejects.toThrow("dead");
    expect(held).toEqual([]);

    const [kept, single] = await Promise.all([addAll(["a", "b", "c"]), add("d")]);
    expect(kept).toEqual(["a kept", "b kept", "c kept"]);
    expect(single).toBe("d kept");
    expect(held).toEqual(["a", "b", "c", "d"]);
  });
});

// The time is the test's own: on a busy machine another deadline would pass meanwhile.
describe("a group commit whose store hangs", () => {
  beforeEach(() => {
    const doNotFake = [
      "Date",
      "hrtime",
      "nextTick",
      "queueMicrotask",
      "setImmediate",
      "clearImmediate",
    ] as const;
    jest.useFakeTimers({ doNotFake: [...doNotFake] });
  });
  afterEach(() => jest.useRealTimers());

  /** Adds items, and lets their deadline pass as soon as there are so many commits. */
  async function pass(
    deadlineMs: number,
    groups: readonly string[][],
    count: number,
    added: Promise<string>[],
  ) {
    const rejected = Promise.allSettled(added);
    while (groups.length < count) await new Promise(setImmediate);
    jest.advanceTimersByTime(deadlineMs);
    for (const result of await rejected)
      expect(result).toMatchObject({ status: "rejected", reason: { code: "store_unavailable" } });
  }

  it("rejects at the deadline, and starts the next commit while the first still hangs", async () => {
    const { write, open, groups } = gate();
    const { add, isStuck } = groupCommit({ write, maxGroup: 10, deadlineMs: 40 });
    await pass(40, groups, 1, [add("a")]);

    const next = add("b");
    while (groups.length < 2) await new Promise(setImmediate);
    await open();
    await open();
    expect(await next).toBe("b kept");
    expect(groups).toEqual([["a"], ["b"]]);
    expect(isStuck()).toBe(false);
  });

  it("rejects immediately while three commits hang, and recovers when one of them ends", async () => {
    const { write, open, groups } = gate();
    const { add, isStuck } = groupCommit({ write, maxGroup: 10, deadlineMs: 30 });
    for (const [index, item] of ["a", "b", "c"].entries()) {
      expect(isStuck()).toBe(false);
      await pass(30, groups, index + 1, [add(item)]);
    }
    expect(isStuck()).toBe(true);
    // No time passes here.
    await expect(add("d")).rejects.toMatchObject({ code: "store_unavailable" });

    await open();
    while (isStuck()) await new Promise(setImmediate);
    const again = add("e");
    while (groups.length < 4) await new Promise(setImmediate);
    for (let commits = 0; commits < 3; commits++) await open();
    expect(await again).toBe("e kept");
    expect(groups).toEqual([["a"], ["b"], ["c"], ["e"]]);
  });

  it("commits what waited when three commits hung, as soon as one of them ends", async () => {
    const { write, open, groups } = gate();
    const { add, isStuck } = groupCommit({ write, maxGroup: 10, deadlineMs: 30 });
    for (const [index, item] of ["a", "b"].entries()) await pass(30, groups, index + 1, [add(item)]);
    const third = add("c");
    while (groups.length < 3) await new Promise(setImmediate);
    jest.advanceTimersByTime(20);
    const waiting = add("d");
    jest.advanceTimersByTime(10);
    await expect(third).rejects.toMatchObject({ code: "store_unavailable" });
    await new Promise(setImmediate);
    expect([isStuck(), groups.length]).toEqual([true, 3]);
    await open();
    while (groups.length < 4) await new Promise(setImmediate);
    for (let commits = 0; commits < 3; commits++) await open();
    expect(await waiting).toBe("d kept");
  });

  it("does not commit later what it rejected at its deadline", async () => {
    const { write, open, groups } = gate();
    const { add } = groupCommit({ write, maxGroup: 1, deadlineMs: 200 });
    await pass(200, groups, 1, ["a", "b"].map(add));

    const next = add("c");
    await open();
    await open();
    expect(await next).toBe("c kept");
    expect(groups).toEqual([["a"], ["c"]]);
  });

  it.each([
    ["one item", ["a"]],
    ["several items, which are not committed one by one then", ["a", "b"]],
  ])("survives commits that fail after their deadline, of %s", async (_, items) => {
    const groups: string[][] = [];
    const fails: (() => void)[] = [];
    const write = (some: readonly string[]) => {
      groups.push([...some]);
      return new Promise<string[]>((__, reject) =>
        fails.push(() => reject(new Error("the connection was lost"))),
      );
    };
    const { add, isStuck } = groupCommit({ write, maxGroup: 10, deadlineMs: 30 });
    for (let count = 1; count <= 3; count++) await pass(30, groups, count, items.map(add));
    expect(isStuck()).toBe(true);
    for (const fail of fails) fail();
    await new Promise(setImmediate);
    expect(isStuck()).toBe(false);
    expect(groups).toEqual([items, items, items]);
  });
});

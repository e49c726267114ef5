import { WriterQueue } from "../../../../src/store/sql/sqlite/writer-queue.js";

describe("the queue for the writer of a SQLite file", () => {
  it("gives the writer directly to the next in line, so that a new transaction cannot take it first", async () => {
    const queue = new WriterQueue(10_000);
    const order: string[] = [];
    const enter = async (name: string) => {
      const leave = await queue.enter();
      order.push(name);
      return leave;
    };
    const first = await enter("first");
    const next = enter("next in line");
    first();
    const late = enter("new");
    (await next)();
    (await late)();
    expect(order).toEqual(["first", "next in line", "new"]);
    expect(queue.isAwaited).toBe(false);
  });

  it("lets each transaction wait for the whole time, also one that came late", async () => {
    jest.useFakeTimers();
    try {
      const queue = new WriterQueue(1000);
      const leave = await queue.enter();
      await jest.advanceTimersByTimeAsync(900);
      const ends: string[] = [];
      const late = queue.enter().then(
        () => ends.push("entered"),
        () => ends.push("refused"),
      );
      await jest.advanceTimersByTimeAsync(999);
      expect(ends).toEqual([]);
      await jest.advanceTimersByTimeAsync(1);
      await late;
      expect([ends, queue.isAwaited]).toEqual([["refused"], false]);
      leave();
      await expect(queue.enter()).resolves.toBeInstanceOf(Function);
    } finally {
      jest.useRealTimers();
    }
  });

  it("refuses nobody while the queue moves, however long a transaction has waited", async () => {
    jest.useFakeTimers();
    try {
      const queue = new WriterQueue(1000);
      const first = await queue.enter();
      const [second, third] = [queue.enter(), queue.enter()];
      await jest.advanceTimersByTimeAsync(600);
      first();
      await jest.advanceTimersByTimeAsync(600);
      (await second)();
      (await third)();
      expect(queue.isAwaited).toBe(false);
      await queue.enter();
      const refused = queue.enter().catch((error: unknown) => error);
      await jest.advanceTimersByTimeAsync(1000);
      expect(await refused).toMatchObject({ code: "store_busy" });
    } finally {
      jest.useRealTimers();
    }
  });
});

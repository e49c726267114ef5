import { Semaphore } from "../../src/shared/semaphore.js";

describe("a semaphore", () => {
  it("runs as many tasks at the same time as it has permits, in the order of their arrival", async () => {
    const semaphore = new Semaphore(2);
    const started: number[] = [];
    const finish: (() => void)[] = [];
    const runs = [0, 1, 2, 3].map((n) =>
      semaphore.run(() => {
        started.push(n);
        return new Promise<number>((resolve) => finish.push(() => resolve(n)));
      }),
    );
    expect(started).toEqual([0, 1]);
    for (const n of [0, 1, 2, 3]) {
      finish[n]!();
      await runs[n];
    }
    expect(started).toEqual([0, 1, 2, 3]);
    expect(await Promise.all(runs)).toEqual([0, 1, 2, 3]);
  });

  it("gives the permit of a failed task to the next one", async () => {
    const semaphore = new Semaphore(1);
    const failing = semaphore.run(() => Promise.reject(new Error("failed")));
    const next = semaphore.run(() => Promise.resolve("next"));
    await expect(failing).rejects.toThrow("failed");
    await expect(next).resolves.toBe("next");
  });

  it("has no second permit after it gave its only one to the task that waited", async () => {
    const semaphore = new Semaphore(1);
    const finish: (() => void)[] = [];
    const held = () => new Promise<void>((resolve) => void finish.push(resolve));
    const runs = [semaphore.run(held), semaphore.run(held)];
    finish[0]!();
    await new Promise(setImmediate);
    runs.push(semaphore.run(held));
    expect(finish).toHaveLength(2);
    finish[1]!();
    await new Promise(setImmediate);
    finish[2]!();
    await Promise.all(runs);
  });

  it("lets a task wait no longer than it wants, and keeps the permit of the one that it waited for", async () => {
    const semaphore = new Semaphore(1);
    let finish = () => {};
    const first = semaphore.run(() => new Promise<void>((resolve) => (finish = resolve)));
    expect(await semaphore.run(() => Promise.resolve("without a permit"), 5)).toBe("without a permit");
    const started: string[] = [];
    const next = semaphore.run(async () => void started.push("next"), 60_000);
    await new Promise(setImmediate);
    expect(started).toEqual([]);
    finish();
    await Promise.all([first, next]);
    expect(started).toEqual(["next"]);
    const alone = semaphore.run(async () => void started.push("alone"));
    expect(started).toEqual(["next", "alone"]);
    await alone;
  });

  it("has its permits again after tasks that nobody waited for ended, also with an error", async () => {
    const semaphore = new Semaphore(1);
    await semaphore.run(() => Promise.resolve());
    await expect(semaphore.run(() => Promise.reject(new Error("failed")))).rejects.toThrow("failed");
    const started: string[] = [];
    const last = semaphore.run(async () => void started.push("last"));
    expect(started).toEqual(["last"]);
    await last;
  });

  it("ends the time limit of a task that got its permit in time", async () => {
    jest.useFakeTimers();
    const semaphore = new Semaphore(1);
    const finish: (() => void)[] = [];
    const held = () => new Promise<void>((resolve) => void finish.push(resolve));
    const runs = [semaphore.run(held), semaphore.run(held, 50), semaphore.run(held)];
    finish[0]!();
    await runs[0];
    jest.advanceTimersByTime(60);
    finish[1]!();
    await runs[1];
    expect(finish).toHaveLength(3);
    finish[2]!();
    await runs[2];
    jest.useRealTimers();
  });
});

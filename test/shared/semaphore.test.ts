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
});

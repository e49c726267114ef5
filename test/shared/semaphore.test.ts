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

  it("has its permits again after tasks that nobody waited for ended, also with an error", async () => {
    const semaphore = new Semaphore(1);
    await semaphore.run(() => Promise.resolve());
    await expect(semaphore.run(() => Promise.reject(new Error("failed")))).rejects.toThrow("failed");
    const started: string[] = [];
    const last = semaphore.run(async () => void started.push("last"));
    expect(started).toEqual(["last"]);
    await last;
  });
});

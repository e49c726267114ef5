import { type NoticeMap } from "tillkit";
import { onEachDatabase, openPlace, type Place } from "../processes/databases.js";
import { until } from "../processes/members.js";
import { closeAll } from "../../support/kit.js";
import { completionOf, openShop, seedPayments } from "./shop.js";

onEachDatabase("handlers", (kind) => {
  let place: Place;
  beforeEach(async () => {
    place = await openPlace(kind);
    await seedPayments(place, 1);
  });
  afterEach(async () => {
    jest.useRealTimers();
    await closeAll();
    await place.remove();
  });

  it("handler throws / hangs: backoff, N tries, dead or given up at its time limit, while others go on", async () => {
    const dispatch = { pollMs: 5, firstDelayMs: 40, maxDelayMs: 80, maxFailures: 3, handlerTimeoutMs: 100 };
    const { payments, post } = await openShop(place, { dispatch });
    const runs: Record<string, number[]> = { throws: [], hangs: [] };
    const aborted: unknown[] = [];
    payments.onPaymentCompleted(
      () => {
        runs["throws"]!.push(performance.now());
        throw new Error("broken for good");
      },
      { name: "throws" },
    );
    payments.onPaymentCompleted(
      async (_, { tx, signal }) => {
        runs["hangs"]!.push(performance.now());
        signal.addEventListener("abort", () => aborted.push(signal.reason));
        await tx.query(`delete from ${place.address.prefix}ledger where name = 'nobody'`);
        await new Promise(() => {});
      },
      { name: "hangs" },
    );
    const deaths: NoticeMap["dispatch.dead"][] = [];
    const bothDead = new Promise<void>((resolve) =>
      payments.on("dispatch.dead", (death) => void (deaths.push(death) === 2 && resolve())),
    );
    await payments.start({ keepAlive: false });

    expect(await post(completionOf(0))).toBe(200);
    await bothDead;
    await until(async () => (await place.ledger()).length === 1, "the other handler's effect");
    const whyDead = Object.fromEntries(deaths.map(({ handler, error }) => [handler, error]));
    expect(whyDead).toMatchObject({
      throws: "Error: broken for good",
      hangs: expect.stringContaining("longer than 100 ms") as unknown,
    });
    for (const times of Object.values(runs)) {
      expect(times).toHaveLength(3);
      // At least half of each wait. The other half is random.
      expect(times[1]! - times[0]!).toBeGreaterThanOrEqual(19);
      expect(times[2]! - times[1]!).toBeGreaterThanOrEqual(39);
    }
    expect(aborted).toHaveLength(3);
    expect(aborted[0]).toMatchObject({ code: "handler_timeout" });
  });

  it("clock an hour wrong or going backwards: no early second run of a dispatch that is leased or waits for its retry", async () => {
    const names = [{ event: "payment.completed", name: "slow" }] as const;
    let finish = () => {};
    let started = () => {};
    const starts = new Promise<void>((resolve) => (started = resolve));
    const runs: number[] = [];
    const handler = async (_: unknown, { attempt }: { attempt: number }) => {
      runs.push(attempt);
      started();
      await new Promise<void>((resolve) => (finish = resolve));
      throw new Error("fails until its next run");
    };
    const delays = { firstDelayMs: 600_000, maxDelayMs: 600_000 };
    const one = await openShop(place, { dispatch: { ...delays, leaseMs: 60_000, pollMs: 5 } });
    one.payments.onPaymentCompleted(handler, { name: "slow" });
    const failed = new Promise<void>((resolve) => one.payments.on("dispatch.failed", () => resolve()));
    await one.payments.start({ keepAlive: false });
    expect(await one.post(completionOf(0))).toBe(200);
    await starts;

    // The clock is wrong in the other kit, and so in this whole process. The timers keep running.
    const wrong = (hours: number) => new Date(realNow() + hours * 3_600_000);
    const realNow = () => performance.timeOrigin + performance.now();
    const claimed = async (hours: number) => {
      setClock(wrong(hours));
      expect(Math.round((Date.now() - realNow()) / 3_600_000)).toBe(hours);
      return two.payments.store.claim({ handlers: names, limit: 10, leaseMs: 60_000 });
    };
    setClock(wrong(1));
    const two = await openShop(place, { now: () => new Date(), dispatch: { ...delays, pollMs: 5 } });
    two.payments.onPaymentCompleted(handler, { name: "slow" });
    await two.payments.start({ keepAlive: false });
    for (const hours of [1, -1, 24, -2]) expect(await claimed(hours)).toEqual([]);
    finish();
    await failed;
    for (const hours of [1, -1, 24, -2]) expect(await claimed(hours)).toEqual([]);
    expect(runs).toEqual([1]);
  });
});

/** Changes Date only, and no timers. */
function setClock(now: Date): void {
  jest.useFakeTimers({
    now,
    doNotFake: [
      ...(["hrtime", "nextTick", "performance", "queueMicrotask", "setImmediate", "clearImmediate"] as const),
      ...(["setInterval", "clearInterval", "setTimeout", "clearTimeout"] as const),
    ],
  });
}

import { type Sandbox, type SandboxOptions } from "tillkit/sandbox";
import { Activity } from "../../../src/sandbox/clock/activity.js";
import { Clock } from "../../../src/sandbox/clock/clock.js";
import { createPayment } from "../create-payment.js";
import { Merchant, status } from "../merchant.js";
import { openSandbox } from "../open-sandbox.js";

const noon = "2030-01-01T12:00:00.000Z";
const misuse = { code: "sandbox_misused" };

describe("the sandbox's clock", () => {
  let merchant: Merchant;
  let sandbox: Sandbox;

  /** The machine's clock stands still, so that only the sandbox's clock makes something due. */
  async function openPayment(options: SandboxOptions = {}): Promise<void> {
    ({ sandbox, merchant } = await openSandbox({ now: () => new Date(noon), ...options }));
    await createPayment(sandbox, merchant, "c-1");
  }
  const secondsAfterNoon = () =>
    sandbox.deliveries.map(({ at }) => (Date.parse(at) - Date.parse(noon)) / 1000);

  it("runs what falls due on the way in order, each at its time, and resolves when all has ended", async () => {
    await openPayment({ webhookDelayMs: 500, retryDelaysMs: [1000, 5000] });
    merchant.answers.push(status(500), status(500));
    const paid = sandbox.pay("c-1");
    await sandbox.clock.advance(499);
    expect(merchant.webhooks).toHaveLength(0);
    await sandbox.clock.advance(1);
    expect(merchant.webhooks).toHaveLength(1);
    expect(await paid).toMatchObject([{ attempt: 1, status: 500 }]);
    await sandbox.clock.advance(60_000);
    expect(secondsAfterNoon()).toEqual([0.5, 1.5, 6.5]);
    expect(sandbox.deliveries.map((delivery) => delivery.status)).toEqual([500, 500, 200]);
    expect(sandbox.clock.now().toISOString()).toBe("2030-01-01T12:01:00.500Z");
  });

  it("keeps the order of several addresses and payments", async () => {
    const other = await Merchant.open();
    await openPayment({ retryDelaysMs: [3000, 3000] });
    await createPayment(sandbox, merchant, "c-2");
    merchant.answers.push(status(500), status(500), status(500));
    await sandbox.pay("c-1");
    await sandbox.clock.advance(2000);
    sandbox.registerWebhook(other.webhookUrl);
    other.answers.push(status(500));
    const later = sandbox.pay("c-2");
    await sandbox.clock.advance(60_000);
    await later;
    expect(secondsAfterNoon()).toEqual([0, 2, 2, 3, 5, 5, 6]);
    await other.close();
  });

  it("waits for a slow merchant before it goes on", async () => {
    await openPayment({ webhookDelayMs: 1000 });
    let answer = (): void => {};
    merchant.answers.push((res) => {
      answer = () => void res.end();
    });
    const arrival = merchant.arrival();
    void sandbox.pay("c-1");
    let isDone = false;
    const advanced = sandbox.clock.advance(10_000).then(() => (isDone = true));
    await arrival;
    await new Promise((resolve) => setImmediate(resolve));
    expect([isDone, sandbox.clock.now().toISOString()]).toEqual([false, "2030-01-01T12:00:01.000Z"]);
    answer();
    await advanced;
    expect(sandbox.deliveries).toMatchObject([{ status: 200 }]);
  });

  it("can be set to a time, and does not go back", async () => {
    await openPayment();
    await sandbox.clock.set("2030-01-02T00:00:00Z");
    expect(sandbox.clock.now().toISOString()).toBe("2030-01-02T00:00:00.000Z");
    await sandbox.clock.set(new Date("2030-01-02T00:00:01Z"));
    await expect(sandbox.clock.set(noon)).rejects.toMatchObject(misuse);
    await expect(sandbox.clock.set("noon")).rejects.toMatchObject(misuse);
    await expect(sandbox.clock.advance(-1)).rejects.toMatchObject(misuse);
    await expect(sandbox.clock.advance(Number.NaN)).rejects.toMatchObject(misuse);
    expect(sandbox.clock.now().toISOString()).toBe("2030-01-02T00:00:01.000Z");
  });

  it("does not go back to the time of a task if the machine's clock has passed this time", async () => {
    let now = Date.parse(noon);
    const activity = new Activity();
    const clock = new Clock(() => new Date(now), activity);
    let resumedAt: Date | undefined;
    const task = activity.run(async () => {
      await clock.wait(5000);
      resumedAt = clock.now();
    });
    now += 60_000;
    await clock.advance(0);
    await task;
    expect(resumedAt).toEqual(new Date(now));
    clock.close();
  });

  it("ends a wait in the moment in which it is due, and makes nothing wait after it was closed", async () => {
    let now = Date.parse(noon);
    const activity = new Activity();
    const clock = new Clock(() => new Date(now), activity);
    const waiting = activity.run(() => clock.wait(20));
    now += 20;
    await expect(waiting).resolves.toBeUndefined();
    clock.close();
    await expect(activity.run(() => clock.wait(60_000))).resolves.toBeUndefined();
  });

  it("has no timer any more after it was closed", async () => {
    jest.useFakeTimers();
    const activity = new Activity();
    const clock = new Clock(() => new Date(noon), activity);
    const task = activity.run(() => clock.wait(5000));
    const before = jest.getTimerCount();
    clock.close();
    await task;
    const after = jest.getTimerCount();
    jest.useRealTimers();
    expect([before, after]).toEqual([1, 0]);
  });

  it("does not go beyond the year 9999, which the dates of a webhook could not hold", async () => {
    await openPayment();
    const last = "9999-12-31T23:59:59.999Z";
    const wholeSpanMs = Date.parse(last) - Date.parse(noon);
    await expect(sandbox.clock.advance(wholeSpanMs + 1)).rejects.toMatchObject(misuse);
    await expect(sandbox.clock.advance(9e15)).rejects.toMatchObject(misuse);
    await expect(sandbox.clock.set("+010000-01-01T00:00:00Z")).rejects.toMatchObject(misuse);
    expect(sandbox.clock.now().toISOString()).toBe(noon);
    await sandbox.clock.advance(wholeSpanMs);
    expect(sandbox.clock.now().toISOString()).toBe(last);
  });

  it("follows the machine's clock by default", async () => {
    await openPayment({ webhookDelayMs: 20, now: undefined });
    expect(await sandbox.pay("c-1")).toMatchObject([{ status: 200 }]);
  });

  it("waits only for the rest of a delay after it was put forward", async () => {
    await openPayment({ webhookDelayMs: 3_600_000, now: undefined });
    const arrival = merchant.arrival();
    void sandbox.pay("c-1");
    await sandbox.clock.advance(3_599_950);
    await expect(arrival).resolves.toBeUndefined();
  });

  it("adds the delay of a scenario to the delay of all webhooks", async () => {
    await openPayment({
      webhookDelayMs: 1000,
      scenario: { name: "late", webhooks: [{ delayMs: 500 }] },
    });
    void sandbox.pay("c-1");
    await sandbox.clock.advance(60_000);
    expect(secondsAfterNoon()).toEqual([1.5]);
  });

  it("can be put forward by two calls at the same time", async () => {
    await openPayment({ webhookDelayMs: 1000 });
    const paid = sandbox.pay("c-1");
    await Promise.all([sandbox.clock.advance(5000), sandbox.clock.advance(5000)]);
    await paid;
    expect(merchant.webhooks).toHaveLength(1);
  });

  it("does not wait for held webhooks to settle, and waits for released ones", async () => {
    await openPayment({ retryDelaysMs: [1000] });
    sandbox.holdWebhooks();
    const paid = sandbox.pay("c-1");
    await sandbox.settled();
    expect(merchant.webhooks).toHaveLength(0);

    merchant.answers.push(status(500));
    sandbox.releaseWebhooks();
    const settled = sandbox.settled();
    expect(await paid).toMatchObject([{ status: 500 }]);
    await sandbox.clock.advance(1000);
    await settled;
    expect(merchant.webhooks).toHaveLength(2);
  });

  it("is not settled while a retry waits for the clock, although nothing works at that moment", async () => {
    await openPayment({ retryDelaysMs: [1000] });
    merchant.answers.push(status(500));
    await sandbox.pay("c-1");
    await new Promise((resolve) => setImmediate(resolve));
    let isSettled = false;
    const settled = sandbox.settled().then(() => (isSettled = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(isSettled).toBe(false);
    await sandbox.clock.advance(1000);
    await settled;
    expect(merchant.webhooks).toHaveLength(2);
  });

  it("waits for released webhooks when it is put forward", async () => {
    await openPayment();
    sandbox.holdWebhooks();
    const paid = sandbox.pay("c-1");
    sandbox.releaseWebhooks();
    await sandbox.clock.advance(1);
    expect(sandbox.deliveries).toHaveLength(1);
    await paid;
  });

  it("retries a webhook that was held for long after its delay, not immediately", async () => {
    await openPayment({ retryDelaysMs: [1000] });
    sandbox.holdWebhooks();
    const paid = sandbox.pay("c-1");
    await sandbox.clock.advance(30_000);
    merchant.answers.push(status(500));
    sandbox.releaseWebhooks();
    await paid;
    await sandbox.clock.advance(999);
    expect(merchant.webhooks).toHaveLength(1);
    await sandbox.clock.advance(1);
    expect(merchant.webhooks).toHaveLength(2);
  });

  it("does not send a delayed webhook to an address that was unregistered, and records why", async () => {
    await openPayment({ webhookDelayMs: 1000 });
    const paid = sandbox.pay("c-1");
    sandbox.unregisterWebhook(merchant.webhookUrl);
    await sandbox.clock.advance(1000);
    expect(await paid).toMatchObject([{ error: "the address was unregistered before it was sent" }]);
    expect(merchant.webhooks).toHaveLength(0);
  });
});

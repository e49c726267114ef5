import { MemoryStore, type NoticeMap } from "tillkit";
import {
  measureSilence,
  type SentTimes,
  usualSurvival,
} from "../../../src/operations/sweep/silence-watch.js";
import { closeAll, testKit } from "../../support/kit.js";
import { completedBody, pendingPayment, signed } from "../../support/webhooks.js";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** Returns numbers from 0 to 1, the same for one seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state + 0.5) / 2 ** 32;
  };
}

/** When payments are sent out on one day. */
type Shop = (random: () => number, date: number) => number[];
const spread = (random: () => number, count: number, from: number, to: number) =>
  Array.from({ length: count }, () => from + random() * (to - from));
const shops: Readonly<Record<string, Shop>> = {
  "sells ten a day, none at night": (random) =>
    spread(random, 5 + Math.floor(random() * 11), 8 * hour, 20 * hour),
  "sells a thousand a day, some at night": (random) => [
    ...spread(random, 900, 7 * hour, 22 * hour),
    ...spread(random, 100, 0, day),
  ],
  "sells in bursts: three thousand within an hour of one day in seven": (random, date) => [
    ...spread(random, 15, 8 * hour, 22 * hour),
    ...(date % 7 === 6 ? spread(random, 3000, 18 * hour, 19 * hour) : []),
  ],
};

/** Seven of ten payments get a webhook, half of them within a minute and one of twenty after more than twelve. */
function sell(shop: Shop, days: number, random: () => number): SentTimes[] {
  const sent = Array.from({ length: days }, (_, date) =>
    shop(random, date).map((ms) => date * day + ms),
  ).flat();
  return sent
    .toSorted((a, b) => a - b)
    .map((sentAt) => {
      const normal = Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random());
      return { sentAt, firstAt: random() < 0.7 ? sentAt + minute * Math.exp(1.5 * normal) : undefined };
    });
}

/** Returns the newest 500 payments at a time, as they were then. */
function seenAt(all: readonly SentTimes[], now: number): SentTimes[] {
  const end = all.findIndex(({ sentAt }) => sentAt > now);
  const seen = end < 0 ? all.slice(-500) : all.slice(Math.max(0, end - 500), end);
  return seen.map(({ sentAt, firstAt }) => ({
    sentAt,
    firstAt: firstAt !== undefined && firstAt < now ? firstAt : undefined,
  }));
}

const lastOf = (times: readonly SentTimes[]) => Math.max(0, ...times.map(({ firstAt }) => firstAt ?? 0));

/** Returns the least probable silence between two webhooks: at the end of it, because it only becomes less probable. */
function falseAlarms(all: readonly SentTimes[]): number {
  const arrivals = all.flatMap(({ firstAt }) => firstAt ?? []).toSorted((a, b) => a - b);
  let usual: ReturnType<typeof usualSurvival>;
  let last = 0;
  let alarms = 0;
  for (const now of arrivals) {
    const times = seenAt(all, now);
    last = Math.max(last, lastOf(times));
    usual = usualSurvival(times, last) ?? usual;
    if (usual && measureSilence(times, { usual, last, now }).probability < 1e-6) alarms += 1;
  }
  return alarms;
}

const months = Number(process.env["TILLKIT_TEST_MONTHS"] ?? 0);

describe.each(Object.entries(shops))("a shop that %s", (name, shop) => {
  it("gets less than one false alarm in a month", () => {
    const days = months > 0 ? months * 30 : name.includes("ten") ? 90 : 8;
    expect(falseAlarms(sell(shop, days, randomFrom(7)))).toBeLessThan(Math.max(1, months));
  });

  it.each([1, 2, 3])("is told of a dead webhook within twenty expected ones, seed %d", (seed) => {
    const all = sell(shop, 30, randomFrom(seed));
    const deadAt = 20 * day + 12 * hour;
    const seen = seenAt(all, deadAt);
    const last = lastOf(seen);
    const usual = usualSurvival(seen, last)!;
    const hasNone = (one: SentTimes) =>
      one.firstAt !== undefined && one.firstAt > last ? { ...one, firstAt: undefined } : one;
    const probabilityAt = (now: number) =>
      measureSilence(seenAt(all, now).map(hasNone), { usual, last, now }).probability;
    let now = deadAt;
    while (probabilityAt(now) >= 1e-6 && now < 30 * day) now += minute;
    expect(now).toBeLessThan(30 * day);
    const missed = all.filter(({ firstAt }) => firstAt !== undefined && firstAt > last && firstAt <= now);
    expect(missed.length).toBeLessThanOrEqual(20);
  });
});

describe("the kit", () => {
  afterEach(closeAll);

  it("tells once that no webhook comes any more, in a notice, the health and the list, and that one came again", async () => {
    const start = Date.parse("2026-11-20T10:00:00.000Z");
    let ahead = 0;
    const at = (ms: number) => new Date(start + ms).toISOString();
    // Each was answered within a minute, until the last 20. At one of the webhooks the clock was wrong.
    const created = Array.from({ length: 120 }, (_, n) =>
      pendingPayment({
        clientId: `c-${n}`,
        reference: `order-${n}`,
        serviceId: `s-${n}`,
        checkoutUrl: "https://pay.example/1",
        createdAt: at(n * minute),
        ...(n < 100 && { firstWebhookAt: at(n === 50 ? day : n * minute + 30_000) }),
      }),
    );
    const store = new MemoryStore();
    await store.transaction((tx) => store.save(tx, { created }));
    const payments = testKit({ store, now: () => new Date(start + ahead) });
    const silent: NoticeMap["webhooks.silent"][] = [];
    const recovered: NoticeMap["webhooks.recovered"][] = [];
    payments.on("webhooks.silent", (notice) => void silent.push(notice));
    payments.on("webhooks.recovered", (notice) => void recovered.push(notice));
    const list = jest.spyOn(store, "list");

    ahead = 99 * minute;
    await payments.sweep();
    expect(silent).toEqual([]);
    expect(list.mock.calls).toEqual([[{ newestFirst: true, limit: 500 }]]);
    ahead = 121 * minute;
    await payments.sweep();
    await payments.sweep();
    const since = at(99 * minute + 30_000);
    expect(silent).toEqual([
      { since, waiting: 20, expected: expect.any(Number), probability: expect.any(Number) },
    ]);
    expect(silent[0]!.probability).toBeLessThan(1e-6);
    expect(Math.round(silent[0]!.expected)).toBe(18);
    const why = `No webhook has come since ${since}, although about 18 of 20 payments should have a webhook. Check the webhook address at the service.`;
    expect((await payments.health()).reasons).toContainEqual({ code: "webhooks_silent", message: why });
    const { entries } = await payments.attention({ rule: "health" });
    expect(entries).toContainEqual(expect.objectContaining({ id: "health:webhooks_silent", why }));

    await payments.receiveWebhook(signed(completedBody({ clientId: "c-119", id: "s-119" })));
    await payments.sweep();
    expect(recovered).toEqual([{ since, silentMs: 21.5 * minute }]);
    expect((await payments.health()).reasons.map(({ code }) => code)).not.toContain("webhooks_silent");
  });

  it("tells nothing where payments are too few to know what is usual, or no webhook has ever come", () => {
    const times = Array.from({ length: 29 }, (_, n): SentTimes => ({ sentAt: n, firstAt: n + 1 }));
    expect(usualSurvival(times, 100)).toBeUndefined();
    expect(
      usualSurvival(
        times.map(({ sentAt }) => ({ sentAt, firstAt: undefined })),
        0,
      ),
    ).toBeUndefined();
  });
});

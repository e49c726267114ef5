import { createHash } from "node:crypto";
import { MemoryStore, type NoticeMap, type Payment } from "tillkit";
import { type SentTimes, usualSurvival } from "../../../src/operations/sweep/measure-silence.js";
import { createSilenceWatch } from "../../../src/operations/sweep/silence-watch.js";
import { closeAll, testKit } from "../../support/kit.js";
import { completedBody, pendingPayment, signed } from "../../support/webhooks.js";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** Returns numbers from 0 to 1, the same for one seed. */
function randomFrom(seed: number): () => number {
  let count = 0;
  return () => {
    count += 1;
    const digest = createHash("md5").update(`${seed}:${count}`).digest();
    return (digest.readUInt32BE() + 0.5) / 2 ** 32;
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

/**
 * Seven of ten payments get a webhook, half of them within a minute and one of twenty after more than twelve. Six of ten of these
 * customers use one channel, three another, one the last.
 */
function sell(shop: Shop, days: number, random: () => number): SentTimes[] {
  const sent = Array.from({ length: days }, (_, date) =>
    shop(random, date).map((ms) => date * day + ms),
  ).flat();
  return sent
    .toSorted((a, b) => a - b)
    .map((sentAt) => {
      const normal = Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random());
      if (random() > 0.7) return { sentAt, firstAt: undefined };
      const share = random();
      const channel = share < 0.6 ? "mvola" : share < 0.9 ? "holo" : "huri";
      return { sentAt, firstAt: sentAt + minute * Math.exp(1.5 * normal), channel };
    });
}

const start = Date.parse("2026-11-20T10:00:00.000Z");
const at = (ms: number) => new Date(start + ms).toISOString();

/** Watches payments: `lookAt` looks as if it were that time, and returns the channels of which a silence was told. */
function watch(all: readonly SentTimes[], isLost: (one: SentTimes) => boolean = () => false) {
  const stored = all.map((one, n) =>
    pendingPayment({
      clientId: `c-${n}`,
      checkoutUrl: "https://pay.example/1",
      createdAt: at(one.sentAt),
      ...(one.firstAt !== undefined && {
        firstWebhookAt: at(one.firstAt),
        reported: { status: "completed", source: one.channel!, at: at(one.firstAt), verified: [] },
      }),
    }),
  );
  let now = 0;
  let sent = 0;
  const told: string[] = [];
  const silence = createSilenceWatch({
    store: {
      list: async () =>
        stored.slice(Math.max(0, sent - 500), sent).map((payment, n) => {
          const one = all[Math.max(0, sent - 500) + n]!;
          if (one.firstAt === undefined || (one.firstAt < now && !isLost(one))) return payment;
          const { firstWebhookAt: _, reported: __, ...waiting } = payment;
          return waiting;
        }),
    },
    cautiousNow: () => new Date(start + now),
    notify: (type, notice) => {
      if (type === "webhooks.silent") told.push((notice as NoticeMap["webhooks.silent"]).channel ?? "all");
    },
  });
  return async (time: number) => {
    now = time;
    while (sent < all.length && all[sent]!.sentAt <= now) sent += 1;
    await silence.look();
    return told;
  };
}

const months = Number(process.env["TILLKIT_TEST_MONTHS"] ?? 0);

describe.each(Object.entries(shops))("a shop that %s", (name, shop) => {
  it("gets less than one false alarm in a month", async () => {
    const days = months > 0 ? months * 30 : name.includes("ten") ? 60 : name.includes("bursts") ? 7 : 2;
    const all = sell(shop, days, randomFrom(7));
    const lookAt = watch(all);
    let told: string[] = [];
    // A silence is the least probable at the end of it.
    for (const now of all.flatMap(({ firstAt }) => firstAt ?? []).toSorted((a, b) => a - b))
      told = await lookAt(now);
    expect(told.length).toBeLessThan(Math.max(1, months));
  });

  it.each(["all", "mvola", "holo", "huri"])(
    "is told within twenty expected webhooks that those of %s no longer come",
    async (channel) => {
      for (let seed = 1; seed <= Math.max(1, months); seed++) {
        const all = sell(shop, name.includes("ten") ? 120 : 30, randomFrom(seed));
        const deadAt = (name.includes("ten") ? 60 : 20) * day + 12 * hour;
        const isLost = (one: SentTimes) =>
          one.firstAt! > deadAt && (channel === "all" || channel === one.channel);
        const lookAt = watch(all, isLost);
        let now = deadAt;
        let told = await lookAt(now);
        for (const { sentAt } of all)
          if (sentAt > deadAt && told.length === 0) told = await lookAt((now = sentAt));
        // While most webhooks are lost, it can look as if all were.
        expect([[channel], ["all"]]).toContainEqual(told);
        const missed = all.filter((one) => one.firstAt !== undefined && one.firstAt <= now && isLost(one));
        expect(missed.length).toBeLessThanOrEqual(20);
      }
    },
  );
});

/** Payments of each minute from this one, whose webhooks came after a second, unless there is no channel. */
const ofMinutes = (from: number, count: number, ...channels: (string | undefined)[]): SentTimes[] =>
  Array.from({ length: count }, (_, n) => ({
    sentAt: (from + n) * minute,
    firstAt: channels.length > 0 ? (from + n) * minute + 1000 : undefined,
    channel: channels[n % channels.length],
  }));

/** Makes a watch without a kit. `lookAt` looks at these payments as if it were that minute. */
function watchTimes() {
  let [now, listed] = [0, [] as Payment[]];
  const told: string[] = [];
  const silence = createSilenceWatch({
    store: { list: async () => listed },
    cautiousNow: () => new Date(start + now),
    notify: (type, notice) => {
      const { channel = "all" } = notice as NoticeMap["webhooks.silent"];
      told.push(`${type.slice("webhooks.".length)} ${channel}`);
    },
  });
  const lookAt = async (minutes: number, times: readonly SentTimes[]) => {
    now = minutes * minute;
    listed = times.map(({ sentAt, firstAt, channel }, n) =>
      pendingPayment({
        clientId: `c-${n}`,
        checkoutUrl: "https://pay.example/1",
        createdAt: at(sentAt),
        ...(firstAt !== undefined && { firstWebhookAt: at(firstAt) }),
        ...(channel !== undefined && {
          reported: { status: "completed", source: channel, at: at(sentAt), verified: [] },
        }),
      }),
    );
    await silence.look();
  };
  return { lookAt, told, problem: silence.problem };
}

describe("a watch whose clock is put back", () => {
  it("measures a silence from the newest webhook, and sees webhooks come again", async () => {
    const { lookAt, told } = watchTimes();
    // The clock is a day ahead, and then right again.
    const ahead = ofMinutes(24 * 60, 40, undefined);
    await lookAt(24 * 60 + 40, ahead);
    const right = ofMinutes(0, 40, undefined);
    await lookAt(40, [...ahead, ...right]);
    const lost = ofMinutes(40, 40);
    await lookAt(120, [...ahead, ...right, ...lost]);
    expect(told).toEqual(["silent all"]);
    await lookAt(122, [...ahead, ...right, ...lost, ...ofMinutes(121, 1, undefined)]);
    expect(told).toEqual(["silent all", "recovered all"]);
  });

  it("ends a silence that began before, with the first webhook after that", async () => {
    const { lookAt, told, problem } = watchTimes();
    const all = [...ofMinutes(0, 40, undefined), ...ofMinutes(40, 40)];
    await lookAt(40, all.slice(0, 40));
    await lookAt(120, all);
    await lookAt(-60, all);
    expect(told).toEqual(["silent all"]);
    expect(problem()).toContain(`No webhook has come since ${at(-60 * minute)}`);
    await lookAt(-58, [...all, ...ofMinutes(-59, 1, undefined)]);
    expect(told).toEqual(["silent all", "recovered all"]);
    expect(problem()).toBeUndefined();
  });
});

describe("a watch that reads old webhooks again after the clock was put back", () => {
  it("does not take them for new ones", async () => {
    const { lookAt, told } = watchTimes();
    const all = [...ofMinutes(0, 40, undefined), ...ofMinutes(40, 40)];
    await lookAt(40, all.slice(0, 40));
    await lookAt(120, all);
    for (const minutes of [-60, 10, 45]) await lookAt(minutes, all);
    expect(told).toEqual(["silent all"]);
    await lookAt(47, [...all, ...ofMinutes(46, 1, undefined)]);
    expect(told).toEqual(["silent all", "recovered all"]);
  });

  it("does not take those of a silent channel for new ones", async () => {
    const { lookAt, told } = watchTimes();
    const before = ofMinutes(0, 100, "mvola", "holo");
    await lookAt(100, before);
    const all = [...before, ...ofMinutes(100, 100, "holo")];
    await lookAt(200, all);
    expect(told).toEqual(["silent mvola"]);
    // Not at the same moments as the old ones.
    const since = (minutes: number) => [...all, ...ofMinutes(-60.5, minutes + 61, "holo")];
    for (const minutes of [-60, 10, 99]) await lookAt(minutes, since(minutes));
    expect(told).toEqual(["silent mvola"]);
    await lookAt(103, [...since(102), ...ofMinutes(101.5, 1, "mvola")]);
    expect(told).toEqual(["silent mvola", "recovered mvola"]);
  });
});

describe("a watch of several channels", () => {
  const before = ofMinutes(0, 100, "mvola", "holo");

  it("tells for a week that a channel is silent, because the shop may have given the channel up", async () => {
    let ms = 0;
    const clock = jest.spyOn(performance, "now").mockImplementation(() => ms);
    const { lookAt, told, problem } = watchTimes();
    await lookAt(100, before);
    const all = [...before, ...ofMinutes(100, 100, "holo")];
    await lookAt(200, all);
    ms = 7 * day - 1;
    await lookAt(201, all);
    expect(problem()).toContain('the channel "mvola"');
    ms = 7 * day;
    expect(problem()).toBeUndefined();
    await lookAt(202, all);
    expect(told).toEqual(["silent mvola"]);
    await lookAt(204, [...all, ...ofMinutes(203, 1, "mvola")]);
    expect(told).toEqual(["silent mvola", "recovered mvola"]);
    clock.mockRestore();
  });

  it("tells a silence of all once, and measures the silence of each channel from its end", async () => {
    const { lookAt, told } = watchTimes();
    await lookAt(100, before);
    const lost = ofMinutes(100, 100);
    await lookAt(200, [...before, ...lost]);
    expect(told).toEqual(["silent all"]);
    const again = [...before, ...lost, ...ofMinutes(200, 1, "holo")];
    await lookAt(201, again);
    expect(told).toEqual(["silent all", "recovered all"]);
    await lookAt(300, [...again, ...ofMinutes(201, 99, "holo")]);
    expect(told).toEqual(["silent all", "recovered all", "silent mvola"]);
  });

  it("remembers a silent channel whose payments are too old to be read", async () => {
    const { lookAt, told, problem } = watchTimes();
    await lookAt(100, before);
    await lookAt(150, [...before, ...ofMinutes(100, 50, "holo")]);
    const later = ofMinutes(200, 100, "holo");
    await lookAt(300, later);
    expect(told).toEqual(["silent mvola"]);
    expect(problem()).toContain('the channel "mvola"');
    await lookAt(302, [...later, ...ofMinutes(301, 1, "mvola")]);
    expect(told).toEqual(["silent mvola", "recovered mvola"]);
    expect(problem()).toBeUndefined();
  });

  it("forgets a channel without webhooks that is not silent", async () => {
    const { lookAt, told } = watchTimes();
    await lookAt(100, before);
    for (const minutes of [101, 500]) await lookAt(minutes, ofMinutes(minutes - 40, 40, "holo"));
    expect(told).toEqual([]);
  });
});

it("a watch keeps the usual time where only a few of the newest payments are old enough to tell", async () => {
  const { lookAt, told } = watchTimes();
  await lookAt(40, ofMinutes(0, 40, undefined));
  const few = [...ofMinutes(40, 5, undefined), ...ofMinutes(45, 100)];
  await lookAt(45, few.slice(0, 5));
  await lookAt(145, few);
  expect(told).toEqual(["silent all"]);
});

/** Returns the payment that was sent out in this minute. */
const sentIn = (n: number, more: Partial<Payment>) =>
  pendingPayment({
    clientId: `c-${n}`,
    reference: `order-${n}`,
    serviceId: `s-${n}`,
    checkoutUrl: "https://pay.example/1",
    createdAt: at(n * minute),
    ...more,
  });

describe("the kit", () => {
  afterEach(closeAll);

  it("tells once that no webhook comes any more, in a notice, the health and the list, and that one came again", async () => {
    let ahead = 0;
    // Each was answered within a minute, until the last 20. At one of the webhooks the clock was wrong.
    const created = Array.from({ length: 120 }, (_, n) =>
      sentIn(n, n < 100 ? { firstWebhookAt: at(n === 50 ? day : n * minute + 30_000) } : {}),
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
    const why = `No webhook has come since ${since}, although about 18 of 20 payments should have one. Check the webhook address at the service.`;
    expect((await payments.health()).reasons).toContainEqual({ code: "webhooks_silent", message: why });
    const { entries } = await payments.attention({ rule: "health" });
    expect(entries).toContainEqual(expect.objectContaining({ id: "health:webhooks_silent", why }));

    await payments.receiveWebhook(signed(completedBody({ clientId: "c-119", id: "s-119" })));
    await payments.sweep();
    expect(recovered).toEqual([{ since, silentMs: 21.5 * minute }]);
    expect((await payments.health()).reasons.map(({ code }) => code)).not.toContain("webhooks_silent");
  });

  it("tells once that no webhook of one channel comes any more, although others come", async () => {
    let ahead = 0;
    const sold = (n: number, source: string) =>
      sentIn(n, {
        firstWebhookAt: at(n * minute + 30_000),
        reported: { status: "completed", source, at: at(n * minute), verified: [] },
      });
    const store = new MemoryStore();
    const payments = testKit({ store, now: () => new Date(start + ahead) });
    const notices: NoticeMap["webhooks.silent" | "webhooks.recovered"][] = [];
    payments.on("webhooks.silent", (notice) => void notices.push(notice));
    payments.on("webhooks.recovered", (notice) => void notices.push(notice));
    const sell = async (created: ReturnType<typeof sold>[]) => {
      await store.transaction((tx) => store.save(tx, { created }));
      ahead += created.length * minute;
      await payments.sweep();
      await payments.sweep();
    };

    await sell(Array.from({ length: 100 }, (_, n) => sold(n, n % 2 ? "mvola" : "holo")));
    expect(notices).toEqual([]);
    await sell(Array.from({ length: 30 }, (_, n) => sold(100 + n, "holo")));
    const since = at(99 * minute + 30_000);
    const silent = { channel: "mvola", since, waiting: 30, expected: expect.any(Number) as number };
    expect(notices).toEqual([{ ...silent, probability: expect.any(Number) }]);
    expect((await payments.health()).reasons).toContainEqual({
      code: "webhooks_silent",
      message: `No webhook of the channel "mvola" has come since ${since}, although about 15 of 30 payments should have one. Other webhooks come. Ask the service about this channel. This message ends after a week.`,
    });
    await sell([sold(130, "mvola")]);
    expect(notices.slice(1)).toEqual([{ channel: "mvola", since, silentMs: 31 * minute }]);
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

import { MemoryStore, type FiguresQuery, type Payment, type PaymentStore } from "tillkit";
import { paymentFigures } from "../../../src/operations/reading/payment-figures.js";
import { type PaymentPage } from "../../../src/store/contract.js";
import { saved } from "../../../src/store/exam/checks/steps.js";
import { onEachDatabase } from "../../promises/processes/databases.js";
import { completedBody, pendingPayment, signed } from "../../support/webhooks.js";
import { shopBench } from "../shop-bench.js";

const day = { from: new Date("2026-11-20T00:00:00Z"), to: new Date("2026-11-21T00:00:00Z") };
const noon = Date.parse("2026-11-20T12:00:00Z");
const time = (ms: number) => new Date(noon + ms).toISOString();
const numbered = (n: number, over: Partial<Payment> = {}) =>
  pendingPayment({ clientId: `c-${n}`, reference: `${n}`, serviceId: `s-${n}`, createdAt: time(n), ...over });
const paidAfter = (n: number, ms: number, source: string) =>
  numbered(n, {
    state: "completed",
    open: false,
    completedAt: time(n + 2 * ms),
    firstWebhookAt: time(n + ms),
    reported: { status: "completed", source, at: time(n + ms), verified: [] },
  });

async function figuresOf(created: Payment[], query: FiguresQuery = day) {
  const store = new MemoryStore();
  if (created.length > 0) await saved(store, { created });
  return paymentFigures(store, query);
}

describe("the figures of payments", () => {
  it("are about payments that the service has, and have the longest of ten times as the 95th of 100", async () => {
    const payments = Array.from({ length: 10 }, (_, n) => paidAfter(n, 1000 * (n + 1), "MVK"));
    const adopted = payments.map(({ checkoutUrl: _, ...rest }) => rest);
    const { checkoutUrl: _, serviceId: __, ...unknown } = numbered(20, { state: "uncertain" });
    const { all } = await figuresOf([...adopted, unknown]);
    expect(all).toMatchObject({ sent: 10, completed: 10, firstWebhookMs: { median: 5000, p95: 10_000 } });
  });

  it("are counts, shares and usual times, of all and by channel", async () => {
    const [fast, slow] = [20, 40];
    const payments = [
      ...Array.from({ length: fast }, (_, n) => paidAfter(n, 1000 * (n + 1), "MVK")),
      ...Array.from({ length: slow }, (_, n) => paidAfter(100 + n, 60_000, "HOL")),
      ...Array.from({ length: 15 }, (_, n) => numbered(200 + n)),
    ];
    const { all, channels, more } = await figuresOf(payments);
    expect([all.sent, all.completed, all.share, more]).toEqual([75, 60, 0.8, false]);
    expect(channels).toEqual([
      {
        channel: "HOL",
        sent: 40,
        completed: 40,
        share: 1,
        firstWebhookMs: { median: 60_000, p95: 60_000 },
        paidMs: { median: 120_000, p95: 120_000 },
      },
      {
        channel: "MVK",
        sent: 20,
        completed: 20,
        share: 1,
        firstWebhookMs: { median: 10_000, p95: 19_000 },
        paidMs: { median: 20_000, p95: 38_000 },
      },
      { channel: "", sent: 15, completed: 0, share: 0 },
    ]);
  });

  it("leave out payments of another time, and those that the service does not have", async () => {
    const { serviceId: _, checkoutUrl: __, ...unsent } = numbered(1, { state: "failed", open: false });
    const before = numbered(2, { createdAt: "2026-11-19T23:59:59.999Z" });
    const after = numbered(3, { createdAt: "2026-11-21T00:00:00.000Z" });
    expect((await figuresOf([unsent, before, after])).all).toEqual({
      channel: "*",
      sent: 0,
      completed: 0,
      share: 0,
    });
  });

  it("count a failed payment that the service has", async () => {
    const failed = { state: "failed", status: "failed", open: false } as const;
    const { all } = await figuresOf([numbered(1, failed), paidAfter(2, 1000, "MVK")]);
    expect(all).toMatchObject({ sent: 2, completed: 1, share: 0.5 });
  });

  it("read the newest 20,000 payments, say that there are more, and keep at most 100 channels", async () => {
    const payments = Array.from({ length: 20_500 }, (_, n) => paidAfter(n, 1000, `channel-${n % 150}`));
    let pages = 0;
    const storeWith = (count: number) => {
      const list = async ({ after, limit }: PaymentPage) => {
        pages += 1;
        const start = after ? payments.findIndex(({ clientId }) => clientId === after.clientId) + 1 : 0;
        return payments.slice(0, count).slice(start, start + limit);
      };
      return { list } as Partial<PaymentStore> as PaymentStore;
    };
    const { all, channels, more } = await paymentFigures(storeWith(20_500), day);
    expect([all.sent, more, channels.length, pages]).toEqual([20_000, true, 101, 41]);
    expect(channels[0]!.channel).toBe("*");
    // Each of the 150 channels has 133 or 134 payments, also the first 100, which are kept apart.
    expect(
      channels
        .map(({ sent }) => sent)
        .slice(1)
        .every((sent) => sent >= 133),
    ).toBe(true);
    expect((await paymentFigures(storeWith(20_000), day)).more).toBe(false);
  });

  it.each<[string, object]>([
    ["from must be before to", { from: day.to, to: day.from }],
    ["from and to must be two Dates", { from: day.from }],
    ["to must be a Date", { from: day.from, to: "2026-11-21" }],
    ["since", { ...day, since: day.from }],
  ])("are refused: %s", async (message, query) => {
    await expect(figuresOf([], query as FiguresQuery)).rejects.toMatchObject({
      code: "query_invalid",
      message: expect.stringContaining(message),
    });
  });
});

onEachDatabase("the first webhook of a payment", (kind) => {
  const bench = shopBench(kind);

  it("keeps its time, which later ones do not change, and is in the figures", async () => {
    await bench.seed(pendingPayment());
    const payments = bench.shop();
    await payments.receiveWebhook(signed(completedBody({ status: "submitted" })));
    const { firstWebhookAt, reported, createdAt } = (await payments.find("c-1"))!;
    expect(firstWebhookAt).toBe(reported!.at);
    await payments.receiveWebhook(signed(completedBody()));
    const completed = (await payments.find("c-1"))!;
    expect(completed).toMatchObject({ state: "completed", firstWebhookAt });
    const [from, to] = [new Date(createdAt), new Date(Date.parse(createdAt) + 1)];
    const { all } = await payments.figures({ from, to });
    const median = Date.parse(firstWebhookAt!) - Date.parse(createdAt);
    expect(all).toMatchObject({ sent: 1, completed: 1, firstWebhookMs: { median, p95: median } });
  });
});

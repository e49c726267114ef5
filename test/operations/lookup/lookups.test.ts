import { fieldsSignature, type LookupError, type LookupOptions, type Payment } from "tillkit";
import { makeReturnToken } from "../../../src/checkout/return-token.js";
import { onEachDatabase } from "../../promises/processes/databases.js";
import { until } from "../../promises/processes/members.js";
import { secret } from "../../support/kit.js";
import { completedBody, pendingPayment, signed, statusBody } from "../../support/webhooks.js";
import { shopBench } from "../shop-bench.js";
import { shown, showingService, type ShowingService } from "./service.js";

const quick: LookupOptions = { perSecond: 1000, afterReturnMs: 1 };

onEachDatabase("lookups", (kind) => {
  let service: ShowingService;
  let now: Date;
  const bench = shopBench(kind, () => ({
    service: { baseUrl: service.url, accessToken: "a-token" },
    lookup: quick,
    now: () => now,
    dispatch: false,
    overdueMs: 30 * 24 * 3_600_000,
  }));
  beforeEach(async () => {
    service = await showingService();
    now = new Date("2026-11-20T12:00:00.000Z");
  });
  afterEach(() => service.close());
  const { shop, recorded } = bench;
  /** Open payments `c-0`, `c-1`, …, due for a lookup one after the other. */
  const seed = (count: number, over: Partial<Payment> = {}) => {
    const created = Array.from({ length: count }, (_, n) =>
      pendingPayment({
        clientId: `c-${n}`,
        reference: `order-${n}`,
        serviceId: `s-${n}`,
        nextLookupAt: `2026-11-20T10:00:${String(n % 60).padStart(2, "0")}.000Z`,
        ...over,
      }),
    );
    return bench.seed(...created);
  };
  const later = (ms: number) => (now = new Date(now.getTime() + ms));
  const paid = (n: number) => signed(completedBody({ clientId: `c-${n}`, id: `s-${n}` }));

  it("complete a payment whose webhook never arrived, once, as a webhook would", async () => {
    const payments = shop();
    await seed(1);
    service.payments.set("s-0", shown("s-0", { providerId: "MVK-778" }));
    expect(await payments.sweep()).toEqual({ lookups: 1, overdue: 0, unmatched: 0 });
    expect(await payments.find("c-0")).toMatchObject({ state: "completed", lookups: 1, open: false });
    expect(await payments.find("c-0")).not.toHaveProperty("nextLookupAt");
    const [{ payload }] = (await bench.place.select<{ payload: string }>("select payload from @events")) as [
      { payload: string },
    ];
    expect(JSON.parse(payload)).toMatchObject({
      reportedBy: "lookup",
      verified: { topic: "payment.completed", clientId: "c-0", id: "s-0" },
    });
    later(100_000_000);
    expect(await payments.sweep()).toMatchObject({ lookups: 0 });
    expect(service.received[0]!.headers).toMatchObject({ authorization: "Bearer a-token" });

    // The webhook arrives later: where the fields agree, the two are one event.
    expect((await payments.receiveWebhook(paid(0))).outcome).toBe("duplicate");
    expect(await recorded()).toEqual(["payment.completed"]);
  });

  it("raise nothing for a webhook that has the provider's number where the answer had none", async () => {
    const payments = shop();
    await seed(1);
    service.payments.set("s-0", shown("s-0"));
    expect(await payments.sweep()).toMatchObject({ lookups: 1 });
    expect((await payments.receiveWebhook(paid(0))).outcome).toBe("stale");
    expect(await recorded()).toEqual(["payment.completed"]);
    expect((await payments.attention({ rule: ["mismatched"] })).entries).toEqual([]);
  });

  it("and webhooks that race end in one completion each", async () => {
    const shops = [shop(), shop()];
    const count = 30;
    await seed(count);
    // Half of the answers lack the time of submission, so they are another event.
    for (let n = 0; n < count; n++) {
      const { submittedAt: _, ...without } = shown(`s-${n}`);
      service.payments.set(`s-${n}`, n % 2 === 0 ? shown(`s-${n}`) : without);
    }
    await Promise.all([
      ...shops.map((payments) => payments.sweep()),
      ...Array.from({ length: count }, (_, n) => shops[n % 2]!.receiveWebhook(paid(n))),
    ]);
    expect(await recorded()).toEqual(Array(count).fill("payment.completed"));
    for (let n = 0; n < count; n++)
      expect(await shops[0]!.find(`c-${n}`)).toMatchObject({ state: "completed" });
  });

  it("are made once, however many processes sweep at the same moment", async () => {
    await seed(40);
    for (let n = 0; n < 40; n++)
      service.payments.set(`s-${n}`, shown(`s-${n}`, { status: "pending", captured: false }));
    const swept = await Promise.all([shop(), shop(), shop()].map((payments) => payments.sweep()));
    expect(swept.reduce((sum, { lookups }) => sum + lookups, 0)).toBe(40);
    expect(service.asked().toSorted()).toEqual(Array.from({ length: 40 }, (_, n) => `s-${n}`).toSorted());
  });

  it("go on after the clock has jumped, and give up no payment by the jump", async () => {
    const payments = shop({ now: () => new Date(Date.now()) });
    await payments.sweep();
    const createdAt = new Date(Date.now()).toISOString();
    service.instead = () => ({ status: 404, body: {} });
    const wall = Date.now.bind(Date);
    let jumpMs = 30 * 24 * 3_600_000;
    const clock = jest.spyOn(Date, "now").mockImplementation(() => wall() + jumpMs);
    try {
      await seed(1, { createdAt, nextLookupAt: createdAt });
      const after = new Date(Date.now()).toISOString();
      await bench.seed(
        pendingPayment({
          clientId: "n",
          reference: "n",
          serviceId: "s-n",
          createdAt: after,
          nextLookupAt: after,
        }),
      );
      jumpMs += 1;
      expect(await payments.sweep()).toMatchObject({ lookups: 2 });
      expect(service.asked()).toEqual(["s-0", "s-n"]);
      expect(await payments.find("c-0")).toHaveProperty("nextLookupAt");
    } finally {
      clock.mockRestore();
    }
  });

  it("look up every payment once before any payment twice", async () => {
    // Ten lookups in a sweep, and thirty payments that stay pending.
    const payments = shop({ lookup: { ...quick, perSecond: 1000, afterMs: 1 }, sweepMs: 10 });
    await seed(30);
    for (let n = 0; n < 30; n++)
      service.payments.set(`s-${n}`, shown(`s-${n}`, { status: "pending", captured: false }));
    for (let sweep = 0; sweep < 3; sweep++) {
      expect(await payments.sweep()).toMatchObject({ lookups: 10 });
      later(1000);
    }
    expect(new Set(service.asked()).size).toBe(30);
    expect(await recorded()).toEqual([]);
  });

  it("leave an unavailable or rate-limiting service alone, and continue later", async () => {
    const payments = shop();
    const failed: unknown[] = [];
    payments.on("lookup.failed", ({ error }) => failed.push(error));
    await seed(8);
    for (let n = 0; n < 8; n++) service.payments.set(`s-${n}`, shown(`s-${n}`));
    service.instead = () => ({ status: 503, body: {} });
    expect(await payments.sweep()).toMatchObject({ lookups: 3 });
    expect(failed).toMatchObject(
      Array.from({ length: 3 }, () => ({ code: "lookup_failed", httpStatus: 503 })),
    );

    service.instead = undefined;
    later(24 * 3_600_000 - 1);
    expect(await payments.sweep()).toMatchObject({ lookups: 8 });
    expect(await recorded()).toEqual(Array(8).fill("payment.completed"));

    service.instead = () => ({ status: 429, body: {}, headers: { "retry-after": "3600" } });
    const other = pendingPayment({
      clientId: "d",
      reference: "d",
      serviceId: "d",
      nextLookupAt: "2026-11-20T10:00:00.000Z",
    });
    await bench.seed(other);
    expect(await payments.sweep()).toMatchObject({ lookups: 1 });
    later(24 * 3_600_000);
    expect(await payments.sweep()).toMatchObject({ lookups: 0 });

    // It is asked again after five minutes, however long it wants to be left alone.
    const elapsed = performance.now.bind(performance);
    const clock = jest.spyOn(performance, "now").mockImplementation(() => elapsed() + 300_001);
    expect(await payments.sweep()).toMatchObject({ lookups: 1 });
    clock.mockRestore();
  });

  it("go on where the service fails now and then, and not three times in a row", async () => {
    const payments = shop();
    await seed(8);
    for (let n = 0; n < 8; n++) service.payments.set(`s-${n}`, shown(`s-${n}`));
    service.instead = (path) => (/s-[0246]$/.test(path) ? { status: 503, body: {} } : undefined);
    expect(await payments.sweep()).toMatchObject({ lookups: 8 });
    expect(await recorded()).toEqual(Array(4).fill("payment.completed"));
  });

  it("go on after payments that the service does not know, however many there are", async () => {
    const payments = shop();
    await seed(5);
    service.payments.set("s-4", shown("s-4"));
    expect(await payments.sweep()).toMatchObject({ lookups: 5 });
    expect(await payments.find("c-4")).toMatchObject({ state: "completed" });
  });

  it("record a mismatch once, and unusable answers never", async () => {
    const payments = shop();
    const failed: unknown[] = [];
    payments.on("lookup.failed", ({ clientId, error }) => failed.push([clientId, (error as Error).message]));
    await seed(4);
    service.payments.set("s-0", shown("s-0", { total: { value: "1", currency: "KMF" } }));
    service.payments.set("s-1", shown("s-1", { clientId: "somebody-else" }));
    service.payments.set("s-2", shown("s-2", { total: { value: 1475, currency: "KMF" } }));
    for (let day = 0; day < 2; day++) {
      await payments.sweep();
      later(24 * 3_600_000 - 1);
    }
    expect(await recorded()).toEqual(["payment.mismatched"]);
    const { webhooks } = await bench.place.store.history("c-0");
    expect(webhooks).toMatchObject([{ kind: "lookup", outcome: "mismatch", copies: 1 }]);
    expect(failed.slice(0, 3)).toEqual([
      ["c-1", expect.stringContaining("another clientId")],
      ["c-2", expect.stringContaining("total.value")],
      ["c-3", expect.stringContaining("404")],
    ]);
    expect((await bench.place.store.history("c-2")).webhooks).toEqual([]);
  });

  it("report that a canceled payment was paid later", async () => {
    const payments = shop();
    await seed(1);
    await payments.receiveWebhook(signed(statusBody("canceled", { clientId: "c-0", id: "s-0" })));
    service.payments.set("s-0", shown("s-0"));
    await payments.sweep();
    expect(await recorded()).toEqual(["payment.updated", "payment.completed", "payment.paid_late"]);
  });

  /** Stores a payment whose service id is unknown. The service's list has 650 others. */
  async function loseOne(): Promise<void> {
    const {
      serviceId: _,
      status: __,
      ...uncertain
    } = pendingPayment({
      clientId: "lost",
      state: "uncertain",
      open: false,
      nextLookupAt: "2026-11-20T10:00:00.000Z",
    });
    await bench.seed(uncertain);
    for (let n = 0; n < 650; n++) service.payments.set(`x-${n}`, shown(`x-${n}`, { clientId: `other-${n}` }));
  }

  it("find payments with an unknown service id in the service's list, at any position", async () => {
    const payments = shop();
    await loseOne();
    const found = shown("s-lost", {
      clientId: "lost",
      status: "pending",
      captured: false,
      submittedAt: undefined,
    });
    service.payments.set("s-lost", found);

    await payments.sweep();
    expect(await payments.find("lost")).toMatchObject({ state: "uncertain" });
    expect(service.received).toHaveLength(5);
    await payments.sweep();
    expect(await payments.find("lost")).toMatchObject({ state: "pending", serviceId: "s-lost" });
    service.payments.set("s-lost", { ...found, status: "completed", captured: true });
    later(24 * 3_600_000 - 1);
    await payments.sweep();
    expect(await payments.find("lost")).toMatchObject({ state: "completed" });
    expect(service.asked().at(-1)).toBe("s-lost");
  });

  it("begin the service's list again after its end, because a payment may appear at any position", async () => {
    const payments = shop();
    await loseOne();
    await payments.sweep();
    await payments.sweep();
    service.payments.set("x-300", shown("x-300", { clientId: "lost" }));
    await payments.sweep();
    expect(await payments.find("lost")).toMatchObject({ state: "completed", serviceId: "x-300" });
  });

  it("read the list once for a payment whose last lookup comes long after its time", async () => {
    const payments = shop();
    const { serviceId: _, ...adopted } = pendingPayment({
      clientId: "lost",
      open: false,
      nextLookupAt: "2026-11-20T10:00:00.000Z",
    });
    await bench.seed(adopted);
    service.payments.set("s-lost", shown("s-lost", { clientId: "lost" }));
    later(30 * 24 * 3_600_000);
    await payments.sweep();
    expect(await payments.find("lost")).toMatchObject({ state: "completed" });
  });

  it("report once that the service's list shows no clientIds", async () => {
    const payments = shop();
    const failed: unknown[] = [];
    payments.on("lookup.failed", ({ error }) => failed.push((error as LookupError).code));
    const {
      serviceId: _,
      status: __,
      ...uncertain
    } = pendingPayment({
      state: "uncertain",
      open: false,
      nextLookupAt: "2026-11-20T10:00:00.000Z",
    });
    await bench.seed(uncertain);
    service.payments.set("x", shown("x"));
    await payments.sweep();
    later(24 * 3_600_000 - 1);
    await payments.sweep();
    expect(failed).toEqual(["lookup_answer_invalid"]);
    expect(service.received.length).toBeGreaterThan(2);
  });

  it("are made once after a success return, and not where the webhook was faster", async () => {
    const { token, hash } = makeReturnToken("c-0");
    await seed(1, { returnKeyHash: hash, nextLookupAt: "2026-11-21T10:00:00.000Z" });
    service.payments.set("s-0", shown("s-0"));
    const payments = shop();
    for (let visit = 0; visit < 3; visit++)
      await payments.handleReturn({ kind: "success", token, visit: true });
    await until(async () => (await payments.find("c-0"))?.state === "completed", "the answer");
    expect(service.asked()).toEqual(["s-0"]);
    await payments.close();
    expect(service.asked()).toEqual(["s-0"]);
  });

  it("ask about a payment after its last lookup when its customer says that it is paid", async () => {
    const { token, hash } = makeReturnToken("c-0");
    const asked = { lookups: 9, createdAt: "2026-11-15T10:00:00.000Z" };
    const returned = { returnKeyHash: hash, successReturnedAt: "2026-11-20T11:00:00.000Z" };
    await bench.seed(pendingPayment({ clientId: "c-0", serviceId: "s-0", ...asked, ...returned }));
    service.payments.set("s-0", shown("s-0"));
    const payments = shop();
    expect(await payments.sweep()).toMatchObject({ lookups: 0 });
    expect(await payments.claimPaid({ kind: "success", token, number: "MVK-778" })).toBe("kept");
    await until(async () => (await payments.find("c-0"))?.state === "completed", "the answer");
    expect(service.asked()).toEqual(["s-0"]);
  });

  describe("with confirm", () => {
    const scheme = fieldsSignature({ secret, merchantId: "m-1" });
    const confirming = () => shop({ signature: scheme, confirm: "lookup" });
    const said = (n: number) => signed(completedBody({ clientId: `c-${n}`, id: `s-${n}` }), scheme);

    it("make a completion with signed fields only wait for a lookup", async () => {
      const payments = confirming();
      await seed(1);
      service.payments.set("s-0", shown("s-0", { status: "pending", captured: false }));
      const { outcome, receiptId } = await payments.receiveWebhook(said(0));
      expect(outcome).toBe("unconfirmed");
      await until(async () => service.asked().length === 1, "the question");
      expect((await payments.receiveWebhook(said(0))).outcome).toBe("duplicate");
      expect(await payments.find("c-0")).toMatchObject({ state: "pending" });
      later(600_000);
      expect(await payments.sweep()).toMatchObject({ unmatched: 1 });
      expect(await recorded()).toEqual(["payment.unconfirmed"]);

      service.payments.set("s-0", shown("s-0"));
      later(24 * 3_600_000 - 1);
      await payments.sweep();
      expect(await payments.find("c-0")).toMatchObject({ state: "completed" });
      expect(await recorded()).toEqual(["payment.unconfirmed", "payment.completed"]);
      const { webhooks } = await bench.place.store.history("c-0");
      expect(webhooks.find((one) => one.receiptId === receiptId)).toMatchObject({
        outcome: "applied",
        reason: "confirmed by a lookup",
      });
      expect(await bench.place.store.counts()).toMatchObject({ parked: 0 });
    });

    it("apply it immediately where the service confirms it, also in another format", async () => {
      const payments = confirming();
      await seed(2);
      const { submittedAt: _, ...without } = shown("s-1");
      service.payments.set("s-0", shown("s-0"));
      service.payments.set("s-1", without);
      for (const n of [0, 1]) {
        expect((await payments.receiveWebhook(said(n))).outcome).toBe("unconfirmed");
        await until(async () => (await payments.find(`c-${n}`))?.state === "completed", "the second opinion");
      }
      await until(
        async () => (await bench.place.store.counts()).parked === 0,
        "the waiting webhook to be decided",
      );
      expect(await recorded()).toEqual(["payment.completed", "payment.completed"]);
    });

    /** Stores a payment that has no service id yet, and makes the service's list show no clientIds. */
    const seedUnbound = (state: "creating" | "uncertain") => {
      const {
        serviceId: _,
        status: __,
        ...unbound
      } = pendingPayment({
        clientId: "c-0",
        state,
        open: state === "creating",
        nextLookupAt: "2026-11-21T10:00:00.000Z",
      });
      return bench.seed(unbound);
    };

    it.each(["creating", "uncertain"] as const)(
      "ask about a payment that is %s by the id of its signed webhook",
      async (state) => {
        const payments = confirming();
        await seedUnbound(state);
        service.payments.set("s-0", shown("s-0"));
        expect((await payments.receiveWebhook(said(0))).outcome).toBe("unconfirmed");
        await until(async () => (await payments.find("c-0"))?.state === "completed", "the second opinion");
        expect(await payments.find("c-0")).toMatchObject({ serviceId: "s-0" });
        expect((await recorded())[0]).toBe("payment.completed");
        expect(service.asked()).toContain("s-0");
      },
    );

    it("ask about an adopted payment by the id of a webhook that came before it", async () => {
      const payments = confirming();
      expect((await payments.receiveWebhook(said(0))).outcome).toBe("unmatched");
      service.payments.set("s-0", shown("s-0"));
      const total = { value: "1475", currency: "KMF" };
      await payments.adopt({ clientId: "c-0", reference: "order-0", total });
      later(1);
      await payments.sweep();
      expect(await payments.find("c-0")).toMatchObject({ state: "completed", serviceId: "s-0" });
    });

    it("bind no id before the service confirms it, and ask again after a restart", async () => {
      const first = confirming();
      await seedUnbound("uncertain");
      expect((await first.receiveWebhook(said(0))).outcome).toBe("unconfirmed");
      await until(async () => service.asked().includes("s-0"), "the question");
      await first.close();
      expect(await bench.place.store.find("c-0")).toMatchObject({ state: "uncertain" });
      expect(await bench.place.store.find("c-0")).not.toHaveProperty("serviceId");

      service.payments.set("s-0", shown("s-0"));
      later(24 * 3_600_000);
      const second = confirming();
      await second.sweep();
      expect(await second.find("c-0")).toMatchObject({ state: "completed", serviceId: "s-0" });
    });

    it("never complete a payment by an id that another payment has got meanwhile", async () => {
      const payments = confirming();
      await seedUnbound("uncertain");
      service.instead = () => ({ status: 503, body: {} });
      await payments.receiveWebhook(said(0));
      await until(async () => service.asked().includes("s-0"), "the question");
      const other = { clientId: "other", reference: "other", total: { value: "1475", currency: "KMF" } };
      await payments.adopt({ ...other, serviceId: "s-0" });
      service.instead = undefined;
      service.payments.set("s-0", shown("s-0"));
      later(24 * 3_600_000);
      await payments.sweep();
      expect(await payments.find("c-0")).toMatchObject({ state: "uncertain" });
      const { webhooks } = await bench.place.store.history("c-0");
      expect(webhooks.map(({ outcome }) => outcome)).toEqual(["mismatch"]);
    });

    it("leave everything else as it is, and apply the completion that a lookup finds", async () => {
      const payments = confirming();
      await seed(2);
      const failed = signed(statusBody("failed", { clientId: "c-0", id: "s-0" }), scheme);
      expect((await payments.receiveWebhook(failed)).outcome).toBe("applied");
      service.payments.set("s-1", shown("s-1"));
      await payments.sweep();
      expect(await payments.find("c-1")).toMatchObject({ state: "completed" });
      expect((await payments.receiveWebhook(said(1))).outcome).toBe("duplicate");
    });
  });
});

import { createHmac } from "node:crypto";
import { catalogue, createSandbox, type Sandbox, type WebhookBody } from "tillkit/sandbox";
import { createPayment } from "../create-payment.js";
import { type Arrived, Merchant } from "../merchant.js";
import { openSandbox } from "../open-sandbox.js";

/** What a merchant finds when it checks a webhook. */
interface Checked {
  /** Whether the signature matches the bytes that arrived. */
  signed: boolean;
  /** Absent where the bytes are not JSON. */
  body?: WebhookBody & { data: Record<string, unknown> };
}

const wrong = { signed: false, body: { data: { status: "completed", total: { value: "1475" } } } };
const right = {
  signed: true,
  body: { topic: "payment.completed", data: { status: "completed", captured: true } },
};

/** The webhooks of one approved payment of 1475 KMF, in the order in which they arrive. */
const arrivals: Record<string, readonly object[]> = {
  normal: [right],
  "webhook-delayed": [right],
  "webhook-doubled": [right, right],
  "webhook-reordered": [
    right,
    { signed: true, body: { topic: "payment.submitted", data: { status: "submitted", captured: false } } },
    { signed: true, body: { topic: "payment.pending", data: { status: "pending", captured: false } } },
  ],
  "webhook-dropped": [right],
  "webhook-never": [],
  "webhook-before-creation-answer": [right],
  "webhook-during-checkout": [right],
  "signature-wrong": [wrong],
  "signature-old-secret": [wrong],
  "signature-missing": [wrong],
  "amount-changed": [{ signed: true, body: { data: { total: { value: "14750", currency: "KMF" } } } }],
  "amount-tampered": [{ signed: false, body: { data: { total: { value: "14750", currency: "KMF" } } } }],
  "currency-changed": [{ signed: true, body: { data: { total: { value: "1475", currency: "EUR" } } } }],
  "client-id-of-another": [{ signed: true, body: { data: { clientId: "somebody else's" } } }],
  "body-truncated": [{ signed: false }],
  "topic-unknown": [
    { signed: true, body: { topic: "payment.reviewed", data: { status: "reviewed", captured: false } } },
    right,
  ],
  "status-unknown": [
    { signed: true, body: { topic: "payment.verifying", data: { status: "verifying" } } },
    right,
  ],
  "fields-extra": [{ signed: true, body: { version: 2, data: { fee: { value: "15" }, note: "merci" } } }],
  "creation-slow": [right],
  "creation-late": [right],
  "success-without-webhook": [],
  "payment-failed": [
    { signed: true, body: { topic: "payment.failed", data: { status: "failed", captured: false } } },
  ],
  "failed-then-paid": [{ signed: true, body: { data: { status: "failed" } } }, right],
  "canceled-then-paid": [right],
  "paid-twice": [right],
  "paid-other-amount": [right],
  "token-down": [right],
  "token-expired-early": [right],
  "webhook-replayed": [right, right],
  "type-unknown": [{ signed: true, body: { type: "payout", data: { id: "po_1" } } }, right],
};

/** Scenarios that make no payment, or give no response that this test could wait for. */
const withoutPayment = ["creation-hangs", "creation-error", "creation-html", "creation-reset"];

describe("what a merchant receives in a scenario", () => {
  let merchant: Merchant;
  let sandbox: Sandbox;
  beforeEach(async () => {
    ({ sandbox, merchant } = await openSandbox());
  });

  function check({ headers, rawBody }: Arrived): Checked {
    const signature = createHmac("sha256", sandbox.secret!).update(rawBody).digest("hex");
    const signed = headers["service-signature"] === signature;
    try {
      return { signed, body: JSON.parse(rawBody.toString()) };
    } catch {
      return { signed };
    }
  }
  /** Creates a payment in the scenario. The customer approves it, unless it is completed already. */
  async function play(scenario: string): Promise<void> {
    await createPayment(sandbox, merchant, "somebody else's");
    if (!scenario.startsWith("token-")) sandbox.scenario(scenario, { for: "c-1" });
    const unwatch = sandbox.watch(({ type }) => {
      if (type === "payment.created") void sandbox.clock.advance(30_000);
    });
    const id = await createPayment(sandbox, merchant, "c-1");
    unwatch();
    sandbox.scenario(scenario);
    await sandbox.settled();
    if (scenario === "webhook-during-checkout") {
      await sandbox.start();
      await fetch(`${sandbox.url}/payment/submit/${id}`);
      await sandbox.settled();
    }
    const paid = sandbox.find(id)!.status === "completed" ? undefined : sandbox.pay(id);
    await sandbox.clock.advance(3_600_000);
    await paid;
  }

  it("is listed here for every scenario that makes a payment", () => {
    const names = ["normal", ...catalogue.map(({ name }) => name)].filter(
      (name) => !withoutPayment.includes(name),
    );
    expect(Object.keys(arrivals).toSorted()).toEqual(names.toSorted());
  });

  it.each(Object.entries(arrivals))("%s", async (scenario, expected) => {
    await play(scenario);
    expect(merchant.webhooks.map((arrived) => check(arrived))).toMatchObject(expected);
  });

  it("has identical bytes where a webhook is doubled or replayed, also while the clock moves", async () => {
    let ms = Date.now();
    sandbox = createSandbox({ webhookUrls: [merchant.webhookUrl], now: () => new Date((ms += 1)) });
    for (const scenario of ["webhook-doubled", "webhook-replayed"]) {
      await createPayment(sandbox, merchant, `c:${scenario}`);
      const paid = sandbox.pay(`c:${scenario}`);
      await sandbox.clock.advance(3_600_000);
      await paid;
      const [first, second] = merchant.webhooks.splice(0);
      expect([scenario, second!.rawBody.equals(first!.rawBody)]).toEqual([scenario, true]);
    }
  });

  it("is sent once where the customer presses twice before the first move", async () => {
    const slow = { status: "submitted", delayMs: 1000, webhook: true };
    sandbox.scenario({ name: "slow", moves: { approved: [slow, { status: "completed" }] } });
    const id = await createPayment(sandbox, merchant, "c-1");
    const paid = [sandbox.pay(id), sandbox.pay(id)];
    await sandbox.clock.advance(1000);
    expect((await Promise.all(paid)).map((deliveries) => deliveries.length)).toEqual([2, 0]);
    expect(merchant.webhooks).toHaveLength(2);
  });

  it("is sent again where a failed payment is paid once more", async () => {
    const failed = { status: "failed", webhook: true };
    sandbox.scenario({ name: "fails", moves: { approved: [failed] } });
    const id = await createPayment(sandbox, merchant, "c-1");
    const sent = [await sandbox.pay(id), await sandbox.pay(id)];
    expect(sent.map((deliveries) => deliveries.length)).toEqual([1, 1]);
  });

  it("is sent at the first opening of the page only", async () => {
    sandbox.scenario({ name: "seen", moves: { opened: [{ status: "pending", webhook: true }] } });
    const id = await createPayment(sandbox, merchant, "c-1");
    await sandbox.start();
    for (let visit = 0; visit < 2; visit += 1) await fetch(`${sandbox.url}/payment/submit/${id}`);
    await sandbox.settled();
    expect(merchant.webhooks).toHaveLength(1);
  });

  it("comes with the next payment of the same shop and amount, and only after a cancel: paid-twice", async () => {
    const other = await Merchant.open();
    const canceled = await createPayment(sandbox, merchant, "first:paid-twice");
    const pending = await createPayment(sandbox, merchant, "open:paid-twice");
    await sandbox.cancel(canceled);
    const pays = async (shop: Merchant, clientId: string, value: string, currency: string) =>
      sandbox.pay(await createPayment(sandbox, shop, clientId, { value, currency }));
    await pays(merchant, "another-amount", "1476", "KMF");
    await pays(merchant, "another-currency", "1475", "EUR");
    await pays(other, "another-shop", "1475", "KMF");
    expect(sandbox.find(canceled)!.status).toBe("canceled");
    await pays(merchant, "same", "1475", "KMF");
    expect([sandbox.find(canceled)!.status, sandbox.find(pending)!.status]).toEqual(["completed", "pending"]);
    await other.close();
  });

  it.each([
    ["the same amount", "1475", "KMF", true, "pending"],
    ["another amount", "1476", "KMF", true, "completed"],
    ["another currency", "1475", "EUR", true, "completed"],
    ["another amount at another shop", "1476", "KMF", false, "pending"],
  ])(
    "comes after a payment of %s, or not: paid-other-amount",
    async (_, value, currency, isSameShop, now) => {
      const other = await Merchant.open();
      const id = await createPayment(sandbox, merchant, "first:paid-other-amount");
      await createPayment(sandbox, isSameShop ? merchant : other, "next", { value, currency });
      await sandbox.clock.advance(1000);
      expect(sandbox.find(id)!.status).toBe(now);
      await other.close();
    },
  );

  it.each([
    ["webhook-delayed", [10]],
    ["webhook-reordered", [0, 0.2, 0.4]],
    ["webhook-dropped", [0, 1]],
    ["webhook-replayed", [0, 1800]],
    ["topic-unknown", [0, 0.2]],
    ["type-unknown", [0, 0.2]],
    ["status-unknown", [0, 0.2]],
    ["failed-then-paid", [0, 5]],
  ])("comes at its time, in seconds after the approval: %s at %j", async (scenario, seconds) => {
    const approved = Date.parse("2030-01-01T12:00:00.000Z");
    ({ sandbox, merchant } = await openSandbox({ scenario, now: () => new Date(approved) }));
    const paid = sandbox.pay(await createPayment(sandbox, merchant, "c-1"));
    await sandbox.clock.advance(3_600_000);
    await paid;
    const times = sandbox.deliveries.map(({ at }) => (Date.parse(at) - approved) / 1000);
    expect(times).toEqual(seconds);
  });

  it("comes five seconds after a cancel: canceled-then-paid", async () => {
    sandbox.scenario("canceled-then-paid");
    const id = await createPayment(sandbox, merchant, "c-1");
    void sandbox.cancel(id);
    expect(sandbox.find(id)!.status).toBe("canceled");
    await sandbox.clock.advance(5000);
    expect(sandbox.find(id)!.status).toBe("completed");
  });

  it.each([
    ["creation-slow", 3000],
    ["creation-late", 30_000],
  ])("comes after a creation whose response takes its time: %s, %i ms", async (scenario, ms) => {
    ({ sandbox, merchant } = await openSandbox({ scenario, now: () => new Date(0) }));
    const created = new Promise((resolve) => sandbox.watch(resolve));
    let answered = false;
    const creation = createPayment(sandbox, merchant, "c-1").then(() => (answered = true));
    await created;
    await sandbox.clock.advance(ms - 1);
    expect(answered).toBe(false);
    await sandbox.clock.advance(1);
    await creation;
  });

  it("arrives before the response to the creation: webhook-before-creation-answer", async () => {
    sandbox.scenario("webhook-before-creation-answer");
    let answer = (): void => {};
    merchant.answers.push((res) => (answer = () => void res.end()));
    const arrival = merchant.arrival();
    let answered = false;
    const creation = createPayment(sandbox, merchant, "c-1").then(() => (answered = true));
    await arrival;
    await new Promise((resolve) => setImmediate(resolve));
    expect(answered).toBe(false);
    answer();
    await creation;
    expect(sandbox.deliveries).toMatchObject([{ status: 200 }]);
  });

  it("has older times in webhooks that arrive out of order", async () => {
    await play("webhook-reordered");
    const times = merchant.webhooks.map((arrived) => check(arrived).body!.timestamp);
    expect(times).toEqual(times.toSorted().toReversed());
    expect(new Set(times).size).toBe(3);
  });

  it("is half a body where it is truncated, with the signature of the complete one", async () => {
    await play("body-truncated");
    const { rawBody, headers } = merchant.webhooks[0]!;
    expect(rawBody.toString()).toMatch(/^\{"topic":"payment\.completed"/);
    expect(rawBody.length).toBeLessThan(250);
    expect(headers["service-signature"]).toMatch(/^[0-9a-f]{64}$/);
  });

  it.each([
    ["creation-error", 500, /json/],
    ["creation-html", 200, /html/],
  ])("is a response without a payment: %s", async (scenario, code, type) => {
    sandbox.scenario(scenario);
    await sandbox.start();
    const answer = await fetch(`${sandbox.url}/v1/payments`, {
      method: "POST",
      headers: { Authorization: `Bearer ${sandbox.accessToken()}`, "Content-Type": "application/json" },
      body: JSON.stringify(merchant.order("c-1")),
    });
    expect([answer.status, answer.headers.get("content-type")]).toEqual([code, expect.stringMatching(type)]);
    expect(sandbox.payments()).toEqual([]);
  });

  it("is a response with the status of the scenario, and only after its delay", async () => {
    sandbox.scenario({ name: "down", creation: { answer: "error", status: 429 } });
    await sandbox.start();
    const create = (signal?: AbortSignal) =>
      fetch(`${sandbox.url}/v1/payments`, {
        method: "POST",
        headers: { Authorization: `Bearer ${sandbox.accessToken()}`, "Content-Type": "application/json" },
        body: JSON.stringify(merchant.order("c-1")),
        ...(signal && { signal }),
      });
    expect((await create()).status).toBe(429);
    sandbox.scenario({ name: "down", creation: { answer: "error", delayMs: 86_400_000 } });
    await expect(create(AbortSignal.timeout(300))).rejects.toMatchObject({ name: "TimeoutError" });
  });

  it.each([
    ["creation-reset", 1, "fetch failed"],
    ["creation-hangs", 0, "timeout"],
  ])("is no response: %s, with %d payments at the service", async (scenario, count, error) => {
    sandbox.scenario(scenario);
    await sandbox.start();
    const sending = fetch(`${sandbox.url}/v1/payments`, {
      method: "POST",
      headers: { Authorization: `Bearer ${sandbox.accessToken()}`, "Content-Type": "application/json" },
      body: JSON.stringify(merchant.order("c-1")),
      signal: AbortSignal.timeout(count === 0 ? 500 : 60_000),
    });
    await expect(sending).rejects.toThrow(error);
    expect(sandbox.payments()).toHaveLength(count);
  });
});

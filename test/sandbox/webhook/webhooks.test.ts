import { createHmac } from "node:crypto";
import dns from "node:dns";
import { createSandbox, type Sandbox, type SandboxOptions } from "tillkit/sandbox";
import { fieldsSignature } from "../../../src/webhook/signature/index.js";
import { createPayment } from "../create-payment.js";
import { Merchant, status } from "../merchant.js";
import { openSandbox } from "../open-sandbox.js";

describe("sending webhooks", () => {
  let merchant: Merchant;
  let sandbox: Sandbox;

  async function openPayment(options: SandboxOptions = {}): Promise<string> {
    ({ sandbox, merchant } = await openSandbox(options));
    return createPayment(sandbox, merchant, "c-1");
  }

  it("repeats the same bytes and signature until the response is 2xx", async () => {
    await openPayment({ retryDelaysMs: [0, 0, 0] });
    merchant.answers.push(status(500), status(404), status(204));
    const [first] = await sandbox.pay("c-1", { provider: "PYP" });
    expect(first).toMatchObject({ attempt: 1, status: 500, url: merchant.webhookUrl });
    await sandbox.settled();
    expect(sandbox.deliveries).toMatchObject([
      { attempt: 1, status: 500 },
      { attempt: 2, status: 404 },
      { attempt: 3, status: 204 },
    ]);
    expect(new Set(sandbox.deliveries.map(({ id }) => id)).size).toBe(3);
    const sent = merchant.webhooks.map(({ rawBody, headers }) =>
      [rawBody.toString(), headers["service-signature"]].join(" "),
    );
    expect(new Set(sent).size).toBe(1);
    expect(sandbox.deliveries[0]!.requestBody).toBe(merchant.webhooks[0]!.rawBody.toString());
    expect(first).not.toHaveProperty("scenario");
    const { rawBody, headers } = merchant.webhooks[0]!;
    expect(headers).toMatchObject({
      "content-length": String(rawBody.length),
      "user-agent": "tillkit-sandbox",
      connection: "close",
    });
  });

  it("ends after the last retry", async () => {
    await openPayment({ retryDelaysMs: [0] });
    merchant.answers.push(status(500), status(500), status(500));
    await sandbox.pay("c-1");
    await sandbox.settled();
    expect(merchant.webhooks).toHaveLength(2);
  });

  it("does not follow a redirect, and does not count it as accepted", async () => {
    await openPayment({ retryDelaysMs: [] });
    merchant.answers.push(status(307, { Location: `${merchant.url}/elsewhere` }));
    expect(await sandbox.pay("c-1")).toMatchObject([{ status: 307 }]);
    expect(merchant.webhooks).toHaveLength(1);
  });

  it("sends again after a redirect", async () => {
    await openPayment({ retryDelaysMs: [0] });
    merchant.answers.push(status(302, { Location: `${merchant.url}/elsewhere` }));
    await sandbox.pay("c-1");
    await sandbox.settled();
    expect(sandbox.deliveries).toMatchObject([{ status: 302 }, { attempt: 2, status: 200 }]);
  });

  it("records a merchant that does not respond in time, and tries again", async () => {
    await openPayment({ webhookTimeoutMs: 300, retryDelaysMs: [0] });
    merchant.answers.push(() => {});
    const [first] = await sandbox.pay("c-1");
    expect(first).toMatchObject({ error: "no answer within 300 ms" });
    expect(first).not.toHaveProperty("status");
    expect(first!.durationMs).toBeGreaterThan(250);
    await sandbox.settled();
    expect(sandbox.deliveries).toMatchObject([{ attempt: 1 }, { attempt: 2, status: 200 }]);
  });

  it("records a merchant that cannot be reached", async () => {
    const gone = await Merchant.open();
    await openPayment({ webhookUrls: [gone.webhookUrl], retryDelaysMs: [] });
    await gone.close();
    expect(await sandbox.pay("c-1")).toMatchObject([{ error: expect.stringContaining("ECONNREFUSED") }]);
  });

  it("sends to every registered address, and one that fails does not delay another", async () => {
    const other = await Merchant.open();
    await openPayment({ retryDelaysMs: [] });
    sandbox.registerWebhook(other.webhookUrl);
    sandbox.registerWebhook(other.webhookUrl);
    merchant.answers.push(status(500));
    const deliveries = await sandbox.pay("c-1");
    expect(deliveries.map((delivery) => [delivery.url, delivery.status])).toEqual([
      [merchant.webhookUrl, 500],
      [other.webhookUrl, 200],
    ]);
    sandbox.unregisterWebhook(merchant.webhookUrl);
    await createPayment(sandbox, merchant, "c-2");
    expect(await sandbox.pay("c-2")).toMatchObject([{ url: other.webhookUrl }]);
    await other.close();
  });

  it("stops sending to an address that was unregistered", async () => {
    await openPayment({ retryDelaysMs: [0] });
    merchant.answers.push((res) => {
      sandbox.unregisterWebhook(merchant.webhookUrl);
      status(500)(res);
    });
    await sandbox.pay("c-1");
    await sandbox.settled();
    expect(merchant.webhooks).toHaveLength(1);
  });

  it("drops the retry to an address that was unregistered while the retry waited, without a delivery", async () => {
    await openPayment({ retryDelaysMs: [60_000] });
    merchant.answers.push(status(500));
    expect(await sandbox.pay("c-1")).toMatchObject([{ status: 500 }]);
    sandbox.unregisterWebhook(merchant.webhookUrl);
    await sandbox.clock.advance(60_000);
    await sandbox.settled();
    expect(sandbox.deliveries).toHaveLength(1);
  });

  it("sends no webhooks while they are held, and sends them on release", async () => {
    await openPayment();
    sandbox.holdWebhooks();
    const paid = sandbox.pay("c-1");
    await sandbox.settled();
    expect(merchant.webhooks).toEqual([]);
    expect(sandbox.payments()).toMatchObject([{ status: "completed" }]);
    sandbox.releaseWebhooks();
    expect(await paid).toMatchObject([{ status: 200 }]);
    expect(merchant.webhooks).toHaveLength(1);
  });

  it("delivers a webhook again, byte for byte", async () => {
    await openPayment();
    const [first] = await sandbox.pay("c-1");
    const again = await sandbox.deliverAgain(first!.id);
    expect(again).toMatchObject({ attempt: 2, status: 200, requestBody: first!.requestBody });
    expect(again.id).not.toBe(first!.id);
    expect(merchant.webhooks[1]!.rawBody.equals(merchant.webhooks[0]!.rawBody)).toBe(true);
    expect(merchant.webhooks[1]!.headers["service-signature"]).toBe(
      merchant.webhooks[0]!.headers["service-signature"],
    );
    expect((await sandbox.deliverAgain(first!.id)).attempt).toBe(3);
  });

  it("counts the attempts of each address by itself when a webhook is delivered again", async () => {
    const other = await Merchant.open();
    await openPayment({ retryDelaysMs: [0] });
    sandbox.registerWebhook(other.webhookUrl);
    other.answers.push(status(500));
    const [first] = await sandbox.pay("c-1");
    await sandbox.settled();
    expect(await sandbox.deliverAgain(first!.id)).toMatchObject({ url: merchant.webhookUrl, attempt: 2 });
    await other.close();
  });

  it.each([
    ["127.0.0.1", 65_536],
    ["localhost", 65_536],
    ["::1", 65_536],
    ["0.0.0.0", undefined],
  ])("keeps the first 64 KiB of a response if the host is %s: %j", async (host, length) => {
    await openPayment({ host });
    merchant.answers.push((res) => res.end("x".repeat(100_000)));
    const [delivery] = await sandbox.pay("c-1");
    expect(delivery).toMatchObject({ status: 200 });
    expect(delivery!.responseBody?.length).toBe(length);
  });

  it("tries an address with an invented payment where fields are signed", async () => {
    await openPayment({ signature: { scheme: "fields", merchantId: "m-1" } });
    const { requestBody, headers } = await sandbox.tryWebhook(merchant.webhookUrl);
    const { topic, data } = JSON.parse(requestBody);
    expect([topic, data.clientId]).toEqual([
      "payment.pending",
      expect.stringMatching(/^sandbox-try-[0-9a-f]{8}$/),
    ]);
    const signed = [data.id, "m-1", data.clientId, "1", "KMF", "", "pending"].join(",");
    const signature = createHmac("sha256", sandbox.secret!).update(signed).digest("hex");
    expect(headers["Service-Signature"]).toBe(signature);
  });

  it("tries an address with a body about no payment, and is settled when the answer is there", async () => {
    await openPayment();
    let answer = (): void => {};
    merchant.answers.push((res) => (answer = () => void res.end()));
    const arrival = merchant.arrival();
    const trying = sandbox.tryWebhook(merchant.webhookUrl);
    await arrival;
    let isSettled = false;
    const settled = sandbox.settled().then(() => (isSettled = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(isSettled).toBe(false);
    answer();
    await settled;
    const { requestBody, ...delivery } = await trying;
    expect(delivery).not.toHaveProperty("paymentId");
    const body = { topic: "webhook.try", timestamp: expect.any(String), type: "webhook", data: {} };
    expect(JSON.parse(requestBody)).toEqual(body);
  });

  it("tells those who listen of an attempt that was lost, too", async () => {
    await openPayment({ scenario: "webhook-dropped", retryDelaysMs: [0] });
    const heard: unknown[] = [];
    sandbox.watch((event) => event.type === "delivery" && heard.push(event.delivery));
    await sandbox.pay("c-1");
    await sandbox.settled();
    expect(heard).toEqual(sandbox.deliveries);
    expect(heard).toMatchObject([{ error: expect.stringMatching(/^lost/) }, { status: 200 }]);
  });

  it("takes the clientId of the newest other payment, or invents one", async () => {
    await openPayment({ scenario: "client-id-of-another" });
    const sent = async (clientId: string) =>
      JSON.parse((await sandbox.pay(clientId))[0]!.requestBody).data.clientId;
    expect(await sent("c-1")).toMatch(/^not-yours-[0-9a-f]{8}$/);
    for (const clientId of ["c-2", "c-3"]) await createPayment(sandbox, merchant, clientId);
    expect(await sent("c-3")).toBe("c-2");
  });

  it("adds a field whose path begins where there is none", async () => {
    await openPayment({ scenario: { name: "own", webhooks: [{ set: { "data.fee.value": "1" } }] } });
    const [delivery] = await sandbox.pay("c-1");
    expect(JSON.parse(delivery!.requestBody).data).toHaveProperty(["fee.value"], "1");
  });

  it("changes an amount below one to another amount, too, and euros to another currency", async () => {
    const change = ["amount" as const, "currency" as const];
    ({ sandbox, merchant } = await openSandbox({ scenario: { name: "own", webhooks: [{ change }] } }));
    await createPayment(sandbox, merchant, "c-1", { value: "0.50", currency: "EUR" });
    const [delivery] = await sandbox.pay("c-1");
    expect(JSON.parse(delivery!.requestBody).data.total).toEqual({ value: "10.50", currency: "KMF" });
  });

  it("holds no webhooks after it was closed, because nothing would release them", async () => {
    await openPayment();
    await sandbox.close();
    sandbox.holdWebhooks();
    expect(sandbox.webhooksHeld).toBe(false);
  });

  it("reports a cancel only with cancelWebhook, with the time and without a provider", async () => {
    await openPayment({ cancelWebhook: true });
    expect(await sandbox.cancel("c-1")).toMatchObject([{ status: 200 }]);
    const body = JSON.parse(merchant.webhooks[0]!.rawBody.toString());
    expect(body).toMatchObject({ topic: "payment.canceled", data: { status: "canceled", captured: false } });
    expect(Object.keys(body.data)).toEqual(["id", "status", "captured", "total", "submittedAt", "clientId"]);
  });

  it("lets a test pay a canceled payment", async () => {
    await openPayment();
    expect(await sandbox.cancel("c-1")).toEqual([]);
    await sandbox.pay("c-1");
    expect(JSON.parse(merchant.webhooks[0]!.rawBody.toString())).toMatchObject({
      topic: "payment.completed",
      data: { submittedAt: sandbox.find("c-1")!.completedAt, source: "MVK", providerId: expect.any(String) },
    });
  });

  it("sends to a name of this machine only where it leads to this machine", async () => {
    await openPayment();
    const { port } = new URL(merchant.webhookUrl);
    const lookup = jest.spyOn(dns, "lookup") as unknown as jest.SpyInstance<void, unknown[]>;
    const leadTo = (...addresses: string[]) =>
      lookup.mockImplementation((...given) => {
        const found = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
        (given.at(-1) as (error: null, found: object[]) => void)(null, found);
      });
    try {
      const { id } = sandbox.registerWebhook(`http://shop.localhost:${port}/webhook`);
      leadTo("127.0.0.1");
      expect(await sandbox.tryWebhook(id)).toMatchObject({ status: 200 });
      leadTo("127.0.0.1", "192.0.2.1");
      expect((await sandbox.tryWebhook(id)).error).toBe(
        "shop.localhost leads to 192.0.2.1, not to this machine",
      );
      const remote = createSandbox({ allowRemoteWebhooks: true });
      const allowed = remote.registerWebhook(`http://shop.localhost:${port}/`);
      expect(await remote.tryWebhook(allowed.id)).toMatchObject({ status: 200 });
      await remote.close();
    } finally {
      lookup.mockRestore();
    }
  });

  it("signs with the given scheme, in its header", async () => {
    const signature = {
      header: "X-Sum",
      sign: (rawBody: Buffer) => createHmac("sha512", "k").update(rawBody).digest("hex"),
    };
    await openPayment({ signature });
    await sandbox.pay("c-1");
    const { headers, rawBody } = merchant.webhooks[0]!;
    expect(headers["x-sum"]).toBe(signature.sign(rawBody));
    expect(headers).not.toHaveProperty("service-signature");
    expect(sandbox.secret).toBeUndefined();
  });

  it("signs fields, also of a payment that was never submitted", async () => {
    const scheme = fieldsSignature({ secret: "sandbox_a-secret-of-32-bytes-or-more", merchantId: "m-1" });
    await openPayment({ signature: scheme, cancelWebhook: true });
    await createPayment(sandbox, merchant, "c-2");
    await sandbox.pay("c-1");
    await sandbox.cancel("c-2");
    const verified = merchant.webhooks.map(({ headers, rawBody }) =>
      scheme.verify({ headers, rawBody, payload: JSON.parse(rawBody.toString()) }),
    );
    expect(verified).toEqual([true, true]);
  });

  it("ends held, waiting and current attempts when it is closed", async () => {
    await openPayment({ retryDelaysMs: [600_000] });
    await createPayment(sandbox, merchant, "c-2");
    await createPayment(sandbox, merchant, "c-3");
    merchant.answers.push(status(500), () => {});
    await sandbox.pay("c-1");
    const arrival = merchant.arrival();
    const unanswered = sandbox.pay("c-2");
    await arrival;
    sandbox.holdWebhooks();
    const held = sandbox.pay("c-3");
    await sandbox.close();
    const closed = [{ error: "the sandbox was closed" }];
    expect([await unanswered, await held]).toMatchObject([closed, closed]);
    expect(merchant.webhooks).toHaveLength(2);
  });

  it("waits for the delay, which ends when the sandbox is closed", async () => {
    await openPayment({ webhookDelayMs: 600_000 });
    const paid = sandbox.pay("c-1");
    await sandbox.close();
    expect(await paid).toMatchObject([{ error: "the sandbox was closed" }]);
    expect(merchant.webhooks).toEqual([]);
  });

  it.each([
    ["an unknown payment", () => sandbox.pay("c-9")],
    ["an unknown provider", () => sandbox.pay("c-1", { provider: "ZZZ" })],
    ["an unknown payment to cancel", () => sandbox.cancel("c-9")],
    ["an unknown delivery", () => sandbox.deliverAgain("d-9")],
    ["a payment that is completed", async () => (await sandbox.pay("c-1"), sandbox.pay("c-1"))],
    ["a completed payment to cancel", async () => (await sandbox.pay("c-1"), sandbox.cancel("c-1"))],
    ["a canceled payment to cancel", async () => (await sandbox.cancel("c-1"), sandbox.cancel("c-1"))],
    ["a failed payment to fail again", async () => (await sandbox.fail("c-1"), sandbox.fail("c-1"))],
    ["an address on another machine", async () => sandbox.registerWebhook("http://192.0.2.1/")],
  ])("refuses %s with a coded error", async (_what, call) => {
    await openPayment();
    await expect(call()).rejects.toMatchObject({ code: "sandbox_misused" });
  });
});

import { createHmac, timingSafeEqual } from "node:crypto";
import { type ServerResponse } from "node:http";
import { type Sandbox } from "tillkit/sandbox";
import { type Merchant } from "./merchant.js";
import { openSandbox } from "./open-sandbox.js";

interface TokenAnswer {
  access_token: string;
}

interface Envelope {
  next: string;
  data: { id: string; billing: { submitUrl: string } };
}

describe("a complete purchase at a merchant that does not use the kit", () => {
  let merchant: Merchant;
  let sandbox: Sandbox;

  beforeEach(async () => {
    ({ sandbox, merchant } = await openSandbox());
    await sandbox.start();
  });

  async function obtainToken(): Promise<string> {
    const { clientId, clientSecret } = sandbox.client;
    const response = await fetch(sandbox.tokenUrl, {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "client_credentials",
        client_id: clientId,
        client_secret: clientSecret,
      }),
    });
    const answer: TokenAnswer = JSON.parse(await response.text());
    expect(answer).toMatchObject({ token_type: "Bearer", expires_in: 3600 });
    return answer.access_token;
  }

  async function create(token: string) {
    const response = await fetch(`${sandbox.url}/v1/payments`, {
      method: "POST",
      headers: {
        Accept: "application/json",
        Authorization: `Bearer ${token}`,
        "Content-Type": "application/json",
      },
      body: JSON.stringify(merchant.order("order-7-first")),
    });
    expect(response.status).toBe(201);
    const envelope: Envelope = JSON.parse(await response.text());
    return envelope;
  }

  it("ends with the browser at the success address and a correctly signed webhook", async () => {
    const { next, data } = await create(await obtainToken());
    const { cancelUrl, successUrl } = merchant.order("order-7-first");
    expect(data).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{24}$/),
      status: "pending",
      captured: false,
      purchase: { total: { value: "1475", currency: "KMF" } },
      cancelUrl,
      successUrl,
      billing: { submitUrl: `${sandbox.url}/payment/submit/${data.id}` },
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    expect(next).toBe(data.billing.submitUrl);

    const page = await (await fetch(next)).text();
    expect(page).toContain("1,475");
    const arrival = merchant.arrival();
    const back = await fetch(next, {
      method: "POST",
      body: new URLSearchParams({ provider: "HOL", action: "approve" }),
    });
    expect(back.url).toBe(successUrl);
    expect(merchant.visited).toEqual(["/thanks?order=7&x=a%2Fb"]);

    await arrival;
    const { headers, rawBody } = merchant.webhooks[0]!;
    const expected = createHmac("sha256", sandbox.secret!).update(rawBody).digest();
    expect(timingSafeEqual(Buffer.from(String(headers["service-signature"]), "hex"), expected)).toBe(true);
    expect(headers["content-type"]).toBe("application/json");

    const body = JSON.parse(rawBody.toString("utf8"));
    expect(body).toEqual({
      topic: "payment.completed",
      timestamp: expect.stringMatching(/\.\d{3}Z$/),
      type: "payment",
      data: {
        id: data.id,
        status: "completed",
        captured: true,
        total: { value: "1475", currency: "KMF" },
        submittedAt: expect.stringMatching(/\.\d{3}Z$/),
        clientId: "order-7-first",
        providerId: expect.stringMatching(/^HOL-/),
        source: "HOL",
      },
    });
    // A merchant may depend on the order of the fields in the document (6.1, 2.3).
    expect(Object.keys(body)).toEqual(["topic", "timestamp", "type", "data"]);
    expect(Object.keys(body.data)).toEqual(
      "id status captured total submittedAt clientId providerId source".split(" "),
    );
    await sandbox.settled();
    expect(merchant.webhooks).toHaveLength(1);
    expect(sandbox.payments()).toMatchObject([{ id: data.id, status: "completed", captured: true }]);
  });

  it("ends at the cancel address without any webhook when the customer cancels", async () => {
    const { next } = await create(await obtainToken());
    const back = await fetch(next, { method: "POST", body: new URLSearchParams({ action: "cancel" }) });
    expect(back.url).toBe(merchant.order("order-7-first").cancelUrl);
    await sandbox.settled();
    expect(merchant.webhooks).toEqual([]);
    expect(sandbox.payments()).toMatchObject([{ status: "canceled", captured: false }]);
  });

  it("does not make the browser wait for a merchant that responds slowly to the webhook", async () => {
    const { next } = await create(await obtainToken());
    const waiting: ServerResponse[] = [];
    merchant.answers.push((res) => void waiting.push(res));
    const arrival = merchant.arrival();
    const back = await fetch(next, {
      method: "POST",
      body: new URLSearchParams({ provider: "MVK", action: "approve" }),
    });
    expect(back.status).toBe(200);
    await arrival;
    expect(sandbox.deliveries).toEqual([]);
    waiting[0]!.end();
    await sandbox.settled();
    expect(sandbox.deliveries).toMatchObject([{ status: 200 }]);
  });
});

import { createHmac } from "node:crypto";
import { type Sandbox } from "tillkit/sandbox";
import { createPayment } from "../create-payment.js";
import { Merchant, status } from "../merchant.js";
import { openSandbox } from "../open-sandbox.js";

describe("a webhook that a test describes", () => {
  let merchant: Merchant;
  let sandbox: Sandbox;
  beforeEach(async () => {
    ({ sandbox, merchant } = await openSandbox());
    await createPayment(sandbox, merchant, "c-1");
  });
  const arrived = () => {
    const { headers, rawBody } = merchant.webhooks.at(-1)!;
    return { signature: headers["service-signature"], headers, rawBody };
  };
  const correct = (rawBody: Buffer) => createHmac("sha256", sandbox.secret!).update(rawBody).digest("hex");

  it("is correctly signed, says completed, and changes no payment", async () => {
    merchant.answers.push((res) => res.writeHead(202).end("noted"));
    expect(await sandbox.sendWebhook({ payment: "c-1" })).toEqual({ status: 202, body: "noted" });
    const { rawBody, signature } = arrived();
    expect(signature).toBe(correct(rawBody));
    expect(JSON.parse(rawBody.toString())).toMatchObject({
      topic: "payment.completed",
      data: { clientId: "c-1", status: "completed", captured: true, submittedAt: expect.any(String) },
    });
    expect(sandbox.payments()).toMatchObject([{ status: "pending" }]);
  });

  it("has the provider and the time of a payment that was submitted, and is marked as made by hand", async () => {
    await sandbox.pay("c-1", { provider: "HOL" });
    const { submittedAt, providerId } = sandbox.find("c-1")!;
    await sandbox.clock.advance(60_000);
    await sandbox.sendWebhook({ payment: "c-1" });
    expect(JSON.parse(arrived().rawBody.toString()).data).toMatchObject({
      source: "HOL",
      submittedAt,
      providerId,
    });
    expect(sandbox.deliveries.map(({ byHand }) => byHand)).toEqual([undefined, true]);
  });

  it("has the requested changes at their places, with a correct signature", async () => {
    await sandbox.sendWebhook({
      payment: "c-1",
      overrides: { topic: "payment.failed", data: { status: "failed", providerId: undefined, extra: [1] } },
    });
    const { rawBody, signature } = arrived();
    const body = JSON.parse(rawBody.toString());
    expect(signature).toBe(correct(rawBody));
    expect(body).toMatchObject({ topic: "payment.failed", data: { status: "failed", extra: [1] } });
    expect(Object.keys(body.data)).toEqual(
      "id status captured total submittedAt clientId source extra".split(" "),
    );
  });

  it("can have another signature, none, any bytes and other headers", async () => {
    await sandbox.sendWebhook({ payment: "c-1", sign: () => "00" });
    expect(arrived().signature).toBe("00");
    await sandbox.sendWebhook({ payment: "c-1", sign: () => undefined });
    expect(arrived().headers).not.toHaveProperty("service-signature");
    const bytes = Uint8Array.of(0xff, 0x00, 0x7b);
    await sandbox.sendWebhook({ payment: "c-1", rawBody: bytes, headers: { "Content-Type": "text/plain" } });
    expect([...arrived().rawBody]).toEqual([...bytes]);
    expect(arrived().signature).toBe(correct(Buffer.from(bytes)));
    expect(arrived().headers["content-type"]).toBe("text/plain");
    await sandbox.deliverAgain(sandbox.deliveries.at(-1)!.id);
    expect([...arrived().rawBody]).toEqual([...bytes]);
  });

  it("is sent once, also while others are held", async () => {
    sandbox.holdWebhooks();
    merchant.answers.push(status(500));
    expect(await sandbox.sendWebhook({ payment: "c-1" })).toMatchObject({ status: 500 });
    await sandbox.settled();
    expect(merchant.webhooks).toHaveLength(1);
  });

  it("goes to the requested address, on this machine only", async () => {
    const other = await Merchant.open();
    sandbox.registerWebhook(other.webhookUrl);
    await sandbox.sendWebhook({ payment: "c-1" });
    expect([merchant.webhooks.splice(0).length, other.webhooks.length]).toEqual([1, 0]);
    await sandbox.sendWebhook({ payment: "c-1", url: other.webhookUrl });
    expect([merchant.webhooks.length, other.webhooks.length]).toEqual([0, 1]);
    await other.close();
    const misuse = { code: "sandbox_misused" };
    await expect(sandbox.sendWebhook({ payment: "c-1", url: other.webhookUrl })).rejects.toMatchObject(
      misuse,
    );
    await expect(sandbox.sendWebhook({ payment: "c-1", url: "http://192.0.2.1/" })).rejects.toMatchObject(
      misuse,
    );
    for (const { id } of sandbox.webhookAddresses) sandbox.unregisterWebhook(id);
    await expect(sandbox.sendWebhook({ payment: "c-1" })).rejects.toMatchObject(misuse);
  });
});

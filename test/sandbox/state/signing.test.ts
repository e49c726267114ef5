import { createHmac } from "node:crypto";
import { createSandbox, type Sandbox, type SandboxOptions, type WebhookBody } from "tillkit/sandbox";
import { Signing } from "../../../src/sandbox/state/signing.js";
import { createPayment } from "../create-payment.js";
import { Merchant } from "../merchant.js";

const secret = "sandbox_a-secret-of-32-bytes-or-more";
const hmac = (key: string, text: string | Buffer, algorithm = "sha256") =>
  createHmac(algorithm, key).update(text).digest("hex");

describe("signing webhooks", () => {
  let merchant: Merchant;
  let sandbox: Sandbox;
  beforeEach(async () => {
    merchant = await Merchant.open();
  });
  afterEach(async () => {
    await sandbox.close();
    await merchant.close();
  });

  function open(options: SandboxOptions): void {
    sandbox = createSandbox({ webhookUrls: [merchant.webhookUrl], retryDelaysMs: [], ...options });
  }
  /** Pays a new payment, and returns its webhook as it arrived. */
  async function webhookOf(clientId: string) {
    await createPayment(sandbox, merchant, clientId);
    await sandbox.pay(clientId);
    const { headers, rawBody } = merchant.webhooks.at(-1)!;
    const body: WebhookBody = JSON.parse(rawBody.toString());
    return { headers, rawBody, signature: headers["service-signature"], ...body };
  }
  const joined = ({ data }: WebhookBody, merchantId: string) =>
    [
      data.id,
      merchantId,
      data.clientId,
      data.total.value,
      data.total.currency,
      data.submittedAt,
      data.status,
    ].join(",");

  it("uses HMAC-SHA256 over the body with a generated secret by default", async () => {
    open({});
    const { rawBody, signature } = await webhookOf("c-1");
    expect(signature).toBe(hmac(sandbox.secret!, rawBody));
    expect(sandbox.signing).toMatchObject({
      scheme: "hmac",
      header: "Service-Signature",
      algorithm: "sha256",
    });
  });

  it("accepts a secret, an algorithm and a header name", async () => {
    open({ signature: { scheme: "hmac", secret, algorithm: "sha512", header: "X-Sum" } });
    const { rawBody, headers } = await webhookOf("c-1");
    expect(headers["x-sum"]).toBe(hmac(secret, rawBody, "sha512"));
    expect(headers).not.toHaveProperty("service-signature");
    expect(sandbox.secret).toBe(secret);
  });

  it("signs fields in the order that services of this kind use", async () => {
    open({ signature: { scheme: "fields", secret, merchantId: "m-1" } });
    const webhook = await webhookOf("c-1");
    expect(webhook.signature).toBe(hmac(secret, joined(webhook, "m-1")));
    expect(sandbox.signing).toMatchObject({ scheme: "fields", merchantId: "m-1" });
  });

  it("signs the fields that are listed", async () => {
    const fields = ["status", "clientId", "total.currency", "total.value", "id", "topic"] as const;
    open({ signature: { scheme: "fields", secret, fields } });
    const { signature, data, topic } = await webhookOf("c-1");
    const { status, clientId, total, id } = data;
    expect(signature).toBe(
      hmac(secret, [status, clientId, total.currency, total.value, id, topic].join(",")),
    );
  });

  it.each(["hmac", "fields"] as const)(
    "rotates the secret of %s: the new one signs, and the old one is still shown",
    async (scheme) => {
      open({ signature: { scheme, secret } });
      expect(sandbox.signing).not.toHaveProperty("previousSecret");
      const fresh = sandbox.rotateSecret();
      expect(fresh).toMatch(/^sandbox_[0-9a-f]{48}$/);
      expect(sandbox.signing).toMatchObject({ secret: fresh, previousSecret: secret });
      expect(sandbox.secret).toBe(fresh);
      const webhook = await webhookOf("c-1");
      const signed = scheme === "hmac" ? webhook.rawBody : joined(webhook, "sandbox-merchant");
      expect(webhook.signature).toBe(hmac(fresh, signed));
    },
  );

  it("signs with the secret before the last rotation in the scenario signature-old-secret", async () => {
    open({ signature: { scheme: "hmac", secret }, scenario: "signature-old-secret" });
    sandbox.rotateSecret();
    const { rawBody, signature } = await webhookOf("c-1");
    expect(signature).toBe(hmac(secret, rawBody));
  });

  it("shows no previous secret where none was rotated", async () => {
    open({ scenario: "signature-old-secret" });
    const { rawBody, signature } = await webhookOf("c-1");
    expect(signature).toMatch(/^[0-9a-f]{64}$/);
    expect(signature).not.toBe(hmac(sandbox.secret!, rawBody));
    expect(sandbox.signing).not.toHaveProperty("previousSecret");
  });

  it("shows and rotates no secret of a custom scheme", async () => {
    const own = { header: "X-Own", sign: (rawBody: Buffer) => `v1=${rawBody.length}` };
    open({ signature: own });
    expect(sandbox.signing).toEqual({ scheme: "custom", header: "X-Own" });
    expect(() => sandbox.rotateSecret()).toThrow(expect.objectContaining({ code: "sandbox_misused" }));
    const { rawBody, headers } = await webhookOf("c-1");
    expect(headers["x-own"]).toBe(`v1=${rawBody.length}`);
    sandbox.scenario("signature-wrong");
    const altered = (await webhookOf("c-2")).headers["x-own"];
    expect(altered).toMatch(/^v1=\d+$/);
    expect(altered).not.toBe(`v1=${merchant.webhooks.at(-1)!.rawBody.length}`);
  });

  it("joins field values without checks where the kit would refuse to sign", async () => {
    open({
      signature: { scheme: "fields", secret, merchantId: "m-1" },
      scenario: {
        name: "careless",
        webhooks: [{ set: { "data.total.value": 1475, "data.clientId": "a,b", "data.submittedAt": null } }],
      },
    });
    const webhook = await webhookOf("c-1");
    expect(webhook.data).toMatchObject({ total: { value: 1475 }, clientId: "a,b" });
    expect(webhook.signature).toBe(hmac(secret, joined(webhook, "m-1")));
  });

  it("joins the listed fields without checks, with the algorithm that was given", async () => {
    const own = ["type", "timestamp", "topic", "clientId"] as const;
    const fields = [...own, "id", "status", "total.value", "total.currency"] as const;
    open({
      signature: { scheme: "fields", secret, algorithm: "sha512", fields },
      scenario: { name: "careless", webhooks: [{ set: { "data.clientId": "a,b" } }] },
    });
    const { signature, type, timestamp, topic, data } = await webhookOf("c-1");
    const { id, status, total } = data;
    const values = [type, timestamp, topic, "a,b", id, status, total.value, total.currency];
    expect(signature).toBe(hmac(secret, values.join(","), "sha512"));
  });

  it("alters the last digit of a custom signature, whatever the digit is", () => {
    open({});
    const altered = (signature: string) =>
      new Signing({ header: "X-Own", sign: () => signature }).signWrongly(Buffer.from(""), "wrong");
    expect([altered("a0"), altered("a1"), altered("af")]).toEqual(["a1", "a0", "a0"]);
  });

  it("has one secret that was never valid for old signatures, and a new one for each wrong signature", () => {
    open({});
    const signing = new Signing(undefined);
    const twice = (how: "wrong" | "old-secret") =>
      new Set([1, 2].map(() => signing.signWrongly(Buffer.from("{}"), how))).size;
    expect([twice("old-secret"), twice("wrong")]).toEqual([1, 2]);
  });

  it("sends a webhook unsigned where a custom scheme fails", async () => {
    const sign = (): string => {
      throw new Error("cannot");
    };
    open({ signature: { header: "X-Own", sign } });
    expect((await webhookOf("c-1")).headers).not.toHaveProperty("x-own");
  });

  it("refuses a secret without the prefix of a sandbox", () => {
    expect(() =>
      createSandbox({ signature: { scheme: "hmac", secret: "whsec_real-secret-of-a-service" } }),
    ).toThrow(expect.objectContaining({ code: "option_invalid" }));
    open({});
  });
});

import request from "supertest";
import {
  type defaultSignedFields,
  fieldsSignature,
  type Payments,
  type PaymentStore,
  type SignatureScheme,
  type TillkitEvent,
} from "tillkit";
import { indispensableFields } from "../../src/model/signed-fields.js";
import { receiveWebhook, type ReceiveParts } from "../../src/webhook/receive-webhook.js";
import { type Arrival } from "../../src/webhook/recording/arrival.js";
import { appOf, closeAll, secret, testKit } from "../support/kit.js";
import { completedBody, pendingPayment, signed, statusBody } from "../support/webhooks.js";

afterEach(closeAll);

async function seed<Tx>(store: PaymentStore<Tx>, ...payments: ReturnType<typeof pendingPayment>[]) {
  await store.transaction((tx) => store.save(tx, { created: payments }));
}

/** Posts a webhook as the service does. */
function post(app: ReturnType<typeof appOf>, body: unknown) {
  const { rawBody, headers } = signed(body);
  return request(app).post("/payments/webhook").set(headers).send(rawBody.toString());
}

describe("a signed webhook", () => {
  it("completes its payment, calls the handler once, and is answered 200", async () => {
    const payments = testKit();
    const seen: TillkitEvent<"payment.completed">[] = [];
    const handled = new Promise<void>((resolve) => {
      payments.onPaymentCompleted((event) => {
        seen.push(event);
        resolve();
      });
    });
    await seed(payments.store, pendingPayment());

    const response = await post(appOf(payments), completedBody());

    expect(response.status).toBe(200);
    expect(await payments.find("c-1")).toMatchObject({ state: "completed", open: false });
    await handled;
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({
      type: "payment.completed",
      payment: { reference: "order-1", total: { value: "1475", currency: "KMF" } },
      verified: { providerId: "MVK-778" },
    });
  });

  it("that reports a second transfer for a completed payment waits for a person, and no copy of it does", async () => {
    const payments = testKit();
    await seed(payments.store, pendingPayment());
    const outcomes: string[] = [];
    for (const providerId of ["MVK-778", "MVK-778", "mvk 778", "MVK-779", "MVK-779"])
      outcomes.push((await payments.receiveWebhook(signed(completedBody({ providerId })))).outcome);
    expect(outcomes).toEqual(["applied", "duplicate", "stale", "mismatch", "duplicate"]);
    expect(await payments.find("c-1")).toMatchObject({ reported: { providerId: "MVK-778" } });
    const { entries } = await payments.attention();
    expect(entries).toMatchObject([{ rule: "mismatched", clientId: "c-1" }]);
    expect(entries[0]!.why).toContain("providerId: expected MVK-778, got MVK-779");
    const [, command] = entries[0]!.next.split("\n");
    expect(command).toContain("tillkit resolve dismiss --receipt-id ");
    const { receiptId } = (await payments.store.webhooks({ need: "mismatched", limit: 1 }))[0]!;
    await payments.resolve({ action: "dismiss", receiptId, by: "Amina", reason: "no money came" });
    expect((await payments.attention()).entries).toEqual([]);
  });

  it.each([
    ["the Headers of a Request", (headers: Record<string, string>) => new Headers(headers)],
    // Some frameworks have Headers of their own, which are a list of pairs too.
    [
      "the Headers of a framework",
      (headers: Record<string, string>) => new Map(Object.entries(headers)) as unknown as Headers,
    ],
    [
      "names in other cases",
      (headers: Record<string, string>) =>
        Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value])),
    ],
  ])("is verified with %s, and refused with two signatures", async (_, given) => {
    const payments = testKit();
    await seed(payments.store, pendingPayment());
    const { rawBody, headers } = signed(completedBody());
    const request = { rawBody, headers: given(headers) };
    expect(await payments.receiveWebhook(request)).toMatchObject({ outcome: "applied" });
    const signature = headers["service-signature"];
    const twice = { "Service-Signature": signature, "SERVICE-SIGNATURE": signature };
    await expect(payments.receiveWebhook({ rawBody, headers: twice })).rejects.toMatchObject({
      code: "signature_malformed",
    });
    await expect(payments.receiveWebhook({ rawBody, headers: new Headers() })).rejects.toMatchObject({
      code: "signature_missing",
    });
  });

  it.each([
    ["a Uint8Array", (bytes: Buffer) => new Uint8Array(bytes)],
    ["a part of a larger memory", (bytes: Buffer) => new Uint8Array([1, 2, ...bytes, 3]).subarray(2, -1)],
    ["an ArrayBuffer", (bytes: Buffer) => new Uint8Array(bytes).buffer],
  ])("is taken as the bytes of %s, and kept as they are", async (_, given) => {
    const payments = testKit();
    await seed(payments.store, pendingPayment());
    const { rawBody, headers } = signed(completedBody());
    const { outcome } = await payments.receiveWebhook({ headers, rawBody: given(rawBody) });
    expect(outcome).toBe("applied");
    expect(await payments.find("c-1")).toMatchObject({ state: "completed" });
    expect((await payments.store.webhooks({ limit: 1 }))[0]!.rawBody.equals(rawBody)).toBe(true);
  });

  it("is decoded from a Uint8Array for a signature over fields, too", async () => {
    const scheme = fieldsSignature({ secret, merchantId: "m-1" });
    const payments = testKit({ signature: scheme });
    await seed(payments.store, pendingPayment());
    const rawBody = new Uint8Array(Buffer.from(JSON.stringify(completedBody())));
    const headers = { "service-signature": scheme.sign(rawBody as Buffer) };
    expect((await payments.receiveWebhook({ headers, rawBody })).outcome).toBe("applied");
  });

  it("is refused as unsigned where the headers were forgotten", async () => {
    const given = { rawBody: signed(completedBody()).rawBody } as never;
    await expect(testKit().receiveWebhook(given)).rejects.toMatchObject({ code: "signature_missing" });
  });

  it.each([
    ["a string", "{}"],
    ["a parsed body", {}],
    ["numbers", [123, 125]],
    ["nothing", undefined],
    ["null", null],
  ])("is refused with a code where the body is %s, because its bytes are lost", async (_, rawBody) => {
    const payments = testKit();
    const given = { headers: signed(completedBody()).headers, rawBody } as never;
    await expect(payments.receiveWebhook(given)).rejects.toMatchObject({
      name: "WebhookRejectedError",
      code: "raw_body_consumed",
    });
    expect(await payments.store.webhooks({ limit: 1 })).toEqual([]);
  });

  it("is kept with the time of its arrival, also after the clock was put back", async () => {
    const times = ["2026-11-20T11:00:00.000Z", "2026-11-20T10:00:00.000Z", "2026-11-20T10:00:00.001Z"];
    let now = times[0]!;
    const payments = testKit({ now: () => new Date(now) });
    for (now of times) await payments.receiveWebhook(signed(completedBody({ submittedAt: now })));
    const kept = await payments.store.webhooks({ limit: 10 });
    expect(kept.map(({ receivedAt }) => receivedAt)).toEqual(times.toSorted());
  });

  it("that arrives in 100 simultaneous copies has one effect and 100 answers of 200", async () => {
    const payments = testKit();
    let effects = 0;
    payments.onPaymentCompleted(() => void (effects += 1));
    const all: string[] = [];
    const settled = new Promise<void>((resolve) => payments.onAny(({ type }) => (all.push(type), resolve())));
    await seed(payments.store, pendingPayment());
    const app = appOf(payments);

    const responses = await Promise.all(Array.from({ length: 100 }, () => post(app, completedBody())));

    expect(responses.map(({ status }) => status)).toEqual(Array(100).fill(200));
    await settled;
    await payments.close();
    expect(effects).toBe(1);
    expect(all).toEqual(["payment.completed"]);
  });

  it("with another amount changes nothing and says which field differs", async () => {
    const payments = testKit();
    const mismatch = new Promise<TillkitEvent<"payment.mismatched">>((resolve) => {
      payments.on("payment.mismatched", resolve);
    });
    payments.onPaymentCompleted(() => {
      throw new Error("must not be called");
    });
    await seed(payments.store, pendingPayment());

    const response = await post(appOf(payments), completedBody({ total: { value: "1", currency: "KMF" } }));

    expect(response.status).toBe(200);
    expect((await mismatch).differences).toEqual([{ field: "total.value", expected: "1475", got: "1" }]);
    expect(await payments.find("c-1")).toMatchObject({ state: "pending" });
  });

  it("of an unknown status is kept, applied and visible as an event", async () => {
    const payments = testKit();
    const updated = new Promise<TillkitEvent<"payment.updated">>((resolve) =>
      payments.on("payment.updated", resolve),
    );
    await seed(payments.store, pendingPayment());

    const response = await post(appOf(payments), statusBody("under_review", { captured: false }));

    expect(response.status).toBe(200);
    expect(await updated).toMatchObject({ previousStatus: "pending", payment: { status: "under_review" } });
  });

  it("of an unknown status, for a payment that is completed, changes nothing and is visible all the same", async () => {
    const payments = testKit();
    const reported = new Promise<TillkitEvent<"payment.reported">>((resolve) => {
      payments.on("payment.reported", resolve);
    });
    await seed(payments.store, pendingPayment({ state: "completed", status: "completed", open: false }));

    const response = await post(appOf(payments), statusBody("refunded", { captured: true }));

    expect(response.status).toBe(200);
    expect(await reported).toMatchObject({
      verified: { status: "refunded" },
      payment: { status: "completed" },
    });
  });

  it("that corrects a contradictory one is no copy of it", async () => {
    const payments = testKit();
    await seed(payments.store, pendingPayment());
    const app = appOf(payments);
    await post(app, completedBody({ captured: false })).expect(200);
    expect(await payments.find("c-1")).toMatchObject({ state: "pending" });
    await post(app, completedBody({ captured: true })).expect(200);
    expect(await payments.find("c-1")).toMatchObject({ state: "completed" });
  });

  it("about something other than a payment is kept and visible", async () => {
    const payments = testKit();
    const seen = new Promise<TillkitEvent<"webhook.unrecognised">>((resolve) => {
      payments.on("webhook.unrecognised", resolve);
    });
    const body = { topic: "payout.sent", timestamp: "2026-11-20T10:00:00.000Z", type: "payout", data: {} };
    expect((await post(appOf(payments), body)).status).toBe(200);
    // The `type` of an event is its own name, not that of the message.
    expect(await seen).toMatchObject({
      type: "webhook.unrecognised",
      topic: "payout.sent",
      messageType: "payout",
    });
  });

  it.each([
    ["is not JSON", "{"],
    ["has duplicate keys", '{"topic":"a","topic":"b"}'],
    ["lacks its payment", JSON.stringify({ topic: "payment.completed", type: "payment" })],
  ])("whose content %s is answered 200, kept, and reaches no handler of a completion", async (_, body) => {
    const payments = testKit();
    payments.onPaymentCompleted(() => {
      throw new Error("must not be called");
    });
    const seen = new Promise<TillkitEvent<"webhook.inadmissible">>((resolve) => {
      payments.on("webhook.inadmissible", resolve);
    });
    expect((await post(appOf(payments), body)).status).toBe(200);
    expect((await seen).reason.length).toBeGreaterThan(0);
  });
});

describe("a webhook under a merchant's own scheme", () => {
  /** Returns the parts of a kit whose scheme does what the test says. */
  const partsOf = (verify: SignatureScheme["verify"]) => {
    const kept: Arrival[] = [];
    const parts: ReceiveParts = {
      scheme: { covers: "body", header: "x-signature", verify },
      keep: (arrival) => (kept.push(arrival), Promise.resolve({ receiptId: "r-1", outcome: "applied" })),
      now: () => new Date("2026-11-20T10:00:05.000Z"),
      newId: () => "r-1",
    };
    return { parts, kept };
  };
  const rawBody = Buffer.from(JSON.stringify(completedBody()));
  const sent = { headers: { "x-signature": "s" }, rawBody, method: "POST", url: "/payments/webhook?a=1" };

  it.each([
    ["which verifies synchronously", () => true],
    ["which asks somebody else first", () => Promise.resolve(true)],
  ])("%s is kept with its bytes, its time and what was signed", async (_, verify) => {
    const seen: unknown[] = [];
    const { parts, kept } = partsOf((input) => (seen.push(input), verify()));
    expect(await receiveWebhook(parts, sent)).toEqual({ receiptId: "r-1", outcome: "applied" });
    expect(seen).toEqual([sent]);
    const receivedAt = "2026-11-20T10:00:05.000Z";
    expect(kept).toMatchObject([
      { receiptId: "r-1", receivedAt, rawBody, covers: "body", message: { verified: { clientId: "c-1" } } },
    ]);
  });

  it.each<[string, SignatureScheme["verify"], string]>([
    ["says no", () => false, "signature_mismatch"],
    ["says no later", () => Promise.resolve(false), "signature_mismatch"],
    [
      "throws",
      () => {
        throw new Error("no key");
      },
      "signature_check_failed",
    ],
    ["rejects", () => Promise.reject(new Error("no key")), "signature_check_failed"],
  ])("which %s rejects and is not kept", async (_, verify, code) => {
    const { parts, kept } = partsOf(verify);
    await expect(receiveWebhook(parts, sent)).rejects.toMatchObject({ code });
    expect(kept).toEqual([]);
  });

  it("is decoded for the scheme only where fields are signed", async () => {
    const payloads: unknown[] = [];
    const { parts } = partsOf(({ payload }) => (payloads.push(payload), true));
    await receiveWebhook(parts, sent);
    const scheme = { ...parts.scheme, covers: indispensableFields };
    await receiveWebhook({ ...parts, scheme }, sent);
    expect(payloads).toEqual([undefined, completedBody()]);
  });
});

type Covered = Exclude<(typeof defaultSignedFields)[number], "merchantId">;

describe("a webhook whose signature covers fields only", () => {
  const fields = fieldsSignature({ secret, merchantId: "m-1" });
  const send = (payments: Payments<Covered>, body: unknown, signature?: string) => {
    const { rawBody, headers } = signed(
      body,
      typeof body === "string" ? { sign: () => signature ?? "" } : fields,
    );
    return request(appOf(payments))
      .post("/payments/webhook")
      .set({ ...headers, "service-signature": signature ?? headers["service-signature"] })
      .send(rawBody.toString());
  };

  it("completes its payment whatever an unsigned field claims, which handlers see as untrusted", async () => {
    const payments = testKit({ signature: fields });
    const completed = new Promise<TillkitEvent<"payment.completed", Covered>>((resolve) =>
      payments.onPaymentCompleted(resolve),
    );
    await seed(payments.store, pendingPayment());
    const body = completedBody({ captured: false, source: { a: [1] } }, { topic: "payment.failed", type: 7 });

    expect((await send(payments, body)).status).toBe(200);
    const event = await completed;
    expect(event.verified).toMatchObject({ clientId: "c-1", status: "completed" });
    expect(event.verified).not.toHaveProperty("topic");
    expect(event.untrusted).toMatchObject({ topic: "payment.failed", captured: false, source: { a: [1] } });
  });

  it("is answered 400 where the fields cannot be read, and 401 where they are not those that were signed", async () => {
    const payments = testKit({ signature: fields });
    const good = fields.sign(Buffer.from(JSON.stringify(completedBody())));
    expect((await send(payments, "{", good)).status).toBe(400);
    const twice = JSON.stringify(completedBody()).replace('"status":', '"\\u0073tatus":"pending","status":');
    expect((await send(payments, twice, good)).status).toBe(400);
    const other = JSON.stringify(completedBody({ clientId: "c-2" }));
    expect((await send(payments, other, good)).status).toBe(401);
  });
});

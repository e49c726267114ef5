import request from "supertest";
import { createSandbox, type Sandbox, type SandboxEvent, type SandboxOptions } from "tillkit/sandbox";
import { unwrittenBench } from "../unwritten-bench.js";

const order = {
  purchase: { total: { value: "1475", currency: "KMF" } },
  clientId: "c-1",
  cancelUrl: "http://shop.example/cancel",
  successUrl: "https://shop.example/success",
};

function post(sandbox: Sandbox, body: object | string, token = sandbox.accessToken()) {
  return request(sandbox.app)
    .post("/v1/payments")
    .set("Authorization", `Bearer ${token}`)
    .set("Content-Type", "application/json")
    .send(body);
}

describe("creating a payment", () => {
  const sendWhileUnwritten = unwrittenBench();

  it.each([
    ["10.50", "EUR"],
    ["0.01", "EUR"],
    ["1475.00", "KMF"],
    ["1234567890123456.7891", "HRK"],
  ])("accepts the amount %s %s unchanged", async (value, currency) => {
    const body = { ...order, purchase: { total: { value, currency } } };
    const response = await post(createSandbox(), body).expect(201);
    expect(response.body.data.purchase.total).toEqual({ value, currency });
  });

  it("is answered only when the payment is on disk", async () => {
    const { isEarly, answer } = await sendWhileUnwritten({}, async (sandbox) => () => post(sandbox, order));
    expect([isEarly, answer.status]).toEqual([false, 201]);
  });

  it("refuses more decimals than the currency has, unless it is lenient", async () => {
    const body = { ...order, purchase: { total: { value: "14.75", currency: "KMF" } } };
    const { detail } = (await post(createSandbox(), body).expect(400)).body;
    expect(detail).toBe("purchase.total.value must have no more decimals than KMF has, not 14.75.");
    await post(createSandbox({ strict: false }), body).expect(201);
  });

  it("keeps each refused request with its reason, for the dashboard and for those who listen", async () => {
    const sandbox = createSandbox({ now: () => new Date("2026-11-20T10:00:00.000Z") });
    const heard: SandboxEvent[] = [];
    const stop = sandbox.watch((event) => heard.push(event));
    await post(sandbox, order, "unknown").expect(401);
    await post(sandbox, { ...order, successUrl: "/paid" }).expect(400);
    await request(sandbox.app).get("/v1/refunds?a=b").set("Authorization", `Bearer ${sandbox.accessToken()}`);
    await request(sandbox.app).post("/oauth/token").type("form").send({ grant_type: "password" }).expect(400);
    const at = "2026-11-20T10:00:00.000Z";
    expect(sandbox.refusals).toEqual([
      { at, request: "POST /v1/payments", status: 401, detail: expect.stringMatching(/was not issued by/) },
      { at, request: "POST /v1/payments", status: 400, detail: expect.stringMatching(/^successUrl must be/) },
      { at, request: "GET /v1/refunds", status: 404, detail: expect.stringMatching(/shows one address/) },
      { at, request: "POST /oauth/token", status: 400, detail: expect.stringMatching(/client_credentials/) },
    ]);
    expect(heard).toEqual(sandbox.refusals.map((refusal) => ({ type: "refusal", refusal })));
    stop();
    await request(sandbox.app)
      .post(`/v1/${"r".repeat(300)}`)
      .expect(404);
    expect(heard).toHaveLength(4);
    expect(sandbox.refusals[4]!.request).toBe(`POST /v1/${"r".repeat(196)}`);
    const { text } = await request(sandbox.app).get("/").expect(200);
    for (const { detail } of sandbox.refusals.slice(0, 4)) expect(text).toContain(detail.slice(0, 30));
  });

  it("keeps only the last hundred refused requests", async () => {
    const sandbox = createSandbox();
    for (let number = 0; number <= 100; number += 1)
      await request(sandbox.app).post(`/v1/refunds/${number}`).expect(404);
    expect(sandbox.refusals).toHaveLength(100);
    expect([sandbox.refusals[0], sandbox.refusals.at(-1)]).toMatchObject([
      { request: "POST /v1/refunds/1" },
      { request: "POST /v1/refunds/100" },
    ]);
  });

  it("accepts a clientId of 255 characters, and no longer one", async () => {
    const lengths = [255, 256].map((length) => ({ ...order, clientId: "c".repeat(length) }));
    const answers = await Promise.all(lengths.map((body) => post(createSandbox(), body)));
    expect(answers.map(({ status }) => status)).toEqual([201, 400]);
  });

  it("takes a currency in small letters, and one return address for both, if it is lenient", async () => {
    const sandbox = createSandbox({ strict: false, echoClientId: true });
    const { successUrl, cancelUrl, ...others } = order;
    const purchase = { total: { value: 1475, currency: "kmf" } };
    const dataOf = async (clientId: string, urls: object) =>
      (await post(sandbox, { ...others, purchase, clientId, ...urls }).expect(201)).body.data;
    expect(await dataOf("c-1", { successUrl })).toMatchObject({
      purchase: { total: { value: "1475", currency: "KMF" } },
      successUrl,
      cancelUrl: successUrl,
    });
    expect(await dataOf("c-2", { cancelUrl })).toMatchObject({ successUrl: cancelUrl, cancelUrl });
    const neither = await post(sandbox, { ...others, clientId: "c-3" }).expect(400);
    expect(neither.body.detail).toBe("successUrl is missing.");
  });

  it("omits clientId in the response, as the document says, unless echoClientId is on", async () => {
    const silent = await post(createSandbox(), order).expect(201);
    expect(silent.body.data).not.toHaveProperty("clientId");
    const echoing = await post(createSandbox({ echoClientId: true }), order).expect(201);
    expect(echoing.body.data.clientId).toBe(order.clientId);
  });

  it("ignores fields that the document does not show", async () => {
    const inherited = JSON.stringify(order).replace("{", '{"__proto__":{"status":"completed"},"note":1,');
    const { body } = await post(createSandbox(), inherited).expect(201);
    expect(body.data.status).toBe("pending");
  });

  it("begins the checkout address with the public address where one is given", async () => {
    const sandbox = createSandbox({ publicUrl: "https://pay.example/" });
    const { body } = await post(sandbox, order).expect(201);
    expect(body.next).toBe(`https://pay.example/payment/submit/${body.data.id}`);
    expect(sandbox.tokenUrl).toBe("https://pay.example/oauth/token");
  });

  it("refuses a clientId that was used before, and explains why", async () => {
    const sandbox = createSandbox();
    await post(sandbox, order).expect(201);
    const { body } = await post(sandbox, order).expect(400);
    expect(body).toEqual({
      status: 400,
      title: "Invalid payment",
      detail: expect.stringContaining("clientId already used"),
    });
    expect(sandbox.payments()).toHaveLength(1);
  });

  const total = (changes: object) => ({ purchase: { total: { ...order.purchase.total, ...changes } } });
  it.each([
    ["an amount that is a number", total({ value: 1475 }), "purchase.total.value must be a string"],
    ["an amount with a comma", total({ value: "1,475" }), "purchase.total.value must be a decimal string"],
    ["an exponent", total({ value: "1e3" }), "purchase.total.value must be a decimal string"],
    ["an amount of 17 digits", total({ value: "12345678901234567" }), "value must be a decimal string"],
    ["an amount that begins with zero", total({ value: "01" }), "value must be a decimal string"],
    ["a negative amount", total({ value: "-5" }), "purchase.total.value must be a decimal string"],
    ["an amount of zero", total({ value: "0.00" }), "purchase.total.value must be above zero"],
    [
      "a currency in small letters",
      total({ currency: "kmf" }),
      "purchase.total.currency must be three capital",
    ],
    ["a currency of four letters", total({ currency: "EURO" }), "currency must be three capital letters"],
    ["no currency", total({ currency: undefined }), "purchase.total.currency is missing"],
    ["no purchase", { purchase: undefined }, "purchase is missing"],
    ["no clientId", { clientId: undefined }, "clientId is missing"],
    ["an empty clientId", { clientId: "" }, "clientId must have 1 to 255 characters"],
    ["a control character in clientId", { clientId: "a\nb" }, "clientId must have 1 to 255 characters"],
    ["a relative address", { successUrl: "/thanks" }, "successUrl must be an absolute http or https address"],
    ["an ftp address", { successUrl: "ftp://shop.example/" }, "successUrl must be an absolute http"],
    ["an address without a host", { successUrl: "http://:80/" }, "successUrl must be an absolute http"],
    ["a javascript address", { cancelUrl: "javascript:alert(1)" }, "cancelUrl must be an absolute http"],
    [
      "a line break in an address",
      { cancelUrl: "http://a.example/\r\nx" },
      "cancelUrl must be an absolute http",
    ],
    ["a list", [order], "The body must be a JSON object"],
  ])("refuses %s and explains the rule", async (_what, changes, sentence) => {
    const body = Array.isArray(changes) ? changes : { ...order, ...changes };
    const sandbox = createSandbox();
    const response = await post(sandbox, body).expect(400);
    expect(response.body).toEqual({
      status: 400,
      title: "Invalid payment",
      detail: expect.stringContaining(sentence),
    });
    expect(sandbox.payments()).toEqual([]);
  });

  it("accepts an address whose scheme is in capital letters", async () => {
    const successUrl = "HTTPS://shop.example/";
    expect((await post(createSandbox(), { ...order, successUrl })).body.data).toMatchObject({ successUrl });
  });

  it("reports every problem in one response", async () => {
    const { body } = await post(createSandbox(), {}).expect(400);
    for (const field of ["purchase", "clientId", "cancelUrl", "successUrl"]) {
      expect(body.detail).toContain(`${field} is missing`);
    }
  });

  it("refuses a body that is not JSON in the same form", async () => {
    const sandbox = createSandbox();
    expect((await post(sandbox, "{").expect(400)).body).toMatchObject({ status: 400, title: "Not JSON" });
    const form = await post(sandbox, "a=1").set("Content-Type", "text/plain").expect(400);
    expect(form.body.detail).toContain("Content-Type: application/json");
    await post(sandbox, { ...order, note: "x".repeat(70_000) }).expect(413);
    await post(sandbox, { ...order, note: "x".repeat(60_000) }).expect(201);
  });

  it.each<[string, string, RegExp, Record<string, string>?]>([
    ["is cut off", JSON.stringify(order).slice(0, -2), /^The body could not be read as JSON: .+\.$/],
    ["is a JSON string", '"order"', /^The body must be a JSON object/],
    ["is null", "null", /^The body must be a JSON object/],
    [
      "has another charset",
      JSON.stringify(order),
      /^Send the body in UTF-8, not in ISO-8859-1\.$/i,
      { "Content-Type": "application/json; charset=iso-8859-1" },
    ],
    ["has an encoding", "{}", /without Content-Encoding/, { "Content-Encoding": "zstd" }],
    ["is not compressed", "{}", /^The body could not be read: .+\.$/, { "Content-Encoding": "gzip" }],
  ])("says what is wrong with a body that %s", async (_what, body, detail, headers = {}) => {
    const sandbox = createSandbox();
    const response = await post(sandbox, body).set(headers).expect(400);
    expect(response.body.detail).toMatch(detail);
    expect(sandbox.refusals).toMatchObject([{ detail: response.body.detail }]);
  });

  it("refuses bytes that are no UTF-8, which would become another clientId", async () => {
    const body = JSON.stringify({ ...order, clientId: "caf\u00e9" });
    const sending = post(createSandbox(), "").serialize(() => Buffer.from(body, "latin1") as never);
    expect((await sending.send({}).expect(400)).body.detail).toContain("UTF-8");
  });

  it("takes the address as the document writes it, unless it is lenient", async () => {
    const authorized = (sandbox: Sandbox, path: string) =>
      request(sandbox.app).post(path).auth(sandbox.accessToken(), { type: "bearer" }).send(order);
    for (const path of ["/v1/payments/", "/V1/Payments"]) {
      expect((await authorized(createSandbox(), path).expect(404)).body.detail).toContain(
        "POST /v1/payments",
      );
      await authorized(createSandbox({ strict: false }), path).expect(201);
    }
  });

  it.each([
    ["post", "/v2/payments"],
    ["post", "/payments"],
    ["post", "/"],
    ["post", "//v1/payments"],
    ["get", "/v2/payments/1"],
    ["put", "/api/v1/payments"],
  ] as const)("keeps a request with a wrong address as a refused one: %s %s", async (method, path) => {
    const sandbox = createSandbox();
    const sending = request(sandbox.app)[method](path).auth(sandbox.accessToken(), { type: "bearer" });
    const { body } = await sending.expect(404);
    expect(body).toEqual({
      status: 404,
      title: "Not found",
      detail: expect.stringContaining("/v1/payments"),
    });
    const refused = { request: `${method.toUpperCase()} ${path}`, status: 404, detail: body.detail };
    expect(sandbox.refusals).toMatchObject([refused]);
  });

  it("keeps no page that a browser did not find", async () => {
    const sandbox = createSandbox({ publicUrl: "https://pay.example/box" });
    const { text } = await request(sandbox.app).get("/nothing").expect(404);
    expect(text).toContain('href="https://pay.example/box/"');
    await request(sandbox.app).head("/nothing").expect(404);
    for (const accept of ["text/html,*/*", "image/avif,*/*"])
      expect((await request(sandbox.app).get("/nothing").set("Accept", accept).expect(404)).type).toBe(
        "text/html",
      );
    await request(sandbox.app).post("/nothing").set("Accept", "text/html").expect(404);
    expect(sandbox.refusals).toEqual([]);
  });
});

describe("the access token", () => {
  it.each([
    ["no token", undefined, "Bearer"],
    ["another scheme", "Basic abc", "Bearer"],
    ["an unknown token", "Bearer sandbox_0000", 'Bearer error="invalid_token"'],
  ])("is required: %s gets status 401 before the body is read", async (_what, header, challenge) => {
    const sending = request(createSandbox().app).post("/v1/payments").set("Content-Type", "application/json");
    if (header !== undefined) sending.set("Authorization", header);
    const response = await sending.send("{").expect(401);
    expect(response.body).toEqual({ status: 401, title: "Unauthorized", detail: expect.any(String) });
    expect(response.get("WWW-Authenticate")).toBe(challenge);
    expect(response.get("Cache-Control")).toBe("no-store");
  });

  it("follows its scheme, in small letters too", async () => {
    const sandbox = createSandbox();
    const authorization = `bearer  ${sandbox.accessToken()}`;
    expect((await post(sandbox, order).set("Authorization", authorization)).status).toBe(201);
  });

  it("expires after its lifetime, by the sandbox's clock", async () => {
    let now = Date.parse("2030-01-01T00:00:00.000Z");
    const sandbox = createSandbox({ accessTokenTtlSeconds: 60, now: () => new Date(now) });
    const token = sandbox.accessToken();
    now += 59_999;
    const { body } = await post(sandbox, order, token).expect(201);
    expect(body.data.createdAt).toBe("2030-01-01T00:00:59.999Z");
    now += 1;
    const late = await post(sandbox, { ...order, clientId: "c-2" }, token).expect(401);
    expect(late.body.detail).toContain("expired");
  });

  it("can have its own lifetime, and can be revoked", async () => {
    const sandbox = createSandbox();
    const short = await post(sandbox, order, sandbox.accessToken({ ttlSeconds: 0 }));
    const token = sandbox.accessToken();
    sandbox.revokeAccessTokens();
    const revoked = await post(sandbox, order, token);
    expect([short.status, revoked.status]).toEqual([401, 401]);
    expect([short.body.detail, revoked.body.detail]).toEqual([
      expect.stringContaining("has expired"),
      expect.stringContaining("was revoked"),
    ]);
  });
});

const get = (sandbox: Sandbox, path: string) =>
  request(sandbox.app).get(path).set("Authorization", `Bearer ${sandbox.accessToken()}`);
const withPayment = async (options: SandboxOptions) => {
  const sandbox = createSandbox(options);
  const { body } = await post(sandbox, order).expect(201);
  return { sandbox, id: String(body.data.id) };
};

describe("what the document does not show", () => {
  it("is off by default: payments cannot be read back", async () => {
    const { sandbox, id } = await withPayment({});
    expect((await get(sandbox, "/v1/payments").expect(405)).get("Allow")).toBe("POST");
    expect((await get(sandbox, `/v1/payments/${id}`).expect(404)).body.status).toBe(404);
    await get(sandbox, "/v1/refunds").expect(404);
  });

  it("can be turned on: a payment is read by its id, and all are listed in pages", async () => {
    const { sandbox, id } = await withPayment({ readBack: true });
    await post(sandbox, { ...order, clientId: "c-2" }).expect(201);
    const one = await get(sandbox, `/v1/payments/${id}`).expect(200);
    expect(one.body.data).toMatchObject({ id, clientId: "c-1", status: "pending" });
    expect(one.body.data).not.toHaveProperty("submittedAt");
    const page = await get(sandbox, "/v1/payments?limit=1&offset=1").expect(200);
    expect(page.body).toMatchObject({ data: [{ clientId: "c-2" }], offset: 1, limit: 1, total: 2 });
    await sandbox.pay(id);
    const { providerId, submittedAt, completedAt, source } = sandbox.find(id)!;
    expect([providerId, submittedAt, completedAt]).toEqual([
      expect.any(String),
      completedAt,
      expect.any(String),
    ]);
    const paid = await get(sandbox, `/v1/payments/${id}`).expect(200);
    const billing = { submitUrl: expect.stringContaining(id), providerId };
    expect(paid.body.data).toEqual({
      ...one.body.data,
      status: "completed",
      captured: true,
      submittedAt,
      completedAt,
      source,
      billing,
    });
    await get(sandbox, "/v1/payments/nothing").expect(404);
    const put = request(sandbox.app).put("/v1/payments").auth(sandbox.accessToken(), { type: "bearer" });
    expect((await put.expect(405)).get("Allow")).toBe("GET, HEAD, POST");
  });

  it("lists twenty payments where no limit is asked for", async () => {
    const sandbox = createSandbox({ readBack: true });
    const { total } = order.purchase;
    for (let number = 1; number <= 21; number += 1) sandbox.create({ clientId: `c-${number}`, total });
    const { body } = await get(sandbox, "/v1/payments").expect(200);
    expect(body).toMatchObject({ offset: 0, limit: 20, total: 21 });
    const large = await get(sandbox, "/v1/payments?limit=999999").expect(200);
    expect([large.body.limit, large.body.data.length]).toEqual([999_999, 21]);
    expect([body.data.length, body.data[0].clientId]).toEqual([20, "c-1"]);
  });
});

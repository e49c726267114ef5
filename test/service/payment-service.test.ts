import { createServer } from "node:net";
import { creationRequestSchema } from "../../src/service/creation-schemas.js";
import { createPaymentService } from "../../src/service/index.js";
import { envelope, errorOf, request } from "./creation.js";
import {
  answerJson,
  breakOff,
  localServer,
  portOf,
  type Answerer,
  type LocalServer,
} from "./local-server.js";

const token = "tok-5f3a9c1e";
let server: LocalServer | undefined;

afterEach(async () => {
  await server?.close();
  server = undefined;
});

async function serviceThat(answer: Answerer, options: { timeoutMs?: number; path?: string } = {}) {
  server = await localServer(answer);
  const baseUrl = server.url + (options.path ?? "");
  return createPaymentService({ baseUrl, accessToken: token, timeoutMs: options.timeoutMs ?? 5000 });
}

const answering = (status: number, body: unknown) =>
  serviceThat((response) => answerJson(response, status, body));

describe("a successful creation", () => {
  it("resolves the service's id, the checkout address and the status", async () => {
    const service = await answering(201, envelope());
    await expect(service.createPayment(request)).resolves.toEqual({
      serviceId: envelope().data.id,
      checkoutUrl: envelope().data.billing.submitUrl,
      status: "pending",
      captured: false,
      createdAt: envelope().data.createdAt,
    });
  });

  it.each([
    { captured: "no", createdAt: "yesterday" },
    { captured: null, createdAt: 1_795_174_281 },
  ])("leaves out what decides nothing and has another form: %j", async (odd) => {
    const service = await answering(201, envelope(odd));
    const created = await service.createPayment(request);
    expect(created).toMatchObject({
      serviceId: envelope().data.id,
      captured: undefined,
      createdAt: undefined,
    });
  });

  it("sends the method, path, headers and body of the interface document, 4.1", async () => {
    const service = await answering(201, envelope());
    await service.createPayment(request);
    const [sent, ...more] = server!.received;
    expect(more).toEqual([]);
    expect(sent).toMatchObject({ method: "POST", path: "/v1/payments" });
    expect(sent!.headers).toMatchObject({
      accept: "application/json",
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
    });
    const body: unknown = JSON.parse(sent!.body);
    expect(body).toEqual({
      purchase: { total: { value: "1475", currency: "KMF" } },
      clientId: request.clientId,
      cancelUrl: request.cancelUrl,
      successUrl: request.successUrl,
    });
    // The schema drops unknown fields, so an extra field would make the two sides differ.
    expect(creationRequestSchema.parse(body)).toEqual(body);
  });

  it("sends only value and currency of the total", async () => {
    const service = await answering(201, envelope());
    const total = { ...request.total, note: "for the shop only" };
    await service.createPayment({ ...request, total });
    expect(server!.received[0]!.body).not.toContain("for the shop only");
  });

  it("sends the locale as Accept-Language, and no language of its own without a locale", async () => {
    const service = await answering(201, envelope());
    await service.createPayment({ ...request, locale: "fr-KM" });
    await service.createPayment(request);
    const languages = server!.received.map(({ headers }) => headers["accept-language"]);
    expect(languages[0]).toBe("fr-KM");
    expect([undefined, "*"]).toContain(languages[1]);
  });

  it.each(["f", "abcdefgh", "fr", "zh-Hant-HK", "es-419", "fr-abcdefgh"])(
    "sends the locale %s",
    async (locale) => {
      const service = await answering(201, envelope());
      await service.createPayment({ ...request, locale });
      expect(server!.received[0]!.headers["accept-language"]).toBe(locale);
    },
  );

  it.each([
    "",
    " fr",
    "fr ",
    "-fr",
    "1fr",
    "fr-",
    "fr--KM",
    "fr_KM",
    "abcdefghi",
    "fr-abcdefghi",
    "*",
    "fr,en",
    "é",
  ])("refuses the locale %j", async (locale) => {
    const service = await answering(201, envelope());
    await expect(service.createPayment({ ...request, locale })).rejects.toHaveProperty(
      "code",
      "locale_invalid",
    );
    expect(server!.received).toEqual([]);
  });

  it("refuses a locale that is not a language tag, before anything is sent", async () => {
    const service = await answering(201, envelope());
    const error = await errorOf(service.createPayment({ ...request, locale: "fr\r\nX-Evil: 1" }));
    expect(error.code).toBe("locale_invalid");
    expect(server!.received).toEqual([]);
  });

  it.each(["/api", "/api/", "/api//"])("keeps the path of a base address that ends in %s", async (path) => {
    const service = await serviceThat((response) => answerJson(response, 201, envelope()), { path });
    await service.createPayment(request);
    expect(server!.received[0]!.path).toBe("/api/v1/payments");
  });

  it.each([200, 201, 202, 299])(
    "accepts the envelope with status %i, because the document shows no status",
    async (status) => {
      const service = await answering(status, envelope());
      await expect(service.createPayment(request)).resolves.toHaveProperty("status", "pending");
    },
  );

  it("accepts an echoed amount with trailing zeros: 1475.00 is 1475", async () => {
    const service = await answering(201, envelope({ value: "1475.00" }));
    await expect(service.createPayment(request)).resolves.toHaveProperty("status", "pending");
  });

  it("accepts extra fields, other statuses, a different next, and an answer with only the required fields", async () => {
    const { data } = envelope();
    const { id, purchase, billing } = data;
    const bodies = [
      { ...envelope({ status: "init", extra: { a: 1 } }), extra: [1] },
      { next: "https://elsewhere.example/", data },
      { data: { id, status: "pending", purchase, billing } },
      envelope({ createdAt: "yesterday", captured: "no" }),
    ];
    const service = await serviceThat((response, _request, turn) => answerJson(response, 201, bodies[turn]));
    for (const _body of bodies) {
      await expect(service.createPayment(request)).resolves.toHaveProperty("serviceId", id);
    }
  });

  it("accepts plain http in a checkout address of this machine, for the sandbox", async () => {
    const billing = { submitUrl: "http://localhost:4000/payment/submit/1" };
    const service = await answering(201, envelope({ billing }));
    await expect(service.createPayment(request)).resolves.toHaveProperty("checkoutUrl", billing.submitUrl);
  });
});

describe("a connection that fails", () => {
  it("times out on a service that never answers", async () => {
    const service = await serviceThat(() => {}, { timeoutMs: 60 });
    const error = await errorOf(service.createPayment(request));
    expect(error).toMatchObject({ code: "creation_timeout", certainty: "uncertain" });
    expect(error.message).toContain("60 ms");
    expect(error.cause).toHaveProperty("name", "TimeoutError");
  });

  it("times out on an answer that starts and never ends", async () => {
    const service = await serviceThat((response) => response.writeHead(201).write('{"next":'), {
      timeoutMs: 1000,
    });
    const error = await errorOf(service.createPayment(request));
    expect(error).toMatchObject({ code: "creation_timeout", certainty: "uncertain", httpStatus: 201 });
  });

  it("is uncertain when it is reset before the answer", async () => {
    const service = await serviceThat((response) => response.socket?.resetAndDestroy());
    const error = await errorOf(service.createPayment(request));
    expect(error).toMatchObject({ code: "creation_unreachable", certainty: "uncertain" });
    expect(error.cause).toHaveProperty("message", "fetch failed");
    expect(server!.received).toHaveLength(1);
  });

  it("is uncertain when it is reset in the middle of the answer", async () => {
    const service = await serviceThat((response) => breakOff(response, 201, '{"next":'));
    const error = await errorOf(service.createPayment(request));
    expect(error).toMatchObject({ code: "creation_unreachable", certainty: "uncertain", httpStatus: 201 });
  });

  it("is certainly failed when nothing listens: nothing was sent", async () => {
    const placeholder = createServer();
    await new Promise<void>((resolve) => placeholder.listen(0, "127.0.0.1", resolve));
    const port = portOf(placeholder);
    await new Promise((resolve) => placeholder.close(resolve));
    for (const host of ["127.0.0.1", "localhost"]) {
      const service = createPaymentService({
        baseUrl: `http://${host}:${port}`,
        accessToken: token,
        timeoutMs: 5000,
      });
      const error = await errorOf(service.createPayment(request));
      expect(error).toMatchObject({ code: "creation_unreachable", certainty: "failed" });
    }
  });

  it("is uncertain when one of several addresses may have read the request", async () => {
    const errors = [
      { code: "ECONNREFUSED", syscall: "connect" },
      { code: "ECONNRESET", syscall: "read" },
    ].map((fields) => Object.assign(new Error(fields.code), fields));
    const failed = new TypeError("fetch failed", { cause: new AggregateError(errors) });
    const fetch = () => Promise.reject(failed);
    const service = createPaymentService({
      baseUrl: "http://localhost:1",
      accessToken: token,
      fetch,
      timeoutMs: 5000,
    });
    const error = await errorOf(service.createPayment(request));
    expect(error).toMatchObject({ code: "creation_unreachable", certainty: "uncertain" });
  });

  it("is certainly failed when the name has no address", async () => {
    // The resolver itself refuses such a long label, so the test needs no name server.
    const service = createPaymentService({
      baseUrl: `https://${"a".repeat(64)}.invalid`,
      accessToken: token,
      timeoutMs: 5000,
    });
    const error = await errorOf(service.createPayment(request));
    expect(error).toMatchObject({ code: "creation_unreachable", certainty: "failed" });
  });
});

describe("an error of fetch", () => {
  const errorAfter = (thrown: unknown) => {
    const fetch = () => Promise.reject(thrown);
    const service = createPaymentService({
      baseUrl: "http://localhost:1",
      accessToken: token,
      fetch,
      timeoutMs: 5000,
    });
    return errorOf(service.createPayment(request));
  };
  const failure = (fields: object) => Object.assign(new Error("failed"), fields);
  const refused = failure({ code: "ECONNREFUSED" });
  const unknownName = failure({ code: "ENOTFOUND" });
  const reset = failure({ code: "ECONNRESET", syscall: "read" });

  it.each<[string, unknown]>([
    ["ECONNREFUSED", refused],
    ["ENOTFOUND", unknownName],
    ["EAI_AGAIN", failure({ code: "EAI_AGAIN" })],
    ["UND_ERR_CONNECT_TIMEOUT", failure({ code: "UND_ERR_CONNECT_TIMEOUT" })],
    ["another code of connect", failure({ code: "EHOSTUNREACH", syscall: "connect" })],
    ["another code of getaddrinfo", failure({ code: "EAI_FAIL", syscall: "getaddrinfo" })],
    ["a cause of this kind", new TypeError("fetch failed", { cause: refused })],
    ["a cause of a cause", new Error("proxy", { cause: new TypeError("fetch failed", { cause: refused }) })],
    ["several addresses that all failed so", new AggregateError([refused, unknownName])],
    ["an object of another realm", { code: "ECONNREFUSED" }],
  ])("proves that no request was sent: %s", async (_name, thrown) => {
    expect(await errorAfter(thrown)).toMatchObject({ code: "creation_unreachable", certainty: "failed" });
  });

  const ownCause = new Error("failed");
  ownCause.cause = ownCause;

  it.each<[string, unknown]>([
    ["ECONNRESET", reset],
    ["EPIPE while writing", failure({ code: "EPIPE", syscall: "write" })],
    ["UND_ERR_SOCKET", failure({ code: "UND_ERR_SOCKET" })],
    ["UND_ERR_HEADERS_TIMEOUT", failure({ code: "UND_ERR_HEADERS_TIMEOUT" })],
    ["empty codes", failure({ code: "", syscall: "" })],
    ["no code", new Error("failed")],
    ["no code, with a cause that is null", new Error("failed", { cause: null })],
    ["several addresses, and one was reset", new AggregateError([refused, reset])],
    ["several addresses, and the first was reset", new AggregateError([reset, refused])],
    ["no address at all", new AggregateError([])],
    ["an error that is its own cause", ownCause],
    ["a list of errors that is none", failure({ errors: "ECONNREFUSED" })],
    ["undefined", undefined],
    ["null", null],
    ["a string", "ECONNREFUSED"],
  ])("leaves the payment uncertain: %s", async (_name, thrown) => {
    expect(await errorAfter(thrown)).toMatchObject({ code: "creation_unreachable", certainty: "uncertain" });
  });
});

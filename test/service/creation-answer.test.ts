import { createPaymentService } from "../../src/service/index.js";
import { envelope, errorOf, request } from "./creation.js";
import { answerJson, breakOff, localServer, type Answerer, type LocalServer } from "./local-server.js";

const token = "tok-5f3a9c1e";
let server: LocalServer | undefined;

afterEach(async () => {
  await server?.close();
  server = undefined;
});

async function serviceThat(answer: Answerer) {
  server = await localServer(answer);
  return createPaymentService({ baseUrl: server.url, accessToken: token, timeoutMs: 5000 });
}

const answering = (status: number, body: unknown) =>
  serviceThat((response) => answerJson(response, status, body));

describe("an answer that is not the envelope leaves the payment uncertain", () => {
  const { data, next } = envelope();
  it.each<[string, unknown]>([
    ["no data", { next }],
    ["an array", [envelope()]],
    ["null", null],
    ["no submitUrl", envelope({ billing: {} })],
    ["a relative submitUrl", envelope({ billing: { submitUrl: "/payment/submit/1" } })],
    ["a submitUrl over plain http", envelope({ billing: { submitUrl: "http://checkout.example/1" } })],
    ["a submitUrl that is a script", envelope({ billing: { submitUrl: "javascript:alert(1)" } })],
    ["a submitUrl with a name", envelope({ billing: { submitUrl: "https://shop.example@evil.example/1" } })],
    ["a submitUrl with a password", envelope({ billing: { submitUrl: "https://:secret@pay.example/1" } })],
    ["a submitUrl with a line break", envelope({ billing: { submitUrl: "https://a.example/\r\nX: 1" } })],
    ["an empty id", envelope({ id: "" })],
    ["an id of 129 characters", envelope({ id: "a".repeat(129) })],
    ["an id that is a number", envelope({ id: 7 })],
    // No webhook can contain these, and not every database can store them.
    ["an id with a NUL", envelope({ id: "p\u0000" })],
    ["an id with half a character", envelope({ id: "p\ud800" })],
    ["a status with a line break", envelope({ status: "pending\n" })],
    ["an amount that is a number", envelope({ value: 1475 })],
    ["a next that is not a string", { next: 1, data }],
    ["another amount", envelope({ value: "1475.01" })],
    ["an amount that is equal only as a float", envelope({ value: "1475.00000000000000001" })],
    ["another currency", envelope({ currency: "EUR" })],
  ])("with %s", async (_name, body) => {
    const service = await answering(201, body);
    const error = await errorOf(service.createPayment(request));
    expect(error).toMatchObject({
      name: "PaymentCreationError",
      code: "creation_response_invalid",
      certainty: "uncertain",
      httpStatus: 201,
    });
    expect(error.message).toContain("may exist");
  });

  it.each<[string, string | Buffer]>([
    ["HTML", "<!doctype html><title>Welcome</title>"],
    ["nothing", ""],
    ["bytes that are not UTF-8", Buffer.from([0x22, 0xff, 0x22])],
    ["more than 256 KiB", JSON.stringify({ ...envelope(), padding: "x".repeat(300 * 1024) })],
  ])("with %s", async (_name, body) => {
    const service = await serviceThat((response) => response.writeHead(200).end(body));
    const error = await errorOf(service.createPayment(request));
    expect(error).toMatchObject({
      code: "creation_response_invalid",
      certainty: "uncertain",
      httpStatus: 200,
    });
  });

  it("with one byte more than 256 KiB, and not with exactly 256 KiB", async () => {
    const body = JSON.stringify(envelope()).padEnd(256 * 1024);
    const service = await serviceThat((response, _request, turn) =>
      response.writeHead(201).end(turn === 0 ? body : `${body} `),
    );
    await expect(service.createPayment(request)).resolves.toHaveProperty("status", "pending");
    const error = await errorOf(service.createPayment(request));
    expect(error).toMatchObject({ code: "creation_response_invalid", certainty: "uncertain" });
    expect(error.message).toContain(`${256 * 1024} bytes`);
  });

  it("where status 204 has no body", async () => {
    const service = await serviceThat((response) => response.writeHead(204).end());
    const error = await errorOf(service.createPayment(request));
    expect(error).toMatchObject({ code: "creation_response_invalid", httpStatus: 204 });
    expect(error).not.toHaveProperty("cause");
  });

  it("and its error names every wrong field", async () => {
    const service = await answering(201, envelope({ id: "", status: "", billing: {} }));
    const { message } = await errorOf(service.createPayment(request));
    expect(message).toContain("data.id, data.status, data.billing.submitUrl");
  });

  it("without reading an endless answer to its end", async () => {
    const service = await serviceThat((response) => {
      response.writeHead(200);
      const more = (): void => {
        while (!response.destroyed && response.write("x".repeat(16_384)));
      };
      response.on("drain", more);
      more();
    });
    await expect(service.createPayment(request)).rejects.toHaveProperty("code", "creation_response_invalid");
  });
});

describe("a refusal", () => {
  it.each([400, 402, 403, 404, 422, 429, 499])("with status %i leaves the payment failed", async (status) => {
    const service = await answering(status, {
      status,
      title: "Invalid request",
      detail: "clientId is taken",
    });
    const error = await errorOf(service.createPayment(request));
    expect(error).toMatchObject({
      code: "creation_refused",
      certainty: "failed",
      httpStatus: status,
      serviceMessage: "Invalid request: clientId is taken",
    });
    expect(error.message).toContain("clientId is taken");
  });

  it.each([300, 399, 408, 409, 500, 502, 503, 599])(
    "with status %i leaves the payment uncertain",
    async (status) => {
      const service = await answering(status, { title: "Oh" });
      const error = await errorOf(service.createPayment(request));
      expect(error).toMatchObject({
        code: "creation_failed",
        certainty: "uncertain",
        httpStatus: status,
        serviceMessage: "Oh",
      });
      expect(error.message).toContain(String(status));
      expect(error.message.includes("redirect")).toBe(status < 400);
      expect(error.message).toContain("may exist");
    },
  );

  it("without an HTTP status, from a fetch of the application, leaves the payment uncertain", async () => {
    const fetch = async () => Response.error();
    const service = createPaymentService({
      baseUrl: "https://a.example",
      accessToken: token,
      fetch,
      timeoutMs: 5000,
    });
    const error = await errorOf(service.createPayment(request));
    expect(error).toMatchObject({ code: "creation_failed", certainty: "uncertain", httpStatus: 0 });
  });

  it.each([301, 302, 303, 307, 308])(
    "by redirect %i is not followed and leaves it uncertain",
    async (status) => {
      const service = await serviceThat((response) =>
        response.writeHead(status, { location: "/else" }).end(),
      );
      const error = await errorOf(service.createPayment(request));
      expect(error).toMatchObject({ code: "creation_failed", certainty: "uncertain", httpStatus: status });
      expect(server!.received.map(({ path }) => path)).toEqual(["/v1/payments"]);
    },
  );

  it("keeps its message to 500 characters on one line, without control characters and without the token", async () => {
    const title = `No\r\n\u001b[31m for \u202e${token}`;
    const service = await answering(400, { title, detail: "é".repeat(900) });
    const error = await errorOf(service.createPayment(request));
    expect(error.serviceMessage).toHaveLength(500);
    expect(error.serviceMessage).toMatch(/^No \[31m for {1,2}\[token\]: é+$/);
    expect(error.message).not.toContain(token);
  });

  it.each<[string, Answerer]>([
    ["HTML", (response) => response.writeHead(400).end("<h1>no</h1>")],
    [
      "a title and a detail that are not strings",
      (response) => answerJson(response, 400, { title: 1, detail: { a: 1 } }),
    ],
    ["a blank title and detail", (response) => answerJson(response, 400, { title: " ", detail: "\u0000" })],
    ["null", (response) => answerJson(response, 400, null)],
    ["a string", (response) => answerJson(response, 400, "title")],
    ["titles that are no strings", (response) => answerJson(response, 400, { title: 7, detail: null })],
    ["a blank title", (response) => answerJson(response, 400, { title: " \n" })],
    ["a body that breaks off", (response) => breakOff(response, 400, '{"title":')],
    ["a huge body", (response) => answerJson(response, 400, { title: "x".repeat(300 * 1024) })],
  ])("with %s is failed, without a message of the service", async (_name, answer) => {
    const service = await serviceThat(answer);
    const error = await errorOf(service.createPayment(request));
    expect(error).toMatchObject({ code: "creation_refused", certainty: "failed", httpStatus: 400 });
    expect(error).not.toHaveProperty("serviceMessage");
  });
});

describe("the service's message", () => {
  it.each([
    ["keeps 500 characters", "a".repeat(500), "a".repeat(500)],
    ["keeps 500 characters of more", "a".repeat(501), "a".repeat(500)],
    ["counts characters, and not UTF-16 units", "😀".repeat(501), "😀".repeat(500)],
    ["does not end with a space", `${"a".repeat(499)} b`, "a".repeat(499)],
  ])("%s", async (_name, title, expected) => {
    const service = await answering(400, { title });
    const error = await errorOf(service.createPayment(request));
    expect(error.serviceMessage).toBe(expected);
  });
});

describe("an insecure checkout address", () => {
  it.each([
    ["http://checkout.example/1", "data.billing.submitUrl is plain http on another host than this machine"],
    ["http://192.168.1.20/1", "data.billing.submitUrl is plain http on another host than this machine"],
    ["/payment/submit/1", "data.billing.submitUrl is not an absolute https address"],
    ["ftp://checkout.example/http:/1", "data.billing.submitUrl is not an absolute https address"],
  ])("is refused with its reason: %s", async (submitUrl, reason) => {
    const service = await answering(201, envelope({ billing: { submitUrl } }));
    const error = await errorOf(service.createPayment(request));
    expect(error).toMatchObject({ code: "creation_response_invalid", certainty: "uncertain" });
    expect(error.message).toContain(reason);
  });
});

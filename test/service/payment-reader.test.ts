import { getEventListeners } from "node:events";
import { type AccessTokenRequest } from "../../src/service/index.js";
import { createPaymentReader } from "../../src/service/payment-reader.js";
import { answerJson, breakOff, localServer, type Answerer, type LocalServer } from "./local-server.js";

describe("reading payments from the service", () => {
  let server: LocalServer;
  let answer: Answerer;
  beforeEach(async () => {
    server = await localServer((...args) => answer(...args));
  });
  afterEach(() => server.close());

  const reader = (accessToken: string | (() => string) = "t-1", timeoutMs = 2000) =>
    createPaymentReader({ baseUrl: `${server.url}/base/`, accessToken }, timeoutMs);

  it.each([
    ["bare", { id: "p/1", status: "pending" }],
    ["under data", { data: { id: "p/1", status: "pending" } }],
  ])("takes the payment %s", async (_, body) => {
    answer = (response) => answerJson(response, 200, body);
    expect(await reader().read("p/1")).toMatchObject({ id: "p/1", status: "pending" });
    expect(server.received[0]).toMatchObject({ method: "GET", path: "/base/v1/payments/p%2F1" });
    expect(server.received[0]!.headers).toMatchObject({
      authorization: "Bearer t-1",
      accept: "application/json",
    });
  });

  it.each([
    ["bare", [{ id: "a" }, 7, null, { id: "b" }]],
    ["under data", { data: [{ id: "a" }, { id: "b" }] }],
  ])("takes a list %s", async (_, body) => {
    answer = (response) => answerJson(response, 200, body);
    expect(await reader().list({ limit: 2, offset: 4 })).toEqual([{ id: "a" }, { id: "b" }]);
    expect(server.received[0]!.path).toBe("/base/v1/payments?limit=2&offset=4");
  });

  it.each(["/base", "/base/", "/base//"])(
    "keeps the path of a base address that ends in %s",
    async (path) => {
      answer = (response) => answerJson(response, 200, { id: "p" });
      await createPaymentReader({ baseUrl: server.url + path, accessToken: "t-1" }, 2000).read("p");
      expect(server.received[0]!.path).toBe("/base/v1/payments/p");
    },
  );

  it("gives the refused token and a signal to the source of tokens", async () => {
    const asked: AccessTokenRequest[] = [];
    const get = async (asks: AccessTokenRequest = {}) => (asked.push(asks) === 1 ? "old" : "new");
    answer = (response, { headers }) =>
      answerJson(response, headers.authorization === "Bearer new" ? 200 : 401, { id: "p" });
    await createPaymentReader({ baseUrl: server.url, accessToken: { get } }, 2000).read("p");
    const signal = expect.any(AbortSignal);
    expect(asked).toEqual([
      { refused: undefined, signal },
      { refused: "old", signal },
    ]);
  });

  it("renews a refused token once", async () => {
    const tokens = ["old", "new"];
    answer = (response, { headers }) =>
      headers.authorization === "Bearer new"
        ? answerJson(response, 200, { id: "p" })
        : answerJson(response, 401, {});
    expect(await reader(() => tokens.shift()!).read("p")).toEqual({ id: "p" });
  });

  it.each([
    [401, undefined],
    [404, undefined],
    [300, undefined],
    [302, undefined],
    [500, undefined],
    [429, "7"],
  ])("throws for a %d with its status", async (status, retryAfter) => {
    answer = (response) => {
      if (retryAfter !== undefined) response.setHeader("retry-after", retryAfter);
      answerJson(response, status, { title: "no" });
    };
    await expect(reader().read("p")).rejects.toMatchObject({
      code: "lookup_failed",
      httpStatus: status,
      ...(retryAfter !== undefined && { retryAfterMs: 7000 }),
    });
  });

  it.each([
    ["0", 0],
    ["7", 7000],
    [" 7 ", 7000],
    ["9999999999", 9_999_999_999_000],
  ])("has the wait of a Retry-After of %j", async (retryAfter, retryAfterMs) => {
    answer = (response) => response.writeHead(503, { "retry-after": retryAfter }).end();
    await expect(reader().read("p")).rejects.toMatchObject({ name: "LookupError", retryAfterMs });
  });

  const answeredAt = "Wed, 21 Oct 2026 07:28:00 GMT";
  it.each([
    ["Wed, 21 Oct 2026 07:28:07 GMT", answeredAt, 7000],
    ["Wednesday, 21-Oct-26 07:28:07 GMT", answeredAt, 7000],
    ["Wed, 21 Oct 2026 07:27:00 GMT", answeredAt, 0],
    ["Wed, 21 Oct 2026 07:28:00 GMT", undefined, 0],
    ["Wed, 21 Oct 2026 07:28:00 GMT", "yesterday", 0],
  ])("has the wait of a Retry-After of %j in an answer of %j", async (retryAfter, date, retryAfterMs) => {
    answer = (response) => {
      response.sendDate = false;
      response.writeHead(429, { "retry-after": retryAfter, ...(date && { date }) }).end();
    };
    const clock = jest.spyOn(Date, "now").mockReturnValue(Date.parse("2026-11-20T10:00:00.000Z"));
    try {
      await expect(reader().read("p")).rejects.toMatchObject({ retryAfterMs });
    } finally {
      clock.mockRestore();
    }
  });

  it.each([
    undefined,
    "-1",
    "Wed, 21 Oct 2026 07:28:00",
    "2026-10-21T07:28:00Z",
    "Wed, 41 Oct 2026 07:28:00 GMT",
    "later",
    "Infinity",
    "NaN",
    "",
    "0x10",
    "1e3",
    "1.5",
  ])("has no wait where Retry-After is %j", async (retryAfter) => {
    answer = (response) =>
      response.writeHead(503, retryAfter === undefined ? {} : { "retry-after": retryAfter }).end();
    const error: unknown = await reader()
      .read("p")
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "lookup_failed", httpStatus: 503 });
    expect(error).not.toHaveProperty("retryAfterMs");
  });

  it("refuses a response without an HTTP status, from a fetch of the application", async () => {
    const fetch = async () => Response.error();
    const reading = createPaymentReader({ baseUrl: server.url, accessToken: "t-1", fetch }, 2000).read("p");
    await expect(reading).rejects.toMatchObject({ code: "lookup_failed", httpStatus: 0 });
  });

  it("frees the connection of a refused lookup", async () => {
    const response = new Response("{}", { status: 503 });
    const fetch = async () => response;
    const reading = createPaymentReader({ baseUrl: server.url, accessToken: "t-1", fetch }, 2000).read("p");
    await expect(reading).rejects.toMatchObject({ code: "lookup_failed", httpStatus: 503 });
    expect(response.bodyUsed).toBe(true);
  });

  it("takes an answer with status 299", async () => {
    answer = (response) => answerJson(response, 299, { id: "p" });
    await expect(reader().read("p")).resolves.toEqual({ id: "p" });
  });

  it("takes an answer of exactly 1 MiB, and refuses one byte more", async () => {
    const body = JSON.stringify({ id: "p" }).padEnd(1024 * 1024);
    answer = (response, _request, turn) => response.writeHead(200).end(turn === 0 ? body : `${body} `);
    await expect(reader().read("p")).resolves.toEqual({ id: "p" });
    await expect(reader().read("p")).rejects.toMatchObject({
      code: "lookup_answer_invalid",
      message: expect.stringContaining(`${1024 * 1024} bytes`),
    });
  });

  it.each([
    ["is no JSON", "<html>"],
    ["is no UTF-8", Buffer.from([0x22, 0xff, 0x22])],
    ["is empty", ""],
    ["has null under data", '{"data":null}'],
    ["has a string under data", '{"data":"p"}'],
    ["has a list under data", '{"data":[{"id":"p"}]}'],
    ["is about another payment", JSON.stringify({ id: "q" })],
    ["is a list", "[]"],
    ["is nothing", "null"],
    ["is too large", JSON.stringify({ id: "p", filler: "x".repeat(1024 * 1024) })],
  ])("refuses an answer that %s", async (_, body) => {
    answer = (response) => void response.writeHead(200).end(body);
    await expect(reader().read("p")).rejects.toMatchObject({ code: "lookup_answer_invalid" });
  });

  it("refuses an answer that is not a list", async () => {
    answer = (response) => answerJson(response, 200, { id: "p" });
    await expect(reader().list({ limit: 1, offset: 0 })).rejects.toMatchObject({
      code: "lookup_answer_invalid",
    });
  });

  it("ends a request whose caller closes", async () => {
    const closing = new AbortController();
    answer = () => closing.abort();
    const reading = reader("t", 60_000).read("p", closing.signal);
    await expect(reading).rejects.toMatchObject({ code: "lookup_failed" });
  });

  it.each([200, 500])("listens for its caller's end until it has an answer with %d", async (status) => {
    const { signal: closing } = new AbortController();
    const listeners = () => getEventListeners(closing, "abort").length;
    const seen: number[] = [];
    answer = (response) => {
      seen.push(listeners());
      answerJson(response, status, { id: "p" });
    };
    await reader()
      .read("p", closing)
      .catch(() => undefined);
    expect([...seen, listeners()]).toEqual([1, 0]);
  });

  it("sends nothing where its caller closed before", async () => {
    answer = (response) => answerJson(response, 200, { id: "p" });
    await expect(reader().read("p", AbortSignal.abort())).rejects.toMatchObject({ code: "lookup_failed" });
    expect(server.received).toEqual([]);
  });

  it("throws at its time limit, and where the connection breaks", async () => {
    answer = () => undefined;
    await expect(reader("t", 50).read("p")).rejects.toMatchObject({
      code: "lookup_failed",
      message: expect.stringContaining("50 ms"),
    });
    answer = (response) => breakOff(response, 200, '{"id":');
    await expect(reader().read("p")).rejects.toMatchObject({
      code: "lookup_failed",
      cause: expect.anything(),
    });
  });
});

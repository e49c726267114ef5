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
    expect(server.received[0]!.headers.authorization).toBe("Bearer t-1");
  });

  it.each([
    ["bare", [{ id: "a" }, 7, null, { id: "b" }]],
    ["under data", { data: [{ id: "a" }, { id: "b" }] }],
  ])("takes a list %s", async (_, body) => {
    answer = (response) => answerJson(response, 200, body);
    expect(await reader().list({ limit: 2, offset: 4 })).toEqual([{ id: "a" }, { id: "b" }]);
    expect(server.received[0]!.path).toBe("/base/v1/payments?limit=2&offset=4");
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
    ["is no JSON", "<html>"],
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

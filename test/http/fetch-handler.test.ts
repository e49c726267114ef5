import { fetchHandler, type MemoryTx, MemoryStore, paymentRouter, type VerifyInput } from "tillkit";
import { makeReturnToken } from "../../src/checkout/return-token.js";
import { appOf, closeAll, serve, testKit } from "../support/kit.js";
import { completedBody, pendingPayment, signed } from "../support/webhooks.js";
import { collectedLog } from "./collected-log.js";

afterEach(closeAll);

const { token, hash } = makeReturnToken("c-1");
const { rawBody, headers } = signed(completedBody());
const origin = "https://shop.example";

/** Opens a kit with one payment. */
async function open() {
  const { logger, lines } = collectedLog();
  const store = new MemoryStore();
  const created = [pendingPayment({ returnKeyHash: hash, createdAt: new Date().toISOString() })];
  await store.transaction((tx) => store.save(tx, { created }));
  const payments = testKit<never, MemoryTx>({ store, logger });
  return { payments, handler: fetchHandler(paymentRouter(payments)), lines };
}

/** Returns what a client sees. The nonce of a page is another one each time. */
async function seen(response: Response) {
  const text = await response.text();
  const nonce = /'nonce-([^']+)'/.exec(response.headers.get("content-security-policy") ?? "")?.[1] ?? "none";
  const names = [
    "content-type",
    "content-language",
    "cache-control",
    "content-security-policy",
    "allow",
    "vary",
  ];
  const kept = names.map((name) => [name, response.headers.get(name)?.replaceAll(nonce, "")]);
  return { status: response.status, text: text.replaceAll(nonce, ""), ...Object.fromEntries(kept) };
}

const post = (body: string | Buffer<ArrayBuffer>, of: Record<string, string> = headers): RequestInit => ({
  method: "POST",
  body,
  headers: { "content-type": "application/json", ...of },
});

describe("a fetch handler", () => {
  it("refuses a webhook whose body something else reads or has read, and says so in the log", async () => {
    const { handler, lines } = await open();
    const read = new Request(`${origin}/payments/webhook`, post(rawBody));
    await read.text();
    const locked = new Request(`${origin}/payments/webhook`, post(rawBody));
    locked.body!.getReader();
    for (const request of [read, locked]) expect((await handler(request)).status).toBe(500);
    expect(JSON.stringify(lines)).toContain("raw_body_consumed");
  });

  it("logs one line for each request", async () => {
    const { handler, lines } = await open();
    const answers = [post(rawBody), { method: "PUT" }];
    for (const init of answers) await handler(new Request(`${origin}/payments/webhook`, init));
    const logged = lines.filter(({ msg }) => msg === "payment request");
    expect(logged.map(({ res }) => res)).toEqual([{ status: 200 }, { status: 405 }]);
  });

  it.each<[string, RequestInit, number]>([
    ["webhook", { method: "PUT" }, 405],
    ["webhook", { method: "POST", headers: { "content-encoding": "gzip" } }, 415],
    ["webhook", { method: "POST", headers: { "content-length": "70000" } }, 413],
    ["success/c-1~forged?claim", { method: "POST", headers: { origin: "https://evil.example" } }, 403],
    ["other", { method: "POST" }, 404],
  ])("survives a client of %s that goes away after the answer: %j", async (path, init, status) => {
    const { handler } = await open();
    let goAway = (): void => {};
    const body = new ReadableStream({
      start: (controller) => (goAway = () => controller.error(new Error("The client is gone."))),
    });
    const request = new Request(`${origin}/payments/${path}`, { ...init, body, duplex: "half" } as never);
    expect((await handler(request)).status).toBe(status);
    goAway();
    // Then an error without a listener would have been thrown.
    await new Promise((resolve) => setImmediate(resolve));
  });
});

describe("a fetch handler and its router", () => {
  it("give the scheme the address with its query, also at the root of the origin", async () => {
    const addresses: (string | undefined)[] = [];
    const verify = ({ url }: VerifyInput) => addresses.push(url) > 0;
    const signature = { header: "Service-Signature", covers: "body", verify } as const;
    for (const [publicUrl, mount] of [
      [origin, ""],
      [`${origin}/`, ""],
      [`${origin}/a/b/`, "/a/b"],
    ]) {
      const handler = fetchHandler(paymentRouter(testKit({ publicUrl: publicUrl!, signature })));
      const address = `${origin}${mount}/webhook?v=1&n=a%20b`;
      expect((await handler(new Request(address, post(rawBody)))).status).toBe(200);
    }
    expect(addresses).toEqual(["", "", "/a/b"].map((mount) => `${mount}/webhook?v=1&n=a%20b`));
  });

  it.each([
    ["an error", new TypeError("the application's fault"), { name: "TypeError" }],
    ["a text", "the application's fault", { name: "Error" }],
  ])("reject with %s that the router passes on", async (_, passed, error) => {
    const { payments } = await open();
    const broken = (_request: unknown, _response: unknown, next: (error: unknown) => void) => next(passed);
    const handler = fetchHandler(Object.assign(broken, { payments }));
    const message = "the application's fault";
    await expect(handler(new Request(`${origin}/payments/webhook`))).rejects.toMatchObject({
      ...error,
      message,
    });
  });

  it.each([undefined, null])("answer 404 where the router passes on %s", async (passed) => {
    const { payments } = await open();
    const passing = (_request: unknown, _response: unknown, next: (error?: unknown) => void) => next(passed);
    const handler = fetchHandler(Object.assign(passing, { payments }));
    expect((await handler(new Request(`${origin}/payments/webhook`))).status).toBe(404);
  });
});

describe("a fetch handler answers as the router does", () => {
  it.each<[string, string, RequestInit, number]>([
    ["a webhook", "webhook", post(rawBody), 200],
    ["a forged webhook", "webhook", post(rawBody, { "service-signature": "00".repeat(32) }), 401],
    ["a webhook without a body", "webhook", post(""), 401],
    ["a webhook that is too large", "webhook", post("x".repeat(70_000)), 413],
    ["a form", "webhook", post("a=b", { "content-type": "application/x-www-form-urlencoded" }), 415],
    ["the wrong method", "webhook", {}, 405],
    ["a return page", `success/${token}`, {}, 200],
    ["a return page in French", `success/${token}?from=app`, { headers: { "accept-language": "fr" } }, 200],
    ["the head of a return page", `success/${token}`, { method: "HEAD" }, 200],
    ["the state of a return page", `success/${token}/state`, {}, 200],
    ["a return after a cancellation", `cancel/${token}`, {}, 200],
    ["a forged return", "success/c-1~forged", {}, 404],
    ["a return that cannot be decoded", "success/~%zz", {}, 404],
    ["a return whose token has another form", "success/abc", {}, 404],
    ["a long return whose token cannot be decoded", `cancel/${"a".repeat(3000)}%zz`, {}, 404],
    ["a return with a body", `success/${token}`, post("x"), 405],
  ])("%s", async (_about, path, init, status) => {
    const [one, other] = [await open(), await open()];
    const url = await serve(appOf(other.payments));
    const expected = await seen(await fetch(`${url}/payments/${path}`, init));
    const actual = await seen(await one.handler(new Request(`${origin}/payments/${path}`, init)));
    expect(actual).toEqual(expected);
    expect(actual.status).toBe(status);
    const line = { req: { method: init.method ?? "GET" }, res: { status } };
    expect(one.lines.filter(({ msg }) => msg === "payment request")).toMatchObject([line]);
  });

  it("every other address with 404", async () => {
    const { handler } = await open();
    for (const path of ["/", "/payments", "/payments/", "/payments/other", "/paymentsuccess/a~b"])
      expect((await handler(new Request(origin + path))).status).toBe(404);
  });
});

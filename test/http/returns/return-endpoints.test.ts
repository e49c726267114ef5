import { once } from "node:events";
import { connect } from "node:net";
import express, { type RequestHandler } from "express";
import { MemoryStore, paymentRouter, type MemoryTx, type Payment, type ReturnOptions } from "tillkit";
import { makeReturnToken } from "../../../src/checkout/return-token.js";
import { send } from "../../promises/corpora/world.js";
import { closeAll, serve, testKit } from "../../support/kit.js";
import { pendingPayment } from "../../support/webhooks.js";
import { collectedLog } from "../collected-log.js";

afterEach(closeAll);

const { token, hash } = makeReturnToken("c-1");

interface Setting {
  returns?: ReturnOptions;
  payment?: Partial<Payment>;
  store?: MemoryStore;
  /** Middleware of the application before the router. */
  before?: RequestHandler;
}

/** Serves a kit with one payment. */
async function open({ returns, payment, store = new MemoryStore(), before }: Setting = {}) {
  const { logger, lines } = collectedLog();
  const created = [pendingPayment({ returnKeyHash: hash, createdAt: new Date().toISOString(), ...payment })];
  await store.transaction((tx) => store.save(tx, { created }));
  const payments = testKit<never, MemoryTx>({ store, returns, logger });
  const app = express();
  if (before) app.use(before);
  const errors: unknown[] = [];
  app.use("/payments", paymentRouter(payments));
  app.use(((error, _request, response, _next) => {
    errors.push(error);
    response.end();
  }) as express.ErrorRequestHandler);
  return { url: await serve(app), store, lines, errors };
}

/** Sends these lines as one request, and resolves to what the server sends until it closes the connection. */
async function exchange(url: string, ...lines: string[]): Promise<string> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  let answer = "";
  socket.setEncoding("utf8").on("data", (data: string) => (answer += data));
  socket.write([...lines, "Host: shop.example", "", ""].join("\r\n"));
  await once(socket, "close");
  return answer;
}

const success = `/payments/success/${token}`;
const cancel = `/payments/cancel/${token}`;

describe("a return page", () => {
  it.each<[string | undefined, string]>([
    [undefined, "data:"],
    ["https://cdn.example/logo.png", "data: https://cdn.example"],
    ["https://cdn.example:8443/a/logo.png", "data: https://cdn.example:8443"],
    ["/logo.svg", "data: 'self'"],
    ["/proxy?of=https://cdn.example/logo.png", "data: 'self'"],
  ])("loads images only for its logo (%s)", async (logoUrl, sources) => {
    const { url } = await open({ returns: { logoUrl } });
    const { headers } = await send(url, { path: success });
    expect(String(headers["content-security-policy"])).toContain(`; img-src ${sources}; base-uri 'none';`);
  });

  it.each([
    [success, 200],
    [`${success}~`, 404],
  ])("says in its headers what it is: %#", async (path, status) => {
    const { url } = await open();
    const answer = await send(url, { path, headers: { "accept-language": "fr" } });
    expect(answer.status).toBe(status);
    expect(answer.headers).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "content-length": String(Buffer.byteLength(answer.body)),
      "content-language": "fr",
      vary: "Accept-Language",
      "x-content-type-options": "nosniff",
    });
  });

  it("has a link back to the shop, with the payment's values in it", async () => {
    const payment = { reference: "42/é" };
    const { url } = await open({ payment, returns: { backUrl: "/orders/{reference}?of={clientId}" } });
    expect((await send(url, { path: success })).body).toContain('href="/orders/42%2F%C3%A9?of=c-1"');
    expect((await send(url, { path: `${success}~` })).body).not.toContain("/orders/");
  });

  it("has links to the order and to another attempt, each to its own address", async () => {
    const { url } = await open({
      payment: { state: "failed", open: false },
      returns: {
        backUrl: "/back",
        orderUrl: "/orders/{reference}",
        payAgainUrl: "/pay-again/{reference}?instead={clientId}",
      },
    });
    const { body } = await send(url, { path: success });
    expect(body.match(/<a class="button [^"]*" href="[^"]*"/g)?.map((link) => link.slice(17))).toEqual([
      'main again" href="/pay-again/order-1?instead=c-1"',
      'main" href="/orders/order-1"',
      'claim" href="?claim"',
      'plain" href="/back"',
    ]);
  });

  it("allows nothing in its policy but its own style, script and state", async () => {
    const { url } = await open();
    const { headers } = await send(url, { path: success });
    expect(String(headers["content-security-policy"]).replaceAll(/nonce-[^']+/g, "nonce")).toBe(
      "default-src 'none'; style-src 'nonce'; script-src 'nonce'; connect-src 'self'; img-src data:; " +
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
  });

  it("is the merchant's own with the option render, which gets the nonce and the language", async () => {
    const render: ReturnOptions["render"] = ({ state, payment }, { nonce, language }) =>
      JSON.stringify({ state, reference: payment.reference, nonce, language });
    const { url } = await open({ returns: { render } });
    const { headers, body } = await send(url, { path: cancel, headers: { "accept-language": "fr" } });
    const { nonce, ...rest } = JSON.parse(body) as Record<string, string>;
    expect(rest).toEqual({ state: "canceled", reference: "order-1", language: "fr" });
    expect(headers["content-security-policy"]).toContain(`script-src 'nonce-${nonce}'`);
  });
});

describe("a return that is redirected", () => {
  it("goes to the address of its own kind", async () => {
    const { url } = await open({ returns: { successUrl: "/paid", cancelUrl: "/canceled" } });
    expect((await send(url, { path: success })).headers["location"]).toBe("/paid");
    expect((await send(url, { path: cancel })).headers["location"]).toBe("/canceled");
  });

  it("goes there instead of to the form of a claim", async () => {
    const payment = { successReturnedAt: new Date(Date.now() - 3_600_000).toISOString() };
    const { url } = await open({ payment, returns: { successUrl: "/paid" } });
    const { status, headers } = await send(url, { path: `${success}?claim` });
    expect([status, headers["location"]]).toEqual([303, "/paid"]);
  });

  it("is shown as a page where only the other kind has an address", async () => {
    const { url } = await open({ returns: { successUrl: "/paid" } });
    const { status, headers } = await send(url, { path: cancel });
    expect([status, headers["location"]]).toEqual([200, undefined]);
  });

  it("goes to an address with a character outside the basic plane, escaped", async () => {
    const { url } = await open({ returns: { successUrl: "/🛒/{reference}" } });
    const { status, headers } = await send(url, { path: success });
    expect([status, headers["location"]]).toEqual([303, "/%F0%9F%9B%92/order-1"]);
  });
});

describe("the state that a page asks for", () => {
  it("is not noted as a visit", async () => {
    const { url, store } = await open();
    const { status, body } = await send(url, { path: `${success}/state` });
    expect([status, JSON.parse(body)]).toMatchObject([200, { state: "confirming", final: false }]);
    expect(await store.find("c-1")).not.toHaveProperty("successReturnedAt");
  });

  it("is not found for an unknown token", async () => {
    const { url } = await open();
    const { status, body } = await send(url, { path: `/payments/success/${token}~/state` });
    expect([status, JSON.parse(body)]).toEqual([404, { error: "not_found" }]);
  });
});

describe("a return address", () => {
  it.each([success, `${success}/state`])(
    "refuses other methods with 405, and reads no payment: %#",
    async (path) => {
      const { url, lines } = await open();
      const { status, headers, body } = await send(url, { method: "POST", path });
      expect([status, headers["allow"], JSON.parse(body)]).toEqual([
        405,
        "GET, HEAD",
        { error: "method_not_allowed" },
      ]);
      expect(lines).toMatchObject([{ level: 40, res: { status: 405 } }]);
      expect(lines[0]).not.toHaveProperty("clientId");
    },
  );

  it.each([
    ["Content-Length: 5", "close"],
    ["Content-Length: 0", "keep-alive"],
  ])("given %s has a connection: %s", async (line, connection) => {
    const { url } = await open();
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.write(`GET ${success} HTTP/1.1\r\nHost: shop.example\r\n${line}\r\n\r\n`);
    const [head] = (await once(socket.setEncoding("utf8"), "data")) as [string];
    socket.destroy();
    expect(/^connection: (.*)$/im.exec(head)?.[1]).toBe(connection);
  });

  it.each([
    ["Sec-Purpose", "navigate"],
    ["Purpose", "preview"],
  ])("notes a visit whose %s is %s", async (name, value) => {
    const { url, store } = await open();
    expect((await send(url, { path: success, headers: { [name]: value } })).status).toBe(200);
    expect(await store.find("c-1")).toHaveProperty("successReturnedAt");
  });
});

/** A store whose payments cannot be read. */
class UnreadableStore extends MemoryStore {
  override find(): Promise<Payment | undefined> {
    return Promise.reject(new TypeError("the store is away"));
  }
}

describe("a return that an error interrupts", () => {
  it("shows the page of a kit that is not available, which reloads itself", async () => {
    const { url, lines } = await open({ store: new UnreadableStore() });
    const { status, headers, body } = await send(url, { path: success });
    expect([status, headers["content-type"]]).toEqual([503, "text/html; charset=utf-8"]);
    expect(body).toMatch(/<meta http-equiv="refresh" [^]*data-state="unavailable"/);
    const route = "/success/:token";
    expect(lines).toMatchObject([
      { level: 50, route, err: { type: "TypeError" } },
      { level: 50, route, res: { status } },
    ]);
  });

  it("has the state unavailable", async () => {
    const { url, lines } = await open({ store: new UnreadableStore() });
    const { status, body } = await send(url, { path: `${success}/state` });
    expect([status, JSON.parse(body)]).toEqual([503, { error: "unavailable" }]);
    expect(lines[1]).toMatchObject({ level: 50, route: "/success/:token/state", res: { status } });
  });

  it("closes the connection where the application has started an answer, and does not report it again", async () => {
    const before: RequestHandler = (_request, response, next) => {
      next();
      response.write("the shop's own");
    };
    const { url, lines, errors } = await open({ before });
    const answer = await exchange(url, `GET ${success} HTTP/1.1`);
    // The last chunk is missing, so that no browser takes the answer for a complete one.
    expect(answer).toMatch(/^HTTP\/1\.1 200 [^]*the shop's own\r\n$/);
    expect(lines[0]).toMatchObject({ level: 50, err: { code: "ERR_HTTP_HEADERS_SENT" } });
    expect(errors).toEqual([]);
  });
});

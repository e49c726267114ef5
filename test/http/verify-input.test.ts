import { createServer, IncomingMessage, ServerResponse, type Server } from "node:http";
import { once } from "node:events";
import { type AddressInfo } from "node:net";
import express from "express";
import express4 from "express4";
import { fieldsSignature, MemoryStore, paymentRouter, type MemoryTx, type VerifyInput } from "tillkit";
import { send } from "../promises/corpora/world.js";
import { closeAll, scheme, secret, serve, testKit } from "../support/kit.js";
import { completedBody, pendingPayment, signed } from "../support/webhooks.js";

let bridge: Server | undefined;
afterEach(async () => {
  bridge?.closeAllConnections();
  bridge?.close();
  bridge = undefined;
  await closeAll();
});

const frameworks = [
  ["5", express],
  ["4", express4 as unknown as typeof express],
] as const;

describe.each(frameworks)("what a scheme gets of a request, under Express %s", (_version, framework) => {
  it("contains its method, and its address as it arrived", async () => {
    const inputs: VerifyInput[] = [];
    const verify = (input: VerifyInput) => inputs.push(input) > 0;
    const signature = { header: "Service-Signature", covers: "body", verify } as const;
    const shop = framework.Router().use("/pay", paymentRouter(testKit({ signature })) as never);
    const url = await serve(framework().use("/shop", shop));
    const { rawBody, headers } = signed(completedBody());
    for (const path of ["/shop/pay/webhook", "/shop/pay/webhook?v=1&n=a%20b"])
      expect((await send(url, { method: "POST", path, headers, body: rawBody })).status).toBe(200);
    expect(inputs.map(({ method, url: address }) => [method, address])).toEqual([
      ["POST", "/shop/pay/webhook"],
      ["POST", "/shop/pay/webhook?v=1&n=a%20b"],
    ]);
  });

  it("contains them beside the payload of a scheme that signs fields", async () => {
    const inputs: VerifyInput[] = [];
    const fields = fieldsSignature({ secret, merchantId: "m-7" });
    const verify = (input: VerifyInput) => inputs.push(input) > 0 && fields.verify(input);
    const url = await serve(
      framework().use(paymentRouter(testKit({ signature: { ...fields, verify } })) as never),
    );
    const { rawBody, headers } = signed(completedBody(), fields);
    expect((await send(url, { method: "POST", path: "/webhook", headers, body: rawBody })).status).toBe(200);
    expect(inputs).toMatchObject([{ method: "POST", url: "/webhook", payload: completedBody() }]);
  });

  it("contains its headers, with a list for each repeated one", async () => {
    const inputs: VerifyInput[] = [];
    const verify = (input: VerifyInput) => inputs.push(input) > 0;
    const signature = { header: "Service-Signature", covers: "body", verify } as const;
    const url = await serve(framework().use(paymentRouter(testKit({ signature })) as never));
    const { rawBody } = signed(completedBody());
    const repeated = {
      "Service-Signature": ["00", "11"],
      "X-Three": ["a", "b, c", "d"],
      "User-Agent": ["e", "f"],
    };
    const sending = { method: "POST", path: "/webhook", body: rawBody };
    for (const more of [{}, repeated])
      expect(
        (await send(url, { ...sending, headers: { "Content-Type": "application/json", ...more } })).status,
      ).toBe(200);
    expect(inputs[0]?.headers).toMatchObject({ "content-type": "application/json" });
    expect(inputs[1]?.headers).toMatchObject({
      "content-type": "application/json",
      "content-length": String(rawBody.length),
      "service-signature": ["00", "11"],
      "x-three": ["a", "b, c", "d"],
      "user-agent": ["e", "f"],
    });
  });

  it("contains a header that a middleware has added, beside a repeated one too", async () => {
    const app = framework().use(({ headers }, _response, next) => {
      headers["service-signature"] = headers["x-gateway-signature"];
      next();
    });
    const url = await serve(app.use(paymentRouter(testKit()) as never));
    const { rawBody, headers } = signed(completedBody());
    const moved = { "X-Gateway-Signature": headers["service-signature"] };
    for (const more of [{}, { "X-Two": ["a", "b"] }, { "X-Two": ["a", "b", "c"] }]) {
      const sending = { method: "POST", path: "/webhook", headers: { ...moved, ...more }, body: rawBody };
      expect((await send(url, sending)).status).toBe(200);
    }
  });
});

/** A request as serverless-http makes it from the event of a platform: without a socket, and without `rawHeaders`. */
class PlatformRequest extends IncomingMessage {
  readonly body: Buffer;
  constructor({ method, url, headers }: IncomingMessage, body: Buffer) {
    super({ readable: false, remoteAddress: "127.0.0.1" } as never);
    const joined = Object.entries(headers).map(([name, value]) => [name, [value].flat().join(",")]);
    this.body = body;
    Object.assign(this, { complete: true, httpVersion: "1.1", method, url });
    Object.assign(this, { headers: Object.fromEntries(joined) });
    this._read = () => {
      this.push(body);
      this.push(null);
    };
  }
}

/** Serves an application behind a platform that calls it without a connection of its own. */
async function serveBridged(app: (request: IncomingMessage, response: ServerResponse) => unknown) {
  bridge = createServer((arrived, answer) => {
    const chunks: Buffer[] = [];
    arrived.on("data", (chunk: Buffer) => chunks.push(chunk));
    arrived.on("end", () => {
      const request = new PlatformRequest(arrived, Buffer.concat(chunks));
      const response = new ServerResponse(request);
      const socket = answer.socket!;
      answer.detachSocket(socket);
      response.assignSocket(socket);
      response.shouldKeepAlive = false;
      response.on("finish", () => socket.end());
      app(request, response);
    });
  });
  bridge.listen(0, "127.0.0.1");
  await once(bridge, "listening");
  return `http://127.0.0.1:${(bridge.address() as AddressInfo).port}`;
}

describe.each(frameworks)("behind serverless-http, under Express %s", (_version, framework) => {
  async function open() {
    const store = new MemoryStore();
    await store.transaction((tx) => store.save(tx, { created: [pendingPayment()] }));
    const payments = testKit<never, MemoryTx>({ store });
    return { payments, url: await serveBridged(framework().use(paymentRouter(payments) as never)) };
  }

  it("a genuine webhook verifies", async () => {
    const { payments, url } = await open();
    const { rawBody, headers } = signed(completedBody());
    const { status } = await send(url, { method: "POST", path: "/webhook", headers, body: rawBody });
    expect([status, (await payments.find("c-1"))?.state]).toEqual([200, "completed"]);
  });

  it("a genuine webhook verifies where the request has no rawHeaders", async () => {
    const app = framework().use((arrived, _response, next) =>
      next(void Reflect.deleteProperty(arrived, "rawHeaders")),
    );
    app.use(paymentRouter(testKit()) as never);
    const { rawBody, headers } = signed(completedBody());
    const url = await serveBridged(app);
    const { status } = await send(url, { method: "POST", path: "/webhook", headers, body: rawBody });
    expect(status).toBe(200);
  });

  it("a forged one does not, and a repeated signature is refused", async () => {
    const { payments, url } = await open();
    const { rawBody, headers } = signed(completedBody());
    const twice = { "service-signature": ["0".repeat(64), scheme.sign(rawBody)] };
    for (const changed of [{ "service-signature": "0".repeat(64) }, twice]) {
      const forged = { method: "POST", path: "/webhook", headers: { ...headers, ...changed }, body: rawBody };
      expect((await send(url, forged)).status).toBe(401);
    }
    expect((await payments.find("c-1"))?.state).toBe("pending");
  });
});

import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { PassThrough, Readable } from "node:stream";
import express5, { type RequestHandler } from "express";
import express4 from "express4";
import request from "supertest";
import { captureRawBody, paymentRouter, type WebhookOptions } from "tillkit";
import { rawBodyReader } from "../../../src/http/webhook/raw-body.js";
import { closeAll, serve, testKit } from "../../support/kit.js";
import { completedBody, signed } from "../../support/webhooks.js";

afterEach(closeAll);

// JSON.stringify would not write this space, so only the exact bytes verify.
const body = JSON.stringify(completedBody()).replace('{"topic":', '{ "topic" :');
const versions = [
  ["Express 5", express5],
  ["Express 4", express4 as unknown as typeof express5],
] as const;

describe.each(versions)("the raw body, on %s,", (_, express) => {
  const post = (app: ReturnType<typeof express>, path: string) => {
    const { headers, rawBody } = signed(body);
    return request(app).post(path).set(headers).send(rawBody.toString());
  };
  const router = () => paymentRouter(testKit());

  it("is read by the router, mounted at the root", async () => {
    const app = express().use(router() as never);
    expect((await post(app, "/webhook")).status).toBe(200);
  });

  it("is read by the router, mounted deep inside another router", async () => {
    const outer = express.Router().use("/pay", router() as never);
    const app = express().use("/api/v2", outer);
    expect((await post(app, "/api/v2/pay/webhook")).status).toBe(200);
  });

  it("is read by the router when express.json() comes after it", async () => {
    const app = express().use("/payments", router() as never);
    app.use(express.json());
    app.post("/echo", (req, res) => void res.json(req.body));
    expect((await post(app, "/payments/webhook")).status).toBe(200);
    const echoed = await request(app).post("/echo").send({ a: 1 });
    expect(echoed.body).toEqual({ a: 1 });
  });

  it("is taken from captureRawBody when express.json() comes before it", async () => {
    const app = express().use(express.json({ verify: captureRawBody }));
    app.use("/payments", router() as never);
    expect((await post(app, "/payments/webhook")).status).toBe(200);
  });

  it("is taken from captureRawBody of another copy of the package", async () => {
    let other!: typeof captureRawBody;
    await jest.isolateModulesAsync(async () => {
      other = (await import("tillkit")).captureRawBody;
    });
    expect(other).not.toBe(captureRawBody);
    const app = express().use(express.json({ verify: other }));
    app.use("/payments", router() as never);
    expect((await post(app, "/payments/webhook")).status).toBe(200);
  });

  it("is taken from express.raw() when that comes before it", async () => {
    const app = express().use(express.raw({ type: "*/*" }));
    app.use("/payments", router() as never);
    expect((await post(app, "/payments/webhook")).status).toBe(200);
  });

  it.each([
    ["a Buffer", (bytes: Buffer) => bytes],
    ["a Uint8Array", (bytes: Buffer) => new Uint8Array(bytes)],
  ])("is taken from rawBody, where a hosting platform has kept it as %s", async (_, kept) => {
    const app = express().use(express.raw({ type: "*/*" }), (incoming, _response, next) => {
      Object.assign(incoming, { rawBody: kept(incoming.body as Buffer), body: { parsed: true } });
      next();
    });
    app.use("/payments", router() as never);
    expect((await post(app, "/payments/webhook")).status).toBe(200);
  });

  it("whose body a JSON parser has read gets a 500 that names the fix; no body is serialised again", async () => {
    const payments = testKit();
    const rejected: { code: string; status: number }[] = [];
    payments.on("webhook.rejected", (notice) => void rejected.push(notice));
    const app = express().use(express.json());
    app.use("/payments", paymentRouter(payments) as never);

    const response = await post(app, "/payments/webhook");

    expect(response.status).toBe(500);
    expect(rejected).toEqual([{ code: "raw_body_consumed", status: 500 }]);
  });

  it("that another middleware has read, and not kept, gets the same 500", async () => {
    const app = express().use((incoming, _response, next) => void incoming.on("end", next).resume());
    app.use("/payments", router() as never);
    expect((await post(app, "/payments/webhook")).status).toBe(500);
  });

  it("whose chunks another middleware has turned into text gets the same 500, in one chunk or more", async () => {
    const app = express().use((incoming, _response, next) => next(void incoming.setEncoding("utf8")));
    app.use("/payments", router() as never);
    expect((await post(app, "/payments/webhook")).status).toBe(500);
    const sending = request(app).post("/payments/webhook").set(signed(body).headers);
    sending.set("transfer-encoding", "chunked").write(body.slice(0, 10));
    expect((await sending.send(body.slice(10))).status).toBe(500);
  });

  it("that another middleware has paused is read", async () => {
    const app = express().use((incoming, _response, next) => next(void incoming.pause()));
    app.use("/payments", paymentRouter(testKit({ webhook: { bodyTimeoutMs: 500 } })) as never);
    expect((await post(app, "/payments/webhook")).status).toBe(200);
  });

  it.each([
    ["is read by the router", undefined],
    ["is taken from captureRawBody", express.json({ verify: captureRawBody, limit: "1mb" })],
    ["is taken from express.raw()", express.raw({ type: "*/*", limit: "1mb" })],
  ])("may have exactly the bytes of the limit, and not one more, where it %s", async (_, parser) => {
    const payments = testKit({ webhook: { limitBytes: Buffer.byteLength(body) } });
    const app = express();
    if (parser) app.use(parser);
    app.use("/payments", paymentRouter(payments) as never);
    expect((await post(app, "/payments/webhook")).status).toBe(200);

    const larger = signed(`${body} `);
    const refused = await request(app)
      .post("/payments/webhook")
      .set(larger.headers)
      .send(larger.rawBody.toString());
    expect(refused.status).toBe(413);
  });

  it("is refused at the first byte too many, where its length is not announced", async () => {
    const limitBytes = Buffer.byteLength(body);
    const app = express().use("/payments", paymentRouter(testKit({ webhook: { limitBytes } })) as never);
    const chunked = (text: string) => {
      const { headers } = signed(text);
      const sending = request(app)
        .post("/payments/webhook")
        .set({ ...headers, "transfer-encoding": "chunked" });
      sending.write(text.slice(0, 10));
      return sending.send(text.slice(10));
    };
    expect((await chunked(body)).status).toBe(200);
    expect((await chunked(`${body} `)).status).toBe(413);
  });

  it("is the bytes of all chunks, and none more, where its length is not announced", async () => {
    const app = express().use("/payments", router() as never);
    const { headers } = signed(body);
    const sending = request(app)
      .post("/payments/webhook")
      .set({ ...headers, "transfer-encoding": "chunked" });
    for (const character of body.slice(0, -1)) sending.write(character);
    expect((await sending.send(body.slice(-1))).status).toBe(200);
  });

  it("may be empty, and is then not signed", async () => {
    const app = express().use("/payments", router() as never);
    const response = await request(app).post("/payments/webhook").set("content-type", "application/json");
    expect(response.status).toBe(401);
  });
});

/** Opens a socket, and sends the head of a webhook with these header lines, and then a part of the body. */
function sendPart(url: string, lines: string, part = ""): Socket {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  socket.on("error", () => {});
  socket.write(`POST /payments/webhook HTTP/1.1\r\nHost: shop\r\n${lines}\r\n\r\n${part}`);
  return socket;
}

/** Resolves to what the server sends until it closes the connection. */
async function answerOf(socket: Socket): Promise<string> {
  let answer = "";
  socket.setEncoding("latin1").on("data", (data: string) => (answer += data));
  await once(socket, "close");
  return answer;
}

describe("a body that does not arrive completely", () => {
  /** Serves a kit behind this middleware. `refused` resolves to the first refusal. */
  async function open(
    webhook: WebhookOptions,
    before: RequestHandler = (_request, _response, next) => next(),
  ) {
    const payments = testKit({ webhook });
    const refused = new Promise((resolve) => payments.on("webhook.rejected", resolve));
    const app = express5().use(before).use("/payments", paymentRouter(payments));
    return { url: await serve(app), refused };
  }

  it.each(["Content-Length: 10", "Transfer-Encoding: chunked"])(
    "in time (%s) is refused with 408 on a closed connection",
    async (lines) => {
      const { url, refused } = await open({ bodyTimeoutMs: 20 });
      const answer = await answerOf(sendPart(url, lines, "1\r\n"));
      expect(answer).toMatch(/^HTTP\/1\.1 408 [^]*^connection: close$/im);
      expect(await refused).toEqual({ code: "body_timeout", status: 408 });
    },
  );

  it("because its announced length is over the limit is refused without waiting for it", async () => {
    const { url, refused } = await open({ limitBytes: 9, bodyTimeoutMs: 50 });
    const answer = await answerOf(sendPart(url, "Content-Length: 10"));
    expect(answer).toMatch(/^HTTP\/1\.1 413 [^]*^connection: close$/im);
    expect(await refused).toEqual({ code: "body_too_large", status: 413 });
  });

  const incomplete = { code: "body_incomplete", status: 400 };

  it("because the sender closes the connection is refused", async () => {
    let arrived = (): void => {};
    const reading = new Promise<void>((resolve) => (arrived = resolve));
    const { url, refused } = await open({}, (_request, _response, next) => {
      next();
      arrived();
    });
    const socket = sendPart(url, "Content-Length: 10", "{");
    await reading;
    socket.destroy();
    expect(await refused).toEqual(incomplete);
  });

  it.each<[string, RequestHandler]>([
    ["before", (request, _response, next) => void request.once("close", () => next()).destroy()],
    [
      "while",
      (request, _response, next) => {
        next();
        request.destroy();
      },
    ],
  ])("because the application destroys the request %s it is read is refused", async (_, before) => {
    // A reader that waits for the rest would refuse it as too late.
    const { url, refused } = await open({ bodyTimeoutMs: 50 }, before);
    sendPart(url, "Content-Length: 10", "{");
    expect(await refused).toEqual(incomplete);
  });

  it("is refused with the connection's error as the cause", async () => {
    const cause = new Error("the connection was reset");
    const reading = new Promise((resolve) => {
      const readRawBody = rawBodyReader({ limitBytes: 100, bodyTimeoutMs: 1000 });
      void serve((request) => {
        resolve(readRawBody(request));
        request.destroy(cause);
      }).then((url) => sendPart(url, "Content-Length: 10", "{"));
    });
    await expect(reading).rejects.toMatchObject({ code: "body_incomplete", cause });
  });
});

it("a body in chunks of one byte allocates twice its length at most", async () => {
  const length = 4096;
  const allocate = jest.spyOn(Buffer, "allocUnsafeSlow");
  try {
    const reading = new Promise<Buffer>((resolve, reject) => {
      const readRawBody = rawBodyReader({ limitBytes: 1024 * 1024, bodyTimeoutMs: 60_000 });
      void serve((request) => void Promise.resolve(readRawBody(request)).then(resolve, reject)).then((url) =>
        sendPart(url, "Transfer-Encoding: chunked", `${"1\r\nx\r\n".repeat(length)}0\r\n\r\n`),
      );
    });
    expect((await reading).toString()).toBe("x".repeat(length));
    const allocated = allocate.mock.calls.reduce((sum, [bytes]) => sum + bytes, 0);
    expect(allocated).toBeGreaterThan(0);
    expect(allocated).toBeLessThanOrEqual(2 * length);
  } finally {
    allocate.mockRestore();
  }
});

it("a body that has arrived leaves no timer that keeps the process alive", async () => {
  const timeout = jest.spyOn(globalThis, "setTimeout");
  const request = Object.assign(Readable.from([Buffer.from("{}")]), { headers: {} });
  const readRawBody = rawBodyReader({ limitBytes: 100, bodyTimeoutMs: 60_000 });
  expect(await readRawBody(request as never)).toEqual(Buffer.from("{}"));
  expect(timeout.mock.results.map(({ value }) => (value as NodeJS.Timeout).hasRef())).toEqual([false]);
  timeout.mockRestore();
});

it("a body that is too large is read no further", async () => {
  const request = Object.assign(new PassThrough(), { headers: {} });
  const readRawBody = rawBodyReader({ limitBytes: 100, bodyTimeoutMs: 60_000 });
  const reading = readRawBody(request as never);
  request.write(Buffer.alloc(101));
  await expect(reading).rejects.toMatchObject({ code: "body_too_large" });
  expect(request.isPaused()).toBe(true);
  request.destroy();
});

import { fork } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import { connect, type AddressInfo } from "node:net";
import path from "node:path";
import express5 from "express";
import express4 from "express4";
import { createExpressServer, paymentRouter } from "tillkit";
import { shareShape } from "../../src/http/create-express-server.js";
import { buildKit } from "../support/built-kit.js";
import { closeAll, testKit } from "../support/kit.js";

afterEach(closeAll);

type Application = ReturnType<typeof express5>;

const underWay = 8;

/** Returns requests that have arrived without their body, after `look` has seen each. */
async function arriving(
  app: Application,
  makeServer: (app: Application) => Server = (made) => createServer(made as RequestListener),
): Promise<void> {
  const server = makeServer(app);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const sockets = Array.from({ length: underWay }, () => connect(port, "127.0.0.1"));
  let requests = 0;
  const all = new Promise<void>((resolve) => {
    server.on("request", () => (requests += 1) === underWay && resolve());
  });
  for (const socket of sockets)
    socket.write(
      "POST /payments/webhook HTTP/1.1\r\nHost: shop\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n",
    );
  await all;
  for (const socket of sockets) socket.destroy();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

const versions = [
  ["Express 5", "express", express5],
  ["Express 4", "express4", express4 as unknown as typeof express5],
] as const;

let kit: string;
beforeAll(() => void (kit = buildKit()));
afterAll(() => rmSync(kit, { recursive: true }));

describe.each(versions)("on a stock server of %s,", (_, name, express) => {
  it("webhooks share one shape in the payment router, and their responses another", async () => {
    // In processes of their own, because in some processes of jest no two objects share a hidden class. It rarely happens
    // in a separate process too; then another one is started.
    let shared = 0;
    for (let tries = 0; tries < 3 && shared < underWay / 2; tries++) {
      const child = fork(path.join(__dirname, "sharing.cjs"), [kit, name], {
        execArgv: ["--allow-natives-syntax"],
      });
      const [sharing] = (await once(child, "message")) as [{ requests: number; responses: number }];
      shared = Math.min(sharing.requests, sharing.responses);
    }
    // The first ones may come before the engine knows how much space such an object needs.
    expect(shared).toBeGreaterThanOrEqual(underWay / 2);
  });

  it("nothing is different for the application", async () => {
    let seen = 0;
    const look = (request: IncomingMessage, response: ServerResponse) => ({
      request: Object.getOwnPropertyNames(request).toSorted(),
      response: Object.getOwnPropertyNames(response).toSorted(),
      complete: request.complete,
      sendDate: response.sendDate,
      prototypes: [Object.getPrototypeOf(request), Object.getPrototypeOf(response)] as unknown[],
    });
    await arriving(
      express().use((request, response) => {
        response.sendDate = seen % 2 === 0;
        const before = look(request, response);
        shareShape(request, response);
        expect(look(request, response)).toEqual(before);
        seen += 1;
      }),
    );
    expect(seen).toBe(underWay);
  });
});

it("leaves a server of createExpressServer alone", async () => {
  let seen = 0;
  const app = express5();
  app.use((request, response, next) => {
    // A property that is deleted and put back is the last one then.
    const place = Object.keys(response).indexOf("sendDate");
    next();
    expect(Object.keys(response).indexOf("sendDate")).toBe(place);
    seen += 1;
  });
  app.use("/payments", paymentRouter(testKit()));
  await arriving(app, (made) => createExpressServer(made));
  expect(seen).toBe(underWay);
});

// A property that is deleted and put back is the last one then.
it("puts a property of each back, on the engines where that helps", () => {
  const losesShapes = Number(process.versions.v8.split(".")[0]) < 13;
  const request = { complete: true, socket: {} };
  const response = { sendDate: false, req: request };
  shareShape(request as never, response as never);
  expect(Object.keys(request).at(-1)).toBe(losesShapes ? "complete" : "socket");
  expect(Object.keys(response).at(-1)).toBe(losesShapes ? "sendDate" : "req");
  expect([request.complete, response.sendDate]).toEqual([true, false]);
});

it.each([
  [
    "a getter",
    {
      socket: {},
      get complete() {
        return true;
      },
    },
  ],
  [
    "an inherited getter",
    Object.create({
      socket: {},
      get complete() {
        return true;
      },
    }) as object,
  ],
  ["a sealed value", Object.seal({ socket: {}, complete: true })],
  ["a constant", Object.defineProperty({ socket: {} }, "complete", { value: true, configurable: true })],
])("leaves a stand-in alone that has %s where Node has a value", (_, standIn) => {
  const before = Object.getOwnPropertyDescriptors(standIn);
  const response = Object.freeze({ sendDate: true });
  expect(() => shareShape(standIn as never, response as never)).not.toThrow();
  expect(Object.getOwnPropertyDescriptors(standIn)).toEqual(before);
  expect(standIn).toHaveProperty("complete", true);
});

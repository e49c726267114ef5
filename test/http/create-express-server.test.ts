import {
  IncomingMessage,
  request as httpRequest,
  type RequestOptions,
  type Server,
  ServerResponse,
} from "node:http";
import { type AddressInfo } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInThisContext } from "node:vm";
import express5 from "express";
import express4 from "express4";
import { createExpressServer, paymentRouter } from "tillkit";
import { closeAll, testKit } from "../support/kit.js";
import { completedBody, signed } from "../support/webhooks.js";

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  await closeAll();
});

setFlagsFromString("--allow-natives-syntax");
/** Returns what V8 reports. */
const isWithoutTable = runInThisContext("(object) => %HasFastProperties(object)") as (
  object: object,
) => boolean;

type App = ReturnType<typeof express5>;
const versions = [
  ["Express 5", express5],
  ["Express 4", express4 as unknown as typeof express5],
] as const;

async function listening(app: App): Promise<number> {
  const server = createExpressServer(app);
  servers.push(server);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

function ask(port: number, path: string, options: RequestOptions = {}, body = "") {
  return new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; text: string }>(
    (resolve, reject) => {
      const request = httpRequest({ port, path, host: "127.0.0.1", ...options }, (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (piece: string) => (text += piece));
        response.on("end", () => resolve({ status: response.statusCode!, headers: response.headers, text }));
      });
      request.on("error", reject);
      request.end(body);
    },
  );
}

describe.each(versions)("a server made for an application, on %s,", (_, express) => {
  it("takes webhooks", async () => {
    const app = express().use("/payments", paymentRouter(testKit()) as never);
    const { headers, rawBody } = signed(completedBody());
    const answer = await ask(
      await listening(app),
      "/payments/webhook",
      { method: "POST", headers },
      rawBody.toString(),
    );
    expect(answer).toMatchObject({ status: 200, text: '{"received":true}' });
  });

  it("makes requests and responses that need no other prototype", async () => {
    const app = express();
    const seen: boolean[] = [];
    const server = createExpressServer(app);
    servers.push(server);
    // Before Express, whose listener was added first.
    server.prependListener("request", (request, response) => {
      seen.push(
        Object.getPrototypeOf(request) === app.request,
        Object.getPrototypeOf(response) === app.response,
      );
      seen.push(request instanceof IncomingMessage, response instanceof ServerResponse);
    });
    app.get("/", (_request, response) => void response.send("here"));
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    await ask((server.address() as AddressInfo).port, "/");
    expect(seen).toEqual([true, true, true, true]);
  });

  it("makes requests and responses with space for the properties of Node and Express", async () => {
    const seen: Promise<boolean>[] = [];
    const app = express().use((request, response, next) => {
      const closed = new Promise((resolve) => void response.on("close", resolve));
      seen.push(closed.then(() => isWithoutTable(request) && isWithoutTable(response)));
      next();
    });
    app.use("/payments", paymentRouter(testKit()) as never);
    const port = await listening(app);
    for (let n = 1; n <= 10; n++) {
      const { headers, rawBody } = signed(completedBody());
      await ask(port, "/payments/webhook", { method: "POST", headers }, rawBody.toString());
      await ask(port, "/payments/nowhere");
    }
    expect(await Promise.all(seen)).toEqual(Array.from({ length: 20 }, () => true));
  });

  it("serves what an application has: parameters, bodies, redirects, errors, and pages that are not there", async () => {
    const app = express();
    app.use(express.json());
    app.get(
      "/orders/:id",
      (request, response) => void response.json({ id: request.params["id"], ip: request.ip }),
    );
    app.post("/orders", (request, response) => void response.status(201).json(request.body));
    app.get("/old", (_request, response) => response.redirect(303, "/new"));
    app.get("/broken", () => {
      throw Object.assign(new Error("teapot"), { status: 418 });
    });
    const port = await listening(app);

    expect(await ask(port, "/orders/17?a=1")).toMatchObject({
      status: 200,
      text: '{"id":"17","ip":"127.0.0.1"}',
    });
    const post = { method: "POST", headers: { "content-type": "application/json" } };
    expect(await ask(port, "/orders", post, '{"a":1}')).toMatchObject({ status: 201, text: '{"a":1}' });
    expect(await ask(port, "/old")).toMatchObject({ status: 303, headers: { location: "/new" } });
    expect((await ask(port, "/broken")).status).toBe(418);
    expect((await ask(port, "/nowhere")).status).toBe(404);
  });

  it("serves sub-applications, each with its own settings, and the main application after them", async () => {
    const shop = express();
    shop.set("name", "shop");
    Object.defineProperty(shop.request, "ofShop", { value: "yes" });
    shop.get(
      "/name",
      (request, response) =>
        void response.json([
          request.app.get("name"),
          (request as { ofShop?: string }).ofShop,
          request.baseUrl,
        ]),
    );
    const app = express();
    app.set("name", "main");
    app.use("/shop", shop);
    app.use(
      (request, response) =>
        void response.json([
          request.app.get("name"),
          (request as { ofShop?: string }).ofShop,
          request.baseUrl,
        ]),
    );
    const port = await listening(app);

    expect(JSON.parse((await ask(port, "/shop/name")).text)).toEqual(["shop", "yes", "/shop"]);
    expect(JSON.parse((await ask(port, "/shop/other")).text)).toEqual(["main", null, ""]);
  });

  it("takes webhooks in a router of a sub-application", async () => {
    const shop = express().use("/payments", paymentRouter(testKit()) as never);
    const app = express().use("/shop", shop);
    const { headers, rawBody } = signed(completedBody());
    const post = { method: "POST", headers };
    const answer = await ask(await listening(app), "/shop/payments/webhook", post, rawBody.toString());
    expect(answer.status).toBe(200);
  });

  it("passes on the options of an http server", async () => {
    const app = express();
    app.use((_request, response) => void response.send("here"));
    const server = createExpressServer(app, { maxHeaderSize: 1024 });
    servers.push(server);
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    expect((await ask(port, "/")).status).toBe(200);
    expect((await ask(port, "/", { headers: { long: "x".repeat(2000) } })).status).toBe(431);
  });
});

import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import { connect, type AddressInfo } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInThisContext } from "node:vm";
import express5 from "express";
import express4 from "express4";
import { createExpressServer, paymentRouter } from "tillkit";
import { shareShape } from "../../src/http/shared-shape.js";
import { closeAll, testKit } from "../support/kit.js";

afterEach(closeAll);

setFlagsFromString("--allow-natives-syntax");
/** The engine's own word for it. */
const haveSameShape = runInThisContext("(a, b) => %HaveSameMap(a, b)") as (a: object, b: object) => boolean;

type Application = ReturnType<typeof express5>;

const underWay = 8;

/** Requests that have all arrived at the application and lack their body, once `look` has seen each. */
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

/** How many have the shape of the one before. The engine forgets shapes when it collects garbage, so not always all. */
function sharing(objects: readonly object[]): number {
  return objects.filter((one, at) => at > 0 && haveSameShape(one, objects[at - 1]!)).length;
}

const versions = [
  ["Express 5", express5],
  ["Express 4", express4 as unknown as typeof express5],
] as const;

describe.each(versions)("on a stock server of %s,", (_, express) => {
  it("webhooks share one shape behind the payment router, and their responses another", async () => {
    // The engine remembers such shapes in 64 places, by a hash of their prototype. Where two kinds have one place, which is chance,
    // they push each other out; so several applications are tried, each with prototypes of its own.
    let shared = 0;
    for (let application = 0; application < 8; application++) {
      const requests: IncomingMessage[] = [];
      const responses: ServerResponse[] = [];
      const app = express();
      app.use((request, response, next) => {
        requests.push(request);
        responses.push(response);
        next();
      });
      app.use("/payments", paymentRouter(testKit()) as never);
      await arriving(app);
      expect(requests).toHaveLength(underWay);
      if (Math.min(sharing(requests), sharing(responses)) >= underWay / 2) shared += 1;
    }
    expect(shared).toBeGreaterThanOrEqual(3);
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

it("leaves a server alone that was made for its application", async () => {
  let seen = 0;
  const app = express5();
  app.use((request, response, next) => {
    // What is taken away and put back stands behind all others then.
    const place = Object.keys(response).indexOf("sendDate");
    next();
    expect(Object.keys(response).indexOf("sendDate")).toBe(place);
    seen += 1;
  });
  app.use("/payments", paymentRouter(testKit()));
  await arriving(app, (made) => createExpressServer(made));
  expect(seen).toBe(underWay);
});

it("leaves a stand-in alone that has a getter where Node has a value", () => {
  const standIn = {
    socket: {},
    get complete() {
      return true;
    },
  };
  const response = Object.freeze({ sendDate: true });
  expect(() => shareShape(standIn as never, response as never)).not.toThrow();
  expect(standIn.complete).toBe(true);
});

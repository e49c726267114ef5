import { type RequestListener } from "node:http";
import { type ErrorRequestHandler, type RequestHandler } from "express";
import express5 from "express";
import express4 from "express4";
import {
  MemoryStore,
  paymentRouter,
  type ConfigurationProblem,
  type ConfigurationError,
  type MemoryTx,
} from "tillkit";
import { makeReturnToken } from "../../src/checkout/return-token.js";
import { send } from "../promises/corpora/world.js";
import { closeAll, serve, testKit, testOptions } from "../support/kit.js";
import { completedBody, pendingPayment, signed } from "../support/webhooks.js";

afterEach(closeAll);

describe("a router that is made from options", () => {
  it("calls onPaymentCompleted of the options", async () => {
    const store = new MemoryStore();
    await store.transaction((tx) => store.save(tx, { created: [pendingPayment()] }));
    let completed = (_event: unknown): void => {};
    const event = new Promise((resolve) => (completed = resolve));
    const router = paymentRouter<never, MemoryTx>({
      ...testOptions<never, MemoryTx>({ store }),
      onPaymentCompleted: (each) => completed(each),
    });
    const url = await serve(express5().use(router));
    const { headers, rawBody } = signed(completedBody());
    expect((await send(url, { method: "POST", path: "/webhook", headers, body: rawBody })).status).toBe(200);
    expect(await event).toMatchObject({ type: "payment.completed", payment: { clientId: "c-1" } });
    await router.payments.close();
  });

  it("takes what the options leave out from the environment", async () => {
    const { publicUrl: _, ...options } = testOptions<never, MemoryTx>();
    process.env["TILLKIT_PUBLIC_URL"] = "https://shop.example/from-environment";
    try {
      const { payments } = paymentRouter<never, MemoryTx>(options);
      expect(payments.options.publicUrl).toBe("https://shop.example/from-environment");
      await payments.close();
    } finally {
      delete process.env["TILLKIT_PUBLIC_URL"];
    }
  });

  it.each([null, "shop.db", 3000])("refuses %p, and says what it takes", (source) => {
    expect(() => paymentRouter(source as never)).toThrow(
      expect.objectContaining({
        name: "ConfigurationError",
        code: "option_invalid",
        message: expect.stringContaining("takes what createPayments returned"),
      }),
    );
  });

  it("refuses an option that is nearly onPaymentCompleted, and suggests it", () => {
    const misspelt = { ...testOptions(), onPaymentComplete: () => {} };
    expect(problemsOf(() => paymentRouter(misspelt))).toMatchObject([
      {
        code: "option_invalid",
        option: "onPaymentComplete",
        // The kit itself would refuse the option too, and suggest none.
        message: expect.stringContaining("onPaymentCompleted") as string,
      },
    ]);
  });
});

describe("the start of a router", () => {
  it("announces a store that is not available", async () => {
    const error = new Error("the store is away");
    const store = Object.assign(new MemoryStore(), { migrate: () => Promise.reject(error) });
    const payments = testKit<never, MemoryTx>({ store });
    const notice = new Promise((resolve) => payments.on("store.unavailable", resolve));
    paymentRouter(payments);
    expect(await notice).toEqual({ during: "start", error });
  });

  it("waits for the handlers that the application adds after it made the router", async () => {
    const payments = testKit();
    const start = jest.fn<Promise<void>, []>(() => Promise.resolve());
    paymentRouter({ ...payments, start });
    expect(start).not.toHaveBeenCalled();
    await new Promise(setImmediate);
    expect(start).toHaveBeenCalledTimes(1);
  });

  it("does not keep the process alive", async () => {
    const payments = testKit();
    const started = new Promise((resolve) => {
      const start: typeof payments.start = (options) => {
        resolve(options);
        return payments.start(options);
      };
      paymentRouter({ ...payments, start });
    });
    expect(await started).toEqual({ keepAlive: false });
  });
});

describe.each([
  ["5", express5],
  ["4", express4 as unknown as typeof express5],
])("an error that no endpoint can answer, under Express %s", (_version, framework) => {
  const { token, hash } = makeReturnToken("c-1");

  /** Serves an application in which the first two answers to each request fail: the endpoint's own, and that to its error. */
  async function open() {
    const store = new MemoryStore();
    const created = [pendingPayment({ returnKeyHash: hash, createdAt: new Date().toISOString() })];
    await store.transaction((tx) => store.save(tx, { created }));
    const broken: RequestHandler = (_request, response, next) => {
      const writeHead = response.writeHead.bind(response);
      let calls = 0;
      response.writeHead = ((...args: Parameters<typeof writeHead>) => {
        calls += 1;
        if (calls <= 2) throw new Error(`the application's fault ${calls}`);
        return writeHead(...args);
      }) as typeof writeHead;
      next();
    };
    const report: ErrorRequestHandler = (error: Error, _request, response, _next) =>
      void response.status(502).send(error.message);
    const app = framework().use(broken);
    app.use(paymentRouter(testKit<never, MemoryTx>({ store })) as never);
    return serve(app.use(report));
  }

  it.each([
    ["POST", "/webhook"],
    ["POST", "/webhook?v=1"],
    ["GET", `/success/${token}`],
    ["GET", `/cancel/${token}/state`],
    ["GET", `/success/${token}x/x`],
  ])("goes to the application's error handler: %s %#", async (method, path) => {
    const { headers, rawBody } = signed(completedBody());
    const webhook = method === "POST" ? { headers, body: rawBody } : {};
    const { status, body } = await send(await open(), { method, path, ...webhook });
    expect([status, body]).toEqual([502, "the application's fault 2"]);
  });
});

function problemsOf(make: () => unknown): readonly ConfigurationProblem[] {
  try {
    make();
  } catch (error) {
    return (error as ConfigurationError).problems;
  }
  return [];
}

/** Ways to call the router without an Express application. Each removes the mount path, or leaves it. */
const outside: [
  string,
  (router: ReturnType<typeof paymentRouter<never, MemoryTx>>) => RequestListener,
  string,
][] = [
  [
    "node:http at its root",
    (router) => (request, response) => router(request, response, () => response.end("none")),
    "",
  ],
  [
    "node:http, with the mount path removed by hand",
    (router) => (request, response) => {
      request.url = request.url!.replace("/payments", "");
      router(request, response, () => void response.writeHead(404).end("none"));
    },
    "/payments",
  ],
  [
    "a Router outside of an application",
    (router) => {
      const outer = express5.Router().use("/payments", router as RequestHandler);
      return (request, response) => outer(request as never, response as never, () => response.end("none"));
    },
    "/payments",
  ],
];

describe.each(outside)("behind %s", (_, listen, mount) => {
  it("webhooks are recorded, and the customer sees the return page", async () => {
    const { token, hash } = makeReturnToken("c-1");
    const store = new MemoryStore();
    const created = [pendingPayment({ returnKeyHash: hash, createdAt: new Date().toISOString() })];
    await store.transaction((tx) => store.save(tx, { created }));
    const url = await serve(listen(paymentRouter(testKit<never, MemoryTx>({ store }))));
    const page = (path: string) =>
      send(url, { path: `${mount}/success/${path}`, headers: { "accept-language": "fr" } });
    const { headers, rawBody } = signed(completedBody());
    const path = `${mount}/webhook`;
    expect((await send(url, { method: "POST", path, headers, body: rawBody })).status).toBe(200);
    expect(await page(token)).toMatchObject({ status: 200, headers: { "content-language": "fr" } });
    expect(JSON.parse((await page(`${token}/state?n=1`)).body)).toMatchObject({ state: "paid" });
    expect(await page(`${token}~`)).toMatchObject({ status: 404, headers: { "content-language": "fr" } });
  });
});

import express from "express";
import express4 from "express4";
import { paymentRouter, returnRouter, webhookRouter, type PathOptions, type Payments } from "tillkit";
import { problemsOf } from "../../src/kit/options/option-problems.js";
import { send } from "../promises/corpora/world.js";
import { closeAll, serve, testKit, testOptions } from "../support/kit.js";
import { willingService } from "../support/willing-service.js";
import { completedBody, signed } from "../support/webhooks.js";

afterEach(closeAll);

/** Makes a kit at this public address, with one payment. Returns it with the two return addresses of the payment. */
async function kitAt(publicUrl: string, paths?: PathOptions) {
  const { sent, options: service } = willingService();
  const payments = testKit({ publicUrl, paths, service });
  await payments.create({ reference: "42", total: { value: "1475", currency: "KMF" }, clientId: "c-1" });
  const { successUrl, cancelUrl } = sent[0]!;
  return { payments, success: new URL(successUrl).pathname, cancel: new URL(cancelUrl).pathname };
}

/** Adds the shop's own pages, and serves the application. */
function shopOf(app: express.Express): Promise<string> {
  app.use((request, response) => void response.status(200).send(`the shop's ${request.originalUrl}`));
  return serve(app);
}

async function deliver(url: string, path: string): Promise<number> {
  const { headers, rawBody } = signed(completedBody({ id: "s-1" }));
  return (await send(url, { method: "POST", path, headers, body: rawBody })).status;
}

const stateOf = async (payments: Payments) => (await payments.find("c-1"))?.state;

describe.each([
  ["5", express],
  ["4", express4 as unknown as typeof express],
])("the router at the root of an application, under Express %s", (_version, framework) => {
  async function open() {
    const { payments, success, cancel } = await kitAt("https://shop.example");
    const url = await shopOf(framework().use(paymentRouter(payments) as never));
    return { url, payments, success, cancel };
  }

  it.each([
    "/",
    "/success",
    "/success/story",
    "/success/story/state",
    "/success/stories/2026?by=~us",
    "/Success/story",
    "/success/%zz",
    "/cancel/my-subscription",
    "/webhooks",
    "/webhook/logs",
  ])("lets the shop's %s through", async (path) => {
    const { url } = await open();
    for (const method of ["GET", "POST"]) {
      const { status, body } = await send(url, { method, path });
      expect([status, body]).toEqual([200, `the shop's ${path}`]);
    }
  });

  it("answers its own addresses, and those that may contain a token", async () => {
    const { url, payments, success, cancel } = await open();
    expect(await deliver(url, "/webhook")).toBe(200);
    expect(await stateOf(payments)).toBe("completed");
    const encoded = [success.replace("~", "%7E"), success.replace("~", "%7e")];
    for (const path of [success, `${success}/`, `${success}/state`, ...encoded, cancel]) {
      const { status, body } = await send(url, { path });
      expect([path, status, body.includes("the shop's")]).toEqual([path, 200, false]);
    }
    const escapedTwice = [success.replace("~", "%257e"), success.replace("~", "%25257E")];
    for (const path of [`${success}x`, `${success}/x`, `${cancel}%ff`, ...escapedTwice]) {
      const { status, body } = await send(url, { path });
      expect([path, status, body.includes("the shop's")]).toEqual([path, 404, false]);
    }
  });
});

describe("the option paths", () => {
  it("moves the three addresses", async () => {
    const paths = { webhook: "/hooks/pay", success: "/pay/merci", cancel: "/pay/annule" };
    const { payments, success, cancel } = await kitAt("https://shop.example/shop/", paths);
    expect(success).toMatch(/^\/shop\/pay\/merci\/c-1~/);
    expect(cancel).toMatch(/^\/shop\/pay\/annule\/c-1~/);
    const url = await shopOf(express().use("/shop", paymentRouter(payments)));
    expect(await deliver(url, "/shop/hooks/pay")).toBe(200);
    expect(await deliver(url, "/shop/hooks/pay?v=1")).toBe(200);
    expect(await stateOf(payments)).toBe("completed");
    expect((await send(url, { path: success })).body).toContain('data-state="paid"');
    expect((await send(url, { path: `${success}/state` })).status).toBe(200);
    expect((await send(url, { path: "/shop/webhook" })).body).toBe("the shop's /shop/webhook");
  });

  it("leaves the paths alone that it does not name", async () => {
    const { payments, success } = await kitAt("https://shop.example", { webhook: "/hook" });
    expect(success).toMatch(/^\/success\//);
    expect(await deliver(await shopOf(express().use(paymentRouter(payments))), "/hook")).toBe(200);
  });

  it.each<[PathOptions, string]>([
    [{ webhook: "webhook" }, "paths.webhook"],
    [{ webhook: "" }, "paths.webhook"],
    [{ webhook: "/" }, "paths.webhook"],
    [{ success: "/success/" }, "paths.success"],
    [{ success: "/:token" }, "paths.success"],
    [{ success: "/a*" }, "paths.success"],
    [{ success: "/a/../b" }, "paths.success"],
    [{ cancel: "/a b" }, "paths.cancel"],
    [{ cancel: "//evil.example" }, "paths.cancel"],
    [{ cancel: "https://evil.example" }, "paths.cancel"],
    [{ cancel: 1 as never }, "paths.cancel"],
    [{ cancel: "/Success/no" }, "paths.cancel"],
    [{ webhook: "/success" }, "paths.webhook"],
    [{ sucess: "/ok" } as never, "paths.sucess"],
  ])("refuses %j", (paths, option) => {
    expect(problemsOf(testOptions({ paths }), {})[0]).toMatchObject({ code: "option_invalid", option });
  });
});

describe("separate routers of one kit", () => {
  it("answer the webhook and the returns at different places", async () => {
    const { payments, success, cancel } = await kitAt("https://shop.example/orders");
    const app = express().use("/orders", returnRouter(payments)).use("/internal", webhookRouter(payments));
    const url = await shopOf(app);
    expect(await deliver(url, "/internal/webhook")).toBe(200);
    expect(await stateOf(payments)).toBe("completed");
    expect((await send(url, { path: success })).body).toContain('data-state="paid"');
    expect((await send(url, { path: cancel })).body).toContain('data-state="paid"');
    expect((await send(url, { path: "/orders/webhook" })).body).toBe("the shop's /orders/webhook");
    const elsewhere = success.replace("/orders", "/internal");
    expect((await send(url, { path: elsewhere })).body).toBe(`the shop's ${elsewhere}`);
  });

  it("make no webhook endpoint where only the returns are mounted", async () => {
    const { payments } = await kitAt("https://shop.example");
    const used: string[] = [];
    const watched = new Proxy(payments, {
      get: (kit, name, self) => (used.push(String(name)), Reflect.get(kit, name, self) as unknown),
    });
    returnRouter(watched);
    expect(used).not.toContain("receiveWebhook");
    webhookRouter(watched);
    expect(used).toContain("receiveWebhook");
  });

  it("both have the kit, and start it", async () => {
    const { payments } = await kitAt("https://shop.example");
    const done = new Promise((resolve) => payments.onPaymentCompleted(resolve));
    expect([webhookRouter(payments).payments, returnRouter(payments).payments]).toEqual([payments, payments]);
    const { headers, rawBody } = signed(completedBody({ id: "s-1" }));
    await payments.receiveWebhook({ headers, rawBody });
    await done;
  });
});

import { MemoryStore, type MemoryTx } from "tillkit";
import { makeReturnToken } from "../../../src/checkout/return-token.js";
import { problemsOf } from "../../../src/kit/options/option-problems.js";
import { send } from "../../promises/corpora/world.js";
import { appOf, closeAll, serve, testKit, testOptions } from "../../support/kit.js";
import { pendingPayment } from "../../support/webhooks.js";

afterEach(closeAll);

const { token, hash } = makeReturnToken("c-1");

/** Returns the address that a return is redirected to. */
async function redirectOf(successUrl: string, reference = "order 1/é"): Promise<unknown> {
  const store = new MemoryStore();
  const created = [pendingPayment({ reference, returnKeyHash: hash, createdAt: new Date().toISOString() })];
  await store.transaction((tx) => store.save(tx, { created }));
  const url = await serve(appOf(testKit<never, MemoryTx>({ store, returns: { successUrl } })));
  const { status, headers } = await send(url, { path: `/payments/success/${token}` });
  return [status, headers["location"]];
}

describe("a return that is redirected", () => {
  it.each([
    ["/orders/{reference}", "/orders/order%201%2F%C3%A9"],
    ["/commandes/réglées/{reference}", "/commandes/r%C3%A9gl%C3%A9es/order%201%2F%C3%A9"],
    [
      "https://shop.example/заказ?of={clientId}",
      "https://shop.example/%D0%B7%D0%B0%D0%BA%D0%B0%D0%B7?of=c-1",
    ],
    ["/100%25/%zz/{reference}", "/100%25/%zz/order%201%2F%C3%A9"],
  ])("goes to %s, in the letters that a header can have", async (successUrl, location) => {
    expect(await redirectOf(successUrl)).toEqual([303, location]);
  });

  it.each([
    "//evil.example",
    "\\evil",
    "/..",
    "\r\nSet-Cookie: a=b",
    "https://evil.example/",
    "javascript:x",
  ])("stays where the merchant sent it, whatever the reference is: %j", async (reference) => {
    const [status, location] = (await redirectOf("/{reference}", reference.replace(/\p{Cc}/gu, ""))) as [
      number,
      string,
    ];
    expect([status, new URL(location, "https://shop.example").host]).toEqual([303, "shop.example"]);
  });
});

describe("a return", () => {
  it.each([
    ["a page", 200, token, {}],
    ["a redirect to the merchant", 303, token, { successUrl: "/orders/{reference}" }],
    ["the page of an unknown token", 404, makeReturnToken("c-1").token, {}],
  ])("keeps its token out of caches and of the Referer, as %s", async (_, status, given, returns) => {
    const store = new MemoryStore();
    const created = [pendingPayment({ returnKeyHash: hash, createdAt: new Date().toISOString() })];
    await store.transaction((tx) => store.save(tx, { created }));
    const url = await serve(appOf(testKit<never, MemoryTx>({ store, returns })));
    const answer = await send(url, { path: `/payments/success/${given}` });
    expect(answer.status).toBe(status);
    expect(answer.headers).toMatchObject({ "cache-control": "no-store", "referrer-policy": "no-referrer" });
  });

  it.each([
    ["a HEAD request", { method: "HEAD" }],
    ["a prefetch", { headers: { "Sec-Purpose": "prefetch;prerender" } }],
    ["an older browser's prefetch", { headers: { Purpose: "prefetch" } }],
    ["a prefetch of Firefox", { headers: { "X-Moz": "prefetch" } }],
    ["a preview of Safari", { headers: { "X-Purpose": "preview" } }],
    ["a prefetch in capitals", { headers: { Purpose: "Prefetch" } }],
  ])("is not noted where it is %s", async (_, request) => {
    const store = new MemoryStore();
    const created = [pendingPayment({ returnKeyHash: hash, createdAt: new Date().toISOString() })];
    await store.transaction((tx) => store.save(tx, { created }));
    const url = await serve(appOf(testKit<never, MemoryTx>({ store })));
    const path = `/payments/success/${token}`;
    expect((await send(url, { path, ...request })).status).toBe(200);
    expect(await store.find("c-1")).not.toHaveProperty("successReturnedAt");
    expect((await send(url, { path })).status).toBe(200);
    expect(await store.find("c-1")).toHaveProperty("successReturnedAt");
  });
});

describe("a redirect address of the merchant", () => {
  it.each([
    "/a\u0001b",
    "/a\u007f",
    "/a\ud800",
    "/a b",
    "/\t/evil.example",
    "//evil.example",
    "/\\evil.example",
    "https:///evil.example",
    "https://evil.example@shop.example/",
    "https://{reference}.example/",
    "https://shop.example{reference}",
    "javascript:alert(1)",
    "data:text/html,x",
  ])("is refused where it is none that a browser could be sent to: %j", (address) => {
    for (const name of ["backUrl", "successUrl", "cancelUrl"] as const) {
      const problems = problemsOf(testOptions({ returns: { [name]: address } }), {});
      expect(problems.map(({ option, code }) => [option, code])).toEqual([
        [`returns.${name}`, "option_invalid"],
      ]);
    }
  });
});

it.each([
  ["links to the shop", "/", true],
  ["has no link that needs a payment", "/orders/{reference}", false],
])("the page of an unknown token %s", async (_, backUrl, isLinked) => {
  const store = new MemoryStore();
  const url = await serve(appOf(testKit<never, MemoryTx>({ store, returns: { backUrl } })));
  const { body } = await send(url, { path: `/payments/success/${token}` });
  expect(body.includes(`href="${backUrl}"`)).toBe(isLinked);
  expect(body).not.toContain("{reference}");
});

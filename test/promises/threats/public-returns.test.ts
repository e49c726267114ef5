import { type ReturnOptions } from "tillkit";
import { makeReturnToken } from "../../../src/checkout/return-token.js";
import { closeAll } from "../../support/kit.js";
import { completedBody, signed } from "../../support/webhooks.js";
import { openEndpoint, versions, type Known } from "./endpoint.js";

afterEach(closeAll);

const { token, hash } = makeReturnToken("c-1");
const [name, key] = token.split("~") as [string, string];
const other = makeReturnToken("c-2");

/** Opens a kit with two payments that have return addresses. */
function openReturns(
  { returns = {}, known = {} }: { returns?: ReturnOptions; known?: Known } = {},
  around = {},
) {
  const payments: Known[] = [
    { returnKeyHash: hash, ...known },
    { clientId: "c-2", reference: "order-2", serviceId: "s-2", returnKeyHash: other.hash },
    { clientId: "c-3", reference: "order-3", serviceId: "s-3" },
  ];
  return openEndpoint({ returns }, { payments, ...around });
}

const never = [
  ["another random part", `${name}~${makeReturnToken("c-1").token.split("~")[1]!}`],
  ["a random part with one wrong bit", `${name}~${key.slice(0, -1)}${key.endsWith("A") ? "B" : "A"}`],
  ["the random part of another payment", `c-1~${other.token.split("~")[1]!}`],
  ["another payment's name", `c-2~${key}`],
  ["a payment that never had an address", `c-3~${key}`],
  ["an unknown payment", `c-9~${key}`],
  ["the stored hash", `${name}~${hash.slice(0, 22)}`],
  ["no random part", `${name}~`],
  ["a short random part", `${name}~${key.slice(0, -1)}`],
  ["a long random part", `${name}~${key}A`],
  ["no name", `~${key}`],
  ["capital letters", `C-1~${key}`],
  ["a line break at its end", `${token}%0a`],
  ["a NUL in it", `c-1%00~${key}`],
  ["itself twice", `${token}~${key}`],
  ["8,000 characters", "a".repeat(8000)],
] as const;

it.each(never)(
  "Return: forged, enumerated: %s is the 404 page, and the log has only the route",
  async (_, forged) => {
    const kit = await openReturns();
    for (const kind of ["success", "cancel"]) {
      const page = await kit.get(`/payments/${kind}/${forged}`);
      expect([page.status, page.text.includes('data-state="not_found"')]).toEqual([404, true]);
      expect(page.text).not.toContain(key);
      const state = await kit.get(`/payments/${kind}/${forged}/state`);
      expect([state.status, state.text]).toEqual([404, '{"error":"not_found"}']);
    }
    expect(kit.log.map(({ route }) => route)).toEqual([
      "/success/:token",
      "/success/:token/state",
      "/cancel/:token",
      "/cancel/:token/state",
    ]);
    expect(kit.logText()).not.toContain(forged.slice(0, 60));
    for (const clientId of ["c-1", "c-2", "c-3"]) {
      const payment = await kit.payments.find(clientId);
      expect(payment).toMatchObject({ state: "pending", open: true });
      expect(payment).not.toHaveProperty("cancelReturnedAt");
    }
  },
);

it("Return: forged, enumerated: a thousand tries find no payment, do not disturb the customer, and all get equal answers", async () => {
  const kit = await openReturns();
  const answers = new Set<string>();
  for (let n = 0; n < 1000; n += 1) {
    const forged = makeReturnToken(["c-1", "c-3", "c-9"][n % 3]!).token;
    const { status, text } = await kit.get(`/payments/success/${forged}`);
    answers.add(`${status} ${text.replaceAll(/nonce="[^"]+"/g, "")}`);
  }
  expect(answers.size).toBe(1);
  expect((await kit.get(`/payments/success/${token}`)).status).toBe(200);
});

const withoutNonce = (text: string) => text.replaceAll(/nonce="[^"]+"/g, "");

it("Return: genuine, prefetched, HEAD, opened twice: the same page, and nothing changes", async () => {
  const kit = await openReturns();
  const address = `/payments/success/${token}`;
  const before = await kit.payments.find("c-1");
  const head = await kit.get(address, {}, "HEAD");
  const prefetched = [
    await kit.get(address, { "sec-purpose": "prefetch;prerender" }),
    await kit.get(address, { purpose: "prefetch" }),
    await kit.get(address, { "x-moz": "prefetch", "sec-purpose": "prefetch" }),
  ];
  expect(await kit.payments.find("c-1")).toEqual(before);

  const opened = [await kit.get(address), await kit.get(address)];
  const pages = [...prefetched, ...opened].map(({ text }) => withoutNonce(text));
  expect(new Set(pages).size).toBe(1);
  expect([head.status, head.text, head.headers["content-length"]]).toEqual([
    200,
    "",
    opened[0]!.headers["content-length"],
  ]);
  const { successReturnedAt, updatedAt: _, ...after } = (await kit.payments.find("c-1"))!;
  expect(successReturnedAt).toBeDefined();
  const { updatedAt: __, ...same } = before!;
  expect(after).toEqual(same);
});

it("Return: genuine, prefetched, HEAD, opened twice: a prefetched cancel closes no attempt, and an opened one decides nothing", async () => {
  const kit = await openReturns();
  const address = `/payments/cancel/${token}`;
  await kit.get(address, {}, "HEAD");
  await kit.get(address, { "sec-purpose": "prefetch" });
  await kit.get(`${address}/state`);
  expect(await kit.payments.find("c-1")).toMatchObject({ state: "pending", open: true });
  await kit.get(address);
  await kit.get(address);
  expect(await kit.payments.find("c-1")).toMatchObject({ state: "pending", open: false });
  await kit.post(JSON.stringify(completedBody()), signed(completedBody()).headers);
  expect(await kit.payments.find("c-1")).toMatchObject({ state: "completed" });
});

it("Return: genuine, prefetched, HEAD, opened twice: after the payment, no return changes anything", async () => {
  const kit = await openReturns();
  await kit.post(JSON.stringify(completedBody()), signed(completedBody()).headers);
  const before = await kit.payments.find("c-1");
  for (const kind of ["cancel", "success", "cancel"])
    expect((await kit.get(`/payments/${kind}/${token}`)).text).toContain('data-state="paid"');
  expect(await kit.payments.find("c-1")).toEqual(before);
});

const markup = `"><script>alert(1)</script><img src=x onerror=alert(1)>'\`{{7*7}}\${7*7}</title><!--`;

it("Return: reflected markup, open redirect (CVE-2024-29041, -43796): everything is escaped, whatever the name of an order, and wherever markup comes from", async () => {
  const kit = await openReturns({
    returns: { shopName: markup, backUrl: "/orders/{reference}?a={clientId}" },
    known: { reference: markup },
  });
  const encoded = encodeURIComponent(markup);
  for (const address of [token, `${token}?x=${encoded}`, encoded, `${encoded}?${encoded}`]) {
    const { text, headers } = await kit.get(`/payments/success/${address}`, {
      "accept-language": "<script>alert(1)</script>",
      referer: `https://evil.example/${encoded}`,
      "x-forwarded-host": "evil.example",
      "user-agent": markup.replaceAll("\n", ""),
    });
    expect(text).not.toMatch(/<script>alert|<img|onerror=alert\(1\)>/);
    expect(text).not.toContain("evil.example");
    expect(Object.values(headers).join()).not.toMatch(/alert|evil/);
    // Every script and style is the kit's own, and has the nonce of this answer.
    const nonce = /'nonce-([^']+)'/.exec(headers["content-security-policy"]!)![1]!;
    for (const [, attributes] of text.matchAll(/<(?:script|style)([^>]*)>/g))
      expect(attributes!.trim()).toBe(`nonce="${nonce}"`);
  }
});

it("Return: reflected markup, open redirect (CVE-2024-29041, -43796): the security headers, exactly", async () => {
  const kit = await openReturns();
  for (const address of [`success/${token}`, "success/forged", `cancel/${token}`, "cancel/%zz"]) {
    const { headers } = await kit.get(`/payments/${address}`);
    const nonce = /'nonce-([A-Za-z0-9+/]{22}==)'/.exec(headers["content-security-policy"]!)![1]!;
    expect(headers).toMatchObject({
      "content-security-policy":
        `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'; connect-src 'self'; ` +
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "content-type": "text/html; charset=utf-8",
      vary: "Accept-Language",
    });
    expect(headers).not.toHaveProperty("etag");
    expect(headers).not.toHaveProperty("set-cookie");
    expect(headers).not.toHaveProperty("access-control-allow-origin");
  }
  const state = await kit.get(`/payments/success/${token}/state`);
  expect(state.headers).toMatchObject({
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "content-type": "application/json; charset=utf-8",
  });
  const nonces = await Promise.all(Array.from({ length: 20 }, () => kit.get(`/payments/success/${token}`)));
  expect(new Set(nonces.map(({ headers }) => headers["content-security-policy"])).size).toBe(20);
});

it.each([
  "//evil.example",
  "https://evil.example",
  "/\\evil.example",
  "@evil.example",
  ".evil.example",
  "%0d%0aX: y",
  "\r\nX: y",
])(
  "Return: reflected markup, open redirect (CVE-2024-29041, -43796): an order called %j redirects to no other address",
  async (reference) => {
    const printable = reference.replaceAll(/[\r\n]/g, "");
    for (const successUrl of [
      "/{reference}",
      "/orders/{reference}",
      "https://shop.example/{reference}?r={reference}",
    ]) {
      const kit = await openReturns({
        returns: { successUrl, backUrl: successUrl },
        known: { reference: printable },
      });
      const { status, headers } = await kit.get(
        `/payments/success/${token}?next=//evil.example&successUrl=//evil.example`,
        {
          "x-forwarded-host": "evil.example",
        },
      );
      expect(status).toBe(303);
      const target = new URL(headers["location"]!, "https://shop.example/payments/success/x");
      expect(target.origin).toBe("https://shop.example");
      expect(headers).toMatchObject({
        "cache-control": "no-store",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
      });
      expect(headers).not.toHaveProperty("x");
    }
  },
);

describe.each(versions)("on %s", (_, express) => {
  const queries = [
    "state=paid&state=paid",
    "state[]=paid&state[0]=paid",
    "token[a][b][c]=1",
    `${"a".repeat(2000)}=1`,
    Array.from({ length: 1200 }, (_, n) => `a[${n}]=1`).join("&"),
    `a${"[b]".repeat(500)}=1`,
    "__proto__[state]=paid&constructor[prototype][state]=paid",
    "hasOwnProperty=1&toString=1",
    "%zz=%ff&=&&&",
  ];

  it("Repeated or nested query parameters (CVE-2025-15284): ignored on a return, also where the application parses them", async () => {
    const before = (app: ReturnType<typeof express>) => app.set("query parser", "extended");
    const kit = await openReturns({}, { express, before });
    const bare = withoutNonce((await kit.get(`/payments/success/${token}`)).text);
    for (const query of queries) {
      const page = await kit.get(`/payments/success/${token}?${query}`);
      expect([page.status, withoutNonce(page.text)]).toEqual([200, bare]);
    }
    expect(({} as Record<string, unknown>)["state"]).toBeUndefined();
    expect(await kit.payments.find("c-1")).toMatchObject({ state: "pending" });
  });

  it("Repeated or nested query parameters (CVE-2025-15284): ignored on a webhook", async () => {
    const kit = await openEndpoint({}, { express });
    const { rawBody, headers } = signed(completedBody());
    for (const query of queries) {
      const address = new URL(
        `/payments/webhook?service-signature=${headers["service-signature"]}&${query}`,
        kit.url,
      );
      const forged = await fetch(address, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: rawBody,
      });
      expect(forged.status).toBe(401);
    }
    const address = new URL(`/payments/webhook?${queries[4]!}`, kit.url);
    expect((await fetch(address, { method: "POST", headers, body: rawBody })).status).toBe(200);
    expect(kit.logText()).not.toContain("service-signature");
  });
});

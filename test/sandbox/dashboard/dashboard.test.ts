import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import request from "supertest";
import { createSandbox } from "tillkit/sandbox";
import { unwrittenBench } from "../unwritten-bench.js";
import { OpenDashboard } from "./open-dashboard.js";

const pages = [
  "/",
  "/payments",
  "/developer",
  "/developer/webhooks",
  "/developer/scenarios",
  "/developer/behaviour",
];

describe("the dashboard", () => {
  const sendWhileUnwritten = unwrittenBench();
  let dashboard: OpenDashboard;
  beforeEach(async () => {
    dashboard = await OpenDashboard.open();
  });

  async function everyPage(): Promise<string[]> {
    const id = await dashboard.pays("order-9");
    await dashboard.sandbox.pay(id);
    const [delivery] = dashboard.sandbox.deliveries;
    return [...pages, `/payments/${id}`, `/developer/webhooks/deliveries/${delivery!.id}`];
  }

  it("marks the place of every page in the navigation", async () => {
    for (const path of await everyPage()) {
      const text = await dashboard.read(path);
      expect([path, text.match(/<a [^>]*aria-current="page"/g)?.length]).toEqual([path, 1]);
      expect([path, text.match(/<h1>/g)?.length]).toEqual([path, 1]);
      expect(text).toMatch(/<title>.+ · Payment sandbox<\/title>/);
      expect(text).toContain('data-events="/sandbox/api/events"');
      const isDevelopers = path.startsWith("/developer");
      expect(/<ul class="section open"/.test(text)).toBe(isDevelopers);
      expect(/href="\/developer" aria-current="true">Developer</.test(text)).toBe(isDevelopers);
      expect(text).toMatch(/<a href="\/developer"[^>]*>Credentials</);
    }
  });

  it("says that a payment or a delivery does not exist", async () => {
    for (const path of ["/payments/nothing", "/payments/order-9", "/developer/webhooks/deliveries/x"]) {
      const text = await dashboard.read(path, { status: 404 });
      expect(text).toContain("Nothing here");
      expect(text).toMatch(/<a class="back" href="\/(payments">← Payments|developer\/webhooks">← Webhooks)</);
    }
  });

  it("leads back from every other address that does not exist", async () => {
    for (const path of ["/nothing", "/payment/submit/nothing", "/developer/nothing"])
      expect(await dashboard.read(path, { status: 404 })).toContain('<a class="button" href="/">');
  });

  it.each([
    ["/developer/webhooks/addresses", { url: "https://shop.example/" }, "is not on this machine"],
    ["/developer/behaviour", { successStatus: "201", webhookDelayMs: "later" }, "must be a whole number"],
    ["/developer/behaviour/clock", { amount: "x", unit: "days" }, "The clock goes forward"],
    ["/developer/scenarios/own", { json: "{" }, "JSON"],
  ])("says at the form %s why it was refused, once", async (path, form, reason) => {
    const { text } = await dashboard.send(path, form);
    const [, after = ""] = text.split(`action="${path}#problem">`);
    const notice = /^\s*<p class="notice bad" id="problem" role="alert"[^>]*>([^<]+)</.exec(after)!;
    expect(notice[1]).toContain(reason);
    expect(text.match(/role="alert"/g)).toHaveLength(1);
  });

  it("says at the top why a form without fields was refused", async () => {
    const { text } = await dashboard.send("/developer/webhooks/addresses/wh99/try");
    expect(text).toMatch(/<\/header>\s*<p class="notice bad" id="problem"/);
  });

  it("shows in red that an address which was tried did not accept the webhook", async () => {
    const { id } = dashboard.sandbox.registerWebhook("http://127.0.0.1:9/webhook");
    const tried = await dashboard.does(`/developer/webhooks/addresses/${id}/try`);
    expect(tried).toMatch(/<p class="notice bad" role="status">\s*The address did not answer: /);
  });

  it("allows only its own script, and forms to itself only", async () => {
    for (const path of await everyPage()) {
      const { headers, text } = await request(dashboard.sandbox.app).get(path).expect(200);
      const policy = headers["content-security-policy"]!;
      const nonce = /script-src 'nonce-([^']+)'/.exec(policy)![1]!;
      expect(policy).toBe(
        `default-src 'none'; style-src 'nonce-${nonce}'; img-src data:; base-uri 'none'; frame-ancestors 'none'; ` +
          `script-src 'nonce-${nonce}'; connect-src 'self'; form-action 'self'`,
      );
      const tags = text.match(/<(script|style)\b[^>]*>/g)!;
      expect(tags.filter((tag) => !tag.includes(`nonce="${nonce}"`))).toEqual([]);
      expect(text).not.toMatch(/ (on[a-z]+|style)="/);
      expect(headers["cache-control"]).toBe("no-store");
      // With no-referrer, a browser would hide the origin of a form, and the form would be refused.
      expect(headers["referrer-policy"]).toBe("same-origin");
    }
  });

  it("shows the payments, the deliveries and the state of the sandbox", async () => {
    const empty = await dashboard.read("/");
    expect(empty).toContain("No payment yet");
    expect(empty).toContain("No webhook was sent yet");
    expect(empty).not.toMatch(/All (payments|deliveries)|No address: no webhook is sent/);
    expect(empty).toMatch(/class="button" href="\/developer\/scenarios">Choose another</);
    expect(empty).toMatch(/<code id="base-url">http:\/\/127\.0\.0\.1:\d+<\/code>/);
    expect(empty).toMatch(
      /data-copy="base-url"[^>]*>\s*<span>Copy<\/span> <span class="hidden">Base address</,
    );
    const id = await dashboard.pays("order-9", { value: "1234567", currency: "KMF" });
    await dashboard.sandbox.pay(id);
    dashboard.sandbox.scenario("webhook-doubled");
    await dashboard.sandbox.clock.advance(7_200_000);
    const text = await dashboard.read("/");
    const shownTime = Date.parse(/<p class="what"><time datetime="([^"]+)"/.exec(text)![1]!);
    expect(shownTime - Date.now()).toBeGreaterThan(3_600_000);
    for (const shown of [
      `href="/payments/${id}"`,
      "1,234,567\u00a0KMF",
      "completed",
      "payment.completed",
      ">200</span",
      "webhook-doubled",
      "The same webhook comes twice",
      dashboard.merchant.webhookUrl,
      "/oauth/token",
    ]) {
      expect(text).toContain(shown);
    }
  });

  it("shows the last six payments and webhooks on the front page, and the last refused requests, newest first", async () => {
    for (let number = 1; number <= 7; number += 1) {
      await dashboard.pays(`order-${number}`);
      await dashboard.sandbox.pay(`order-${number}`);
    }
    for (let number = 1; number <= 26; number += 1)
      await request(dashboard.sandbox.app).post(`/v1/refunds/${number}`).expect(404);
    const text = await dashboard.read("/");
    const listed = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, found]) => found);
    expect(text).toMatch(/href="\/payments">All payments \(7\)<[^]*#deliveries">All deliveries \(7\)</);
    expect(text).toContain('data-live="Webhook deliveries: 7"');
    expect(text).toContain('data-live="Refused requests: 26"');
    expect(text).toMatch(/refunds\/26<[^]*?interface shows one address[^]*?<time datetime=/);
    expect(listed(/<code>order-(\d)<\/code>/g)).toEqual(["7", "6", "5", "4", "3", "2"]);
    const deliveries = dashboard.sandbox.deliveries.map(({ id }) => id).toReversed();
    expect(listed(/deliveries\/([0-9a-f-]+)"/g)).toEqual(deliveries.slice(0, 6));
    const refused = listed(/POST \/v1\/refunds\/(\d+)</g);
    expect([refused.length, refused[0], refused.at(-1)]).toEqual([25, "26", "2"]);
  });

  it("says whether the state is kept", async () => {
    expect(await dashboard.read("/")).toContain("forgets it when it stops");
    const folder = await mkdtemp(path.join(tmpdir(), "tillkit-dashboard-"));
    const state = path.join(folder, "sandbox.db");
    const lasting = createSandbox({ state });
    const { text } = await request(lasting.app).get("/").expect(200);
    expect(text).toContain(`<code>${state}</code>`);
    await lasting.close();
    await rm(folder, { recursive: true });
  });

  it("holds webhooks back and releases them, and its front page leads there", async () => {
    expect(await dashboard.read("/")).toMatch(/href="\/developer\/webhooks#hold">Hold back</);
    const held = await dashboard.does("/developer/webhooks/hold");
    expect(dashboard.sandbox.webhooksHeld).toBe(true);
    expect(held).toContain("Webhooks are held back from now on.");
    expect(await dashboard.read("/")).toMatch(/Held back<[^]*href="\/developer\/webhooks#hold">Release</);
    expect(held).toMatch(/<p class="notice good" role="status">Webhooks are held[^]*>\s*Release /);
    const released = await dashboard.does("/developer/webhooks/release");
    expect(dashboard.sandbox.webhooksHeld).toBe(false);
    expect(released).toContain("Webhooks are sent again.");
  });

  it("shows no message that its address invents", async () => {
    for (const done of ["nothing", "constructor", "<b>", "__proto__"]) {
      const text = await dashboard.read(`/developer/webhooks?done=${encodeURIComponent(done)}&tried=x`);
      expect(text).not.toContain('class="notice');
    }
    expect(await dashboard.read("/developer/webhooks?done=added&done=removed")).not.toContain(
      'class="notice',
    );
  });

  it("leads to the next page only when a change is on disk", async () => {
    const { isEarly, answer } = await sendWhileUnwritten(
      {},
      async ({ app }) =>
        () =>
          request(app).post("/developer/scenarios").type("form").send({ scenario: "webhook-never" }),
    );
    expect([isEarly, answer.status]).toEqual([false, 303]);
  });

  it("puts every link below the path of its public address", async () => {
    const below = createSandbox({ publicUrl: "https://pay.example/box/" });
    const { text } = await request(below.app).get("/developer/webhooks").expect(200);
    const links = [...text.matchAll(/(?:href|action|data-page|data-events)="(\/[^"]*)"/g)].map(
      ([, to]) => to,
    );
    expect(links.length).toBeGreaterThan(8);
    expect(links.filter((to) => !to!.startsWith("/box/"))).toEqual([]);
    const answer = await request(below.app).post("/developer/webhooks/hold").type("form").send({});
    expect(answer.get("Location")).toBe("/box/developer/webhooks?done=held");
    expect(answer.get("Cache-Control")).toBe("no-store");
    await below.close();
  });

  describe("refuses", () => {
    const orders = [
      "/payments/ID/pay",
      "/payments/ID/cancel",
      "/payments/ID/fail",
      "/payments/ID/scenario",
      "/developer/tokens/revoke",
      "/developer/webhooks/addresses",
      "/developer/webhooks/addresses/wh1/remove",
      "/developer/webhooks/addresses/wh1/try",
      "/developer/webhooks/secret/rotate",
      "/developer/webhooks/hold",
      "/developer/webhooks/release",
      "/developer/webhooks/deliveries/x/again",
      "/developer/scenarios",
      "/developer/scenarios/own",
      "/developer/behaviour",
      "/developer/behaviour/clock",
    ];

    it.each(orders)("a form of another origin at %s", async (order) => {
      const id = await dashboard.pays("order-9");
      const { sandbox, merchant } = dashboard;
      const state = () => [
        sandbox.payments(),
        sandbox.accessTokens(),
        sandbox.webhookAddresses,
        sandbox.secret,
        sandbox.webhooksHeld,
        sandbox.settings,
        sandbox.currentScenario,
        sandbox.deliveries.length,
      ];
      const before = state();
      const form = { provider: "MVK", scenario: "webhook-never", url: merchant.webhookUrl, amount: "1" };
      for (const headers of [
        { Origin: "https://evil.example" },
        { Origin: "null" },
        { "Sec-Fetch-Site": "cross-site" },
        { "Sec-Fetch-Site": "same-site" },
        { Host: "evil.example" },
      ]) {
        const { status } = await dashboard.send(order.replace("ID", id), form, headers);
        expect([headers, status]).toEqual([headers, 403]);
      }
      expect(state()).toEqual(before);
    });

    it("to be read under a host name that another person could own", async () => {
      for (const page of pages) {
        const { status } = await request(dashboard.sandbox.app).get(page).set("Host", "evil.example");
        expect([page, status]).toEqual([page, 403]);
      }
    });

    it("forms that are too large, with a page", async () => {
      const answer = await dashboard.send("/developer/scenarios/own", { json: "x".repeat(300_000) });
      expect([answer.status, answer.text]).toEqual([413, expect.stringContaining("Not understood")]);
    });

    it("to change anything on a GET request", async () => {
      for (const order of orders) {
        const { status } = await request(dashboard.sandbox.app).get(order.replace("ID", "x"));
        expect([order, [200, 404].includes(status)]).toEqual([order, true]);
      }
      expect(dashboard.sandbox.webhooksHeld).toBe(false);
    });
  });
});

describe("text from outside on the dashboard", () => {
  it("is shown as text in every place", async () => {
    const evil = `<b>"&'</b></textarea></pre><script>`;
    const dashboard = await OpenDashboard.open({
      merchantName: evil,
      providers: [{ code: evil, name: evil }],
      scenarios: [{ name: "mine", about: evil }],
      seed: evil,
      scenario: "mine",
    });
    dashboard.merchant.answers.push((res) => res.setHeader("x-evil", `<b>"&'`).end(evil));
    const id = await dashboard.pays(evil);
    await dashboard.sandbox.pay(id);
    const [delivery] = dashboard.sandbox.deliveries;
    const shown = [...pages, `/payments/${id}`, `/developer/webhooks/deliveries/${delivery!.id}`];
    for (const path of shown) {
      const text = await dashboard.read(path);
      expect([path, text]).toEqual([path, expect.stringContaining("&lt;b&gt;&quot;&amp;&#39;")]);
      expect([path, text.includes("<b>"), text.match(/<script/g)?.length]).toEqual([path, false, 1]);
    }
    const forms: [string, Record<string, string>][] = [
      ["/developer/webhooks/addresses", { url: evil }],
      ["/developer/scenarios/own", { json: evil }],
      ["/developer/scenarios", { scenario: evil }],
      ["/developer/behaviour", { successStatus: evil, errorBodies: evil }],
      ["/developer/behaviour/clock", { amount: evil, unit: evil }],
      [`/payments/${id}/pay`, { provider: evil }],
      [`/payments/${id}/scenario`, { scenario: evil }],
    ];
    for (const [path, form] of forms) {
      const { status, text } = await dashboard.send(path, form);
      expect([path, status === 400 || status === 409]).toEqual([path, true]);
      expect([path, text.includes("<b>"), text.match(/<script/g)?.length]).toEqual([path, false, 1]);
      expect([path, text]).toEqual([path, expect.stringContaining('role="alert"')]);
    }
  });
});

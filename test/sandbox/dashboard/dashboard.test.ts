import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import request from "supertest";
import { createSandbox } from "tillkit/sandbox";
import { Desk } from "./open-dashboard.js";

const pages = [
  "/",
  "/payments",
  "/developer",
  "/developer/webhooks",
  "/developer/scenarios",
  "/developer/behaviour",
  "/not-shown",
];

describe("the dashboard", () => {
  let desk: Desk;
  beforeEach(async () => {
    desk = await Desk.open();
  });
  afterEach(() => desk.close());

  async function everyPage(): Promise<string[]> {
    const id = await desk.pays("order-9");
    await desk.sandbox.pay(id);
    const [delivery] = desk.sandbox.deliveries;
    return [...pages, `/payments/${id}`, `/developer/webhooks/deliveries/${delivery!.id}`];
  }

  it.each(["en", "fr"])("speaks %s on every page, and says where one is", async (language) => {
    for (const path of await everyPage()) {
      const text = await desk.read(path, { language });
      expect([path, text]).toEqual([path, expect.stringContaining(`<html lang="${language}">`)]);
      expect([path, text.match(/<a [^>]*aria-current="page"/g)?.length]).toEqual([path, 1]);
      expect([path, text.match(/<h1>/g)?.length]).toEqual([path, 1]);
      const others = language === "fr" ? ["Overview", "Skip to content"] : ["Accueil", "Aller au contenu"];
      expect(others.filter((other) => text.includes(other))).toEqual([]);
    }
  });

  it("says in both languages that something is not there", async () => {
    for (const path of ["/payments/nothing", "/payments/order-9", "/developer/webhooks/deliveries/x"]) {
      expect(await desk.read(path, { status: 404 })).toContain("Nothing here");
      expect(await desk.read(path, { status: 404, language: "fr" })).toContain("Rien ici");
    }
  });

  it("lets only its own script run, and sends forms to itself only", async () => {
    for (const path of await everyPage()) {
      const { headers, text } = await request(desk.sandbox.app).get(path).expect(200);
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
    }
  });

  it("shows what the service shows: the payments, the deliveries, how things stand", async () => {
    const empty = await desk.read("/");
    expect(empty).toContain("No payment yet");
    expect(empty).toContain("No webhook was sent yet");
    const id = await desk.pays("order-9", { value: "1234567", currency: "KMF" });
    await desk.sandbox.pay(id);
    desk.sandbox.scenario("webhook-doubled");
    const text = await desk.read("/");
    for (const shown of [
      `href="/payments/${id}"`,
      "1,234,567 KMF",
      "completed",
      "payment.completed",
      ">200</span",
      "webhook-doubled",
      "The same webhook comes twice",
      desk.merchant.webhookUrl,
      "/oauth/token",
    ]) {
      expect(text).toContain(shown);
    }
    expect(await desk.read("/", { language: "fr" })).toMatch(/Le même webhook[^]*1\u202f234\u202f567 KMF/);
  });

  it("says whether it lasts", async () => {
    expect(await desk.read("/")).toContain("forgets it when it stops");
    const folder = await mkdtemp(path.join(tmpdir(), "tillkit-desk-"));
    const state = path.join(folder, "sandbox.db");
    const lasting = createSandbox({ state });
    const { text } = await request(lasting.app).get("/").expect(200);
    expect(text).toContain(`<code>${state}</code>`);
    await lasting.close();
    await rm(folder, { recursive: true });
  });

  it("holds webhooks back and releases them from its front page, and stays there", async () => {
    const held = await desk.does("/developer/webhooks/hold", { from: "overview" });
    expect(desk.sandbox.webhooksHeld).toBe(true);
    expect(held).toContain("Webhooks are held back from now on.");
    const released = await desk.does("/developer/webhooks/release", { from: "overview" });
    expect(desk.sandbox.webhooksHeld).toBe(false);
    expect(released).toContain("Webhooks are sent again.");
  });

  it("says nothing that only an address says", async () => {
    for (const done of ["nothing", "constructor", "<b>", "__proto__"]) {
      const text = await desk.read(`/developer/webhooks?done=${encodeURIComponent(done)}&tried=x`);
      expect(text).not.toContain('class="notice');
    }
    expect(await desk.read("/developer/webhooks?done=added&done=removed")).not.toContain('class="notice');
  });

  it("lives below the path of its public address, where it has one", async () => {
    const below = createSandbox({ publicUrl: "https://pay.example/box/" });
    const { text } = await request(below.app).get("/developer/webhooks").expect(200);
    const links = [...text.matchAll(/(?:href|action|data-page|data-events)="(\/[^"]*)"/g)].map(
      ([, to]) => to,
    );
    expect(links.length).toBeGreaterThan(8);
    expect(links.filter((to) => !to!.startsWith("/box/"))).toEqual([]);
    const answer = await request(below.app).post("/developer/webhooks/hold").type("form").send({});
    expect(answer.get("Location")).toBe("/box/developer/webhooks?done=held");
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
      const id = await desk.pays("order-9");
      const { sandbox, merchant } = desk;
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
        const { status } = await desk.send(order.replace("ID", id), form, headers);
        expect([headers, status]).toEqual([headers, 403]);
      }
      expect(state()).toEqual(before);
    });

    it("to be read under a name that somebody else could own", async () => {
      for (const page of pages) {
        const { status } = await request(desk.sandbox.app).get(page).set("Host", "evil.example");
        expect([page, status]).toEqual([page, 403]);
      }
    });

    it("forms that are too large, with a page", async () => {
      const answer = await desk.send("/developer/scenarios/own", { json: "x".repeat(300_000) });
      expect([answer.status, answer.text]).toEqual([413, expect.stringContaining("Not understood")]);
    });

    it("to change anything when it is only looked at", async () => {
      for (const order of orders) {
        const { status } = await request(desk.sandbox.app).get(order.replace("ID", "x"));
        expect([order, [200, 404].includes(status)]).toEqual([order, true]);
      }
      expect(desk.sandbox.webhooksHeld).toBe(false);
    });
  });
});

describe("what the dashboard is told", () => {
  it("is shown as text, wherever it stands", async () => {
    const evil = `<b>"&'</b></textarea></pre><script>`;
    const desk = await Desk.open({
      merchantName: evil,
      providers: [{ code: evil, name: evil }],
      scenarios: [{ name: "mine", about: evil }],
      seed: evil,
      scenario: "mine",
    });
    desk.merchant.answers.push((res) => res.setHeader("x-evil", `<b>"&'`).end(evil));
    const id = await desk.pays(evil);
    await desk.sandbox.pay(id);
    const [delivery] = desk.sandbox.deliveries;
    const shown = [...pages, `/payments/${id}`, `/developer/webhooks/deliveries/${delivery!.id}`];
    for (const path of shown) {
      const text = await desk.read(path);
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
      const { status, text } = await desk.send(path, form);
      expect([path, status === 400 || status === 409]).toEqual([path, true]);
      expect([path, text.includes("<b>"), text.match(/<script/g)?.length]).toEqual([path, false, 1]);
      expect([path, text]).toEqual([path, expect.stringContaining('role="alert"')]);
    }
    await desk.close();
  });
});

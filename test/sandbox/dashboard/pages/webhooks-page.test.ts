import { createHmac } from "node:crypto";
import request from "supertest";
import { createSandbox } from "tillkit/sandbox";
import { status } from "../../merchant.js";
import { OpenDashboard } from "../open-dashboard.js";

const home = "/developer/webhooks";

describe("the webhooks page", () => {
  let dashboard: OpenDashboard;
  beforeEach(async () => {
    dashboard = await OpenDashboard.open({ webhookUrls: [] });
  });

  const registered = () => dashboard.sandbox.webhookAddresses.map(({ url }) => url);

  it("adds and removes addresses", async () => {
    expect(await dashboard.read(home)).toContain("No address is registered");
    const added = await dashboard.does(`${home}/addresses`, { url: ` ${dashboard.merchant.webhookUrl} ` });
    expect(added).toContain("The address is registered.");
    expect(added).toContain(`<time datetime="${dashboard.sandbox.webhookAddresses[0]!.addedAt}">`);
    expect(added).toContain(`<span class="hidden">${dashboard.merchant.webhookUrl}</span>`);
    expect(added).toMatch(/<label for="url">New address<\/label>[^]*aria-describedby="url-hint"/);
    expect(registered()).toEqual([dashboard.merchant.webhookUrl]);
    const removed = await dashboard.does(`${home}/addresses/wh1/remove`);
    expect(removed).toMatch(/gets no more webhooks[^]*No address is registered/);
    expect(registered()).toEqual([]);
  });

  it.each(["https://shop.example/hook", "hook", ""])(
    "refuses %j with the reason, and keeps what was typed",
    async (url) => {
      const answer = await dashboard.send(`${home}/addresses`, { url });
      expect(answer.status).toBe(409);
      expect(answer.text).toMatch(/role="alert"/);
      expect(answer.text).toMatch(new RegExp(`aria-invalid="true"[^>]*value="${url}"`));
      expect(registered()).toEqual([]);
    },
  );

  it("tries an address, and shows how it answered", async () => {
    dashboard.sandbox.registerWebhook(dashboard.merchant.webhookUrl);
    dashboard.merchant.answers.push(status(204), status(503));
    const tried = await dashboard.does(`${home}/addresses/wh1/try`);
    expect(tried).toMatch(/<p class="notice good" role="status">\s*The address answered 204, in [\d,]+\sms/);
    const { id } = dashboard.sandbox.deliveries[0]!;
    expect(tried).toContain(`href="${home}/deliveries/${id}">See the exchange<`);
    expect(tried).toContain("1 attempt, newest first.");
    expect(await dashboard.does(`${home}/addresses/wh1/try`)).toMatch(
      /<p class="notice bad" role="status">\s*The address answered 503/,
    );
    expect(await dashboard.read(home)).toContain("2 attempts, newest first.");
    const { rawBody, headers } = dashboard.merchant.webhooks[0]!;
    const signature = createHmac("sha256", dashboard.sandbox.secret!).update(rawBody).digest("hex");
    expect(headers["service-signature"]).toBe(signature);
    await dashboard.merchant.close();
    expect(await dashboard.does(`${home}/addresses/wh1/try`)).toContain("The address did not answer");
    expect(await dashboard.read(home)).toMatch(/>no answer<[^]*<br \/>[^<]*ECONNREFUSED/);
    const unknown = await dashboard.send(`${home}/addresses/wh9/try`);
    expect([unknown.status, unknown.text]).toEqual([409, expect.stringContaining("wh9")]);
  });

  it("shows the command that says why, on a delivery whose signature was refused", async () => {
    dashboard.sandbox.registerWebhook(dashboard.merchant.webhookUrl);
    dashboard.merchant.answers.push(status(401), status(400), status(503));
    const command = "npx tillkit verify --last";
    const pageOf = async () => {
      const { id } = await dashboard.sandbox.tryWebhook("wh1");
      return dashboard.read(`${home}/deliveries/${id}`);
    };
    for (let count = 0; count < 2; count += 1) expect(await pageOf()).toContain(command);
    expect(await pageOf()).not.toContain(command);
  });

  it("shows the signing, and rotates the secret without losing the previous one", async () => {
    const before = dashboard.sandbox.secret!;
    const text = await dashboard.read(home);
    expect(text).toContain(before);
    expect(text.replaceAll(/<details>[^]*?<\/details>/g, "")).not.toContain("sandbox_");
    expect(text).toContain("HMAC over the raw body");
    const rotation = await dashboard.send(`${home}/secret/rotate`);
    expect(rotation.get("Location")).toBe(`${home}?done=rotated#signing`);
    const after = await dashboard.read(rotation.get("Location")!);
    expect(dashboard.sandbox.secret).not.toBe(before);
    for (const secret of [before, dashboard.sandbox.secret!]) expect(after).toContain(secret);
    expect(after).toContain("Previous secret");
  });

  it("shows what is signed, where that is fields; and no secret that it does not know", async () => {
    const fields = createSandbox({
      signature: { scheme: "fields", merchantId: "m-17", header: "X-Signed", algorithm: "sha512" },
    });
    const shown = (await request(fields.app).get(home).expect(200)).text;
    for (const text of [
      "m-17",
      '<code id="header">X-Signed</code>',
      "<code>sha512</code>",
      "id,merchantId,clientId,total.value,total.currency,submittedAt,status",
    ])
      expect(shown).toContain(text);
    const custom = createSandbox({ signature: { header: "X-Own", sign: () => "00" } });
    const { text } = await request(custom.app).get(home).expect(200);
    expect(text).toContain("Given by the program");
    expect(text).not.toContain(`${home}/secret/rotate`);
    await request(custom.app).post(`${home}/secret/rotate`).expect(409);
    await Promise.all([fields.close(), custom.close()]);
  });

  it("holds webhooks back and releases them", async () => {
    dashboard.sandbox.registerWebhook(dashboard.merchant.webhookUrl);
    expect(await dashboard.does(`${home}/hold`)).toContain("held back until you release them");
    const paid = dashboard.sandbox.pay(await dashboard.pays("order-7"));
    await dashboard.does(`${home}/release`);
    expect(await paid).toMatchObject([{ status: 200 }]);
  });

  it("lists every delivery, newest first, page by page", async () => {
    dashboard.sandbox.registerWebhook(dashboard.merchant.webhookUrl);
    for (let count = 0; count < 27; count += 1) await dashboard.sandbox.tryWebhook("wh1");
    const listed = async (query = "") =>
      [...(await dashboard.read(home + query)).matchAll(/deliveries\/([0-9a-f-]+)"/g)].map(([, id]) => id);
    const all = dashboard.sandbox.deliveries.map(({ id }) => id).toReversed();
    expect(await listed()).toEqual(all.slice(0, 25));
    expect(await listed("?page=2")).toEqual(all.slice(25));
  });
});

describe("the page of a delivery", () => {
  let dashboard: OpenDashboard;
  beforeEach(async () => {
    dashboard = await OpenDashboard.open();
  });

  const last = () => `${home}/deliveries/${dashboard.sandbox.deliveries.at(-1)!.id}`;

  it("shows the whole exchange: request, response, time", async () => {
    dashboard.merchant.answers.push((res) =>
      res.writeHead(422, { "x-why": "no such order" }).end("an order is missing"),
    );
    const id = await dashboard.pays("order-7");
    await dashboard.sandbox.pay(id);
    const [delivery] = dashboard.sandbox.deliveries;
    const text = await dashboard.read(last());
    const body = dashboard.merchant.webhooks[0]!.rawBody.toString("utf8");
    for (const shown of [
      "422",
      "x-why",
      "no such order",
      "an order is missing",
      delivery!.headers["Service-Signature"]!,
      body.replaceAll('"', "&quot;"),
      JSON.stringify(JSON.parse(body), undefined, 2).replaceAll('"', "&quot;"),
      `<time datetime="${delivery!.at}">`,
      `href="/payments/${id}"`,
      `href="${home}#deliveries">← Webhooks`,
      `<dd>${delivery!.durationMs}\u00a0ms</dd>`,
      `<dd><code>${delivery!.url}</code></dd>`,
    ]) {
      expect(text).toContain(shown);
    }
    expect(text).not.toContain("<dt>Scenario</dt>");
  });

  it("shows the scenario, an empty response, and that an address was tried", async () => {
    dashboard.sandbox.scenario("topic-unknown");
    dashboard.merchant.answers.push(status(204), status(204), status(204));
    void dashboard.sandbox.pay(await dashboard.pays("order-7"));
    await dashboard.sandbox.clock.advance(1000);
    const paid = await dashboard.read(last());
    expect(paid).toMatch(/<dt>Scenario<\/dt>\s*<dd><code>topic-unknown<\/code><\/dd>/);
    expect(paid).toContain('<p class="empty">empty</p>');
    await dashboard.sandbox.sendWebhook({ payment: "order-7", rawBody: "{}" });
    expect(await dashboard.read(last())).toMatch(/<h1>Webhook without a topic<\/h1>/);
    expect(await dashboard.read(home)).toContain(">Webhook without a topic<");
    await dashboard.sandbox.tryWebhook("wh1");
    expect(await dashboard.read(last())).toContain("none: the address was tried");
  });

  it("says why there was no answer, and shows a body that is not JSON as it was", async () => {
    dashboard.sandbox.scenario("body-truncated");
    dashboard.merchant.answers.push((res) => res.destroy());
    await dashboard.sandbox.pay(await dashboard.pays("order-7"));
    const text = await dashboard.read(last());
    expect(text).toMatch(/There was no answer[^]*socket hang up/);
    expect(text).toContain("cannot be read as JSON");
    expect(text).toContain(
      dashboard.merchant.webhooks[0]!.rawBody.toString("utf8").replaceAll('"', "&quot;"),
    );
  });

  it("sends the same bytes again, and leads to the new delivery", async () => {
    dashboard.merchant.answers.push(status(500));
    await dashboard.sandbox.pay(await dashboard.pays("order-7"));
    const first = last();
    const text = await dashboard.does(`${first}/again`);
    expect(last()).not.toBe(first);
    expect(text).toMatch(/Sent once more[^]*<dd>2<\/dd>/);
    const [one, two] = dashboard.merchant.webhooks;
    expect(two!.rawBody.equals(one!.rawBody)).toBe(true);
    expect(two!.headers["service-signature"]).toBe(one!.headers["service-signature"]);
    const unknown = await dashboard.send(`${home}/deliveries/nothing/again`);
    expect([unknown.status, unknown.text]).toEqual([409, expect.stringContaining("nothing")]);
  });
});

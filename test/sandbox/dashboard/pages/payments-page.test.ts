import { OpenDashboard } from "../open-dashboard.js";

describe("the payments of the dashboard", () => {
  let dashboard: OpenDashboard;
  beforeEach(async () => {
    dashboard = await OpenDashboard.open({ cancelWebhook: true, failureWebhook: true });
  });

  it("are listed newest first, twenty-five to a page", async () => {
    for (let number = 1; number <= 30; number += 1) await dashboard.pays(`order-${number}`);
    const listed = async (query: string) =>
      [...(await dashboard.read(`/payments${query}`)).matchAll(/<code>(order-\d+)<\/code>/g)].map(
        ([, id]) => id,
      );
    const first = await listed("");
    expect([first.length, first[0], first.at(-1)]).toEqual([25, "order-30", "order-6"]);
    expect(await listed("?page=2")).toEqual(["order-5", "order-4", "order-3", "order-2", "order-1"]);
    for (const beyond of ["?page=3", "?page=99999"]) expect(await listed(beyond)).toHaveLength(5);
    for (const odd of ["?page=0", "?page=-1", "?page=x", "?page=1e9", "?page="])
      expect(await listed(odd)).toEqual(first);
    // The script reads this address again, and announces the text of a list that changed.
    expect(await dashboard.read("/payments?page=2")).toContain('data-page="/payments?page=2"');
    expect(await dashboard.read("/payments")).toMatch(/data-page="\/payments"[^]* data-live="Payments: 30"/);
    expect(await dashboard.read("/payments?page=2")).toMatch(/href="\/payments\?page=1"[^]*Page 2 of 2/);
  });

  it("are counted, and are on one page as long as they fit", async () => {
    await dashboard.pays("order-1");
    expect(await dashboard.read("/payments")).toContain("1 payment, newest first.");
    const { total } = dashboard.sandbox.payments()[0]!;
    const more = (from: number, to: number) => {
      for (let number = from; number <= to; number += 1)
        dashboard.sandbox.create({ clientId: `order-${number}`, total });
    };
    more(2, 25);
    const full = await dashboard.read("/payments");
    expect(full).toContain("25 payments, newest first.");
    expect(full).not.toContain('aria-label="Pages"');
    more(26, 101);
    expect(await dashboard.read("/payments?page=3")).toMatch(
      /href="\/payments\?page=2" rel="prev"[^]*Page 3 of 5[^]*href="\/payments\?page=4" rel="next"/,
    );
  });

  it("have their scenario in the list if it is not the normal one, and a tone for their status", async () => {
    for (const clientId of ["usual", "odd:webhook-doubled"]) await dashboard.pays(clientId);
    await dashboard.sandbox.pay("odd:webhook-doubled");
    await dashboard.sandbox.cancel("usual");
    const text = await dashboard.read("/payments");
    expect(text).toMatch(/<span class="badge good">completed<[^]*UTC<\/time> · <code>webhook-doubled</);
    expect(text).toMatch(/<span class="badge bad">canceled</);
    expect(text).not.toContain("<code>normal</code>");
  });

  it("show every field of one, and its webhooks", async () => {
    const id = await dashboard.pays("order-7", { value: "1475.50", currency: "EUR" });
    const pending = await dashboard.read(`/payments/${id}`);
    const factIn = (text: string, name: string) =>
      new RegExp(`<dt>${name}</dt>\\s*<dd>([^]*?)</dd>`).exec(text)?.[1]?.replaceAll(/<[^>]*>/g, "");
    expect(factIn(pending, "Submitted")).toBe("not yet");
    expect(factIn(pending, "Captured")).toBe("no");
    expect(factIn(pending, "Source")).toBe("not yet");
    expect(pending).toContain('id="status" data-live="pending"');
    expect(pending).toContain(`href="/payment/submit/${id}"`);
    expect(pending).toContain(`<time datetime="${dashboard.sandbox.find(id)!.createdAt}">`);
    expect(factIn(pending, "Checkout page")).toMatch(new RegExp(`^http://[^/]+/payment/submit/${id}$`));
    expect(pending).toContain('<option value="HOL" >Holoni (HOL)</option>');
    await dashboard.sandbox.pay(id, { provider: "HOL" });
    await dashboard.pays("order-8");
    await dashboard.sandbox.pay("order-8");
    const text = await dashboard.read(`/payments/${id}`);
    const { providerId, successUrl, cancelUrl } = dashboard.sandbox.find(id)!;
    for (const shown of [id, "order-7", "completed", "1,475.50\u00a0EUR", "HOL", "normal", providerId!]) {
      expect(text).toContain(shown);
    }
    expect(factIn(text, "Captured")).toBe("yes");
    expect(factIn(text, "Source")).toBe("HOL");
    expect(factIn(text, "Submitted")).toMatch(/ UTC$/);
    await dashboard.pays("order-9");
    await dashboard.sandbox.cancel("order-9");
    const canceled = await dashboard.read(`/payments/${dashboard.sandbox.find("order-9")!.id}`);
    // A cancel also has a time, although nobody approved anything.
    expect(factIn(canceled, "Submitted")).toMatch(/ UTC$/);
    expect(canceled.toLowerCase()).not.toContain("approved");
    expect(canceled).toContain("A real service may still accept it.");
    expect(factIn(text, "Success address")).toBe(successUrl.replaceAll("&", "&amp;"));
    expect(factIn(text, "Cancel address")).toBe(cancelUrl.replaceAll("&", "&amp;"));
    expect(text).toContain('data-live="Webhook deliveries of this payment: 1"');
    const deliveries = [...text.matchAll(/deliveries\/([0-9a-f-]+)"/g)].map(([, delivery]) => delivery);
    expect(deliveries).toEqual([dashboard.sandbox.deliveries[0]!.id]);
  });

  it.each([
    ["pay", { provider: "MVK" }, "completed", "Paid, as if the customer had approved."],
    ["cancel", {}, "canceled", "Canceled, as if the customer had."],
    ["fail", {}, "failed", "Failed, as if the provider had refused."],
  ])("can be moved by hand: %s", async (order, form, status, said) => {
    const id = await dashboard.pays("order-7");
    const text = await dashboard.does(`/payments/${id}/${order}`, form);
    expect(text).toContain(said);
    expect(dashboard.sandbox.find(id)).toMatchObject({ status });
    // The page that the form leads to already shows the webhook: the merchant answers immediately.
    expect(text).toContain(`payment.${status}</a`);
  });

  it("are marked as bad where they failed, or where the shop refused the webhook", async () => {
    const id = await dashboard.pays("order-7");
    dashboard.merchant.answers.push((res) => res.writeHead(500).end());
    const text = await dashboard.does(`/payments/${id}/fail`);
    expect(text).toContain('<span class="badge bad">failed</span>');
    expect(text).toContain('<span class="badge bad">500</span>');
  });

  it("say that no address is registered, if that is why no webhook was sent", async () => {
    const id = await dashboard.pays("order-7");
    expect(await dashboard.read(`/payments/${id}`)).not.toContain("No address is registered");
    dashboard.sandbox.unregisterWebhook(dashboard.merchant.webhookUrl);
    expect(await dashboard.read(`/payments/${id}`)).toContain("No address is registered");
  });

  it("are paid with the provider that was chosen", async () => {
    const id = await dashboard.pays("order-7");
    await dashboard.does(`/payments/${id}/pay`, { provider: "PYP" });
    expect(dashboard.sandbox.find(id)).toMatchObject({ status: "completed", source: "PYP" });
  });

  it("do not wait for held webhooks, and say that they are held", async () => {
    const id = await dashboard.pays("order-7");
    dashboard.sandbox.holdWebhooks();
    const text = await dashboard.does(`/payments/${id}/pay`, { provider: "MVK" });
    expect(text).toContain("Webhooks are held back.");
    expect(dashboard.sandbox.find(id)).toMatchObject({ status: "completed" });
    expect(dashboard.sandbox.deliveries).toEqual([]);
    dashboard.sandbox.releaseWebhooks();
    await dashboard.sandbox.settled();
    expect(dashboard.sandbox.deliveries).toHaveLength(1);
  });

  it("can be given a scenario of their own", async () => {
    const id = await dashboard.pays("order-7");
    const text = await dashboard.does(`/payments/${id}/scenario`, { scenario: "webhook-doubled" });
    expect(text).toMatch(/<option value="webhook-doubled" selected>/);
    await dashboard.does(`/payments/${id}/pay`, { provider: "MVK" });
    expect(dashboard.merchant.webhooks).toHaveLength(2);
    const shown = await dashboard.read(`/payments/${id}`);
    const deliveries = [...shown.matchAll(/deliveries\/([0-9a-f-]+)"/g)].map(([, delivery]) => delivery);
    expect(deliveries).toEqual(dashboard.sandbox.deliveries.map((each) => each.id).toReversed());
    expect(shown).toMatch(/ · attempt 1 · [\d,]+\sms · <code>webhook-doubled<\/code>/);
    expect(dashboard.sandbox.currentScenario).toBe("normal");
  });

  it("offer only what can still be done", async () => {
    const id = await dashboard.pays("order-7");
    const offers = async () =>
      [
        ...(await dashboard.read(`/payments/${id}`)).matchAll(/action="\/payments\/[0-9a-f]+\/(\w+)["#]/g),
      ].map(([, to]) => to);
    expect(await offers()).toEqual(["pay", "cancel", "fail", "scenario"]);
    await dashboard.sandbox.cancel(id);
    expect(await offers()).toEqual(["pay", "scenario"]);
    await dashboard.sandbox.pay(id);
    expect(await offers()).toEqual([]);
  });

  it("are refused on their own page, with the reason", async () => {
    const id = await dashboard.pays("order-7");
    await dashboard.sandbox.pay(id);
    for (const [order, form] of [
      ["pay", { provider: "MVK" }],
      ["cancel", {}],
      ["fail", {}],
    ] as const) {
      const { status, text } = await dashboard.send(`/payments/${id}/${order}`, form);
      expect([status, text]).toEqual([409, expect.stringMatching(/role="alert"[^>]*>[^<]*completed/)]);
    }
    const other = await dashboard.pays("order-8");
    const unknown = await dashboard.send(`/payments/${other}/pay`, { provider: "ZZZ" });
    expect([unknown.status, unknown.text]).toEqual([409, expect.stringContaining("ZZZ")]);
    expect(dashboard.sandbox.find(other)).toMatchObject({ status: "pending" });
    expect((await dashboard.send("/payments/nothing/pay", { provider: "MVK" })).status).toBe(404);
  });
});

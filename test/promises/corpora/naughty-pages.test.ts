import { readFileSync } from "node:fs";
import { join } from "node:path";
import { hmacSignature } from "tillkit";
import { createSandbox } from "tillkit/sandbox";
import { deskPage, orderPage, problemPage } from "../../../examples/express-shop/src/pages.js";
import { type Order } from "../../../examples/express-shop/src/orders.js";
import { claimPage, returnPage } from "../../../src/http/returns/return-page.js";
import { withCorpus } from "../../webhook/message/corpora.js";
import { completedBody, pendingPayment, signed } from "../../support/webhooks.js";
import { saidBy, shapeOf } from "../../support/markup.js";
import { openShop, type OpenShop } from "../../shop/open-shop.js";
import { closeAll, serve } from "../../support/kit.js";
import { runConcurrently, isPrintable, send } from "./world.js";

type Page = (text: string) => string;

/** Returns the kit's own page, with the string at every place for a text of the merchant or the customer. */
const kitPages: Readonly<Record<string, Page>> = {
  "a claim that was refused": (text) =>
    claimPage({ language: "en", nonce: "n", shop: { shopName: text } }, { outcome: "invalid", number: text }),
  "the receipt of a payment": (text) =>
    returnPage(
      {
        kind: "success",
        state: "paid",
        payment: pendingPayment({
          state: "completed",
          reported: { status: "completed", providerId: text, at: "", verified: ["providerId"] },
        }),
        waitedMs: 0,
        canClaim: false,
      },
      { language: "en", nonce: "n", shop: {} },
    ),
  ...Object.fromEntries(
    (["confirming", "delayed", "claimed", "mismatch", "paid", "canceled", "failed"] as const).map(
      (state): [string, Page] => [
        `a return that is ${state}`,
        (text) =>
          returnPage(
            {
              kind: "success",
              state,
              payment: pendingPayment({ reference: text }),
              waitedMs: 0,
              canClaim: true,
            },
            { language: "en", nonce: "n", shop: { shopName: text }, backUrl: text },
          ),
      ],
    ),
  ),
};

const order = (text: string): Order => ({
  id: text,
  product: text,
  total: { value: "1475", currency: text },
  placedAt: "2026-11-20T10:00:00.000Z",
  paidAt: undefined,
  reserved: true,
});
const at = "2026-11-20T10:00:00.000Z";
const shopPages: Readonly<Record<string, Page>> = {
  "an order": (text) => orderPage("en", order(text), undefined).main.markup,
  "a checkout that failed": (text) => problemPage("fr", order(text), "unavailable").main.markup,
  "the desk": (text) =>
    deskPage("en", {
      attention: [{ kind: text, orderId: text, detail: text, at }],
      orders: [order(text)],
      ledger: [{ orderId: text, clientId: text, value: "1475", currency: text, at }],
    }).main.markup,
};

describe("strings that break software, on the pages", () => {
  withCorpus("naughty-strings", (folder) => {
    const strings: string[] = JSON.parse(readFileSync(join(folder, "blns.json"), "utf8"));

    it.each([
      ...Object.entries(kitPages).map(([name, page]) => ["the kit", name, page] as const),
      ...Object.entries(shopPages).map(([name, page]) => ["the example shop", name, page] as const),
    ])("of %s (%s) are shown unchanged as text and values, and never as markup", (_, _name, page) => {
      const shape = shapeOf(page("harmless"));
      const places = saidBy(page("harmless")).filter((said) => said.includes("harmless")).length;
      expect(places).toBeGreaterThan(0);
      for (const text of strings.filter((text) => text !== "")) {
        const markup = page(text);
        expect([text, shapeOf(markup)]).toEqual([text, shape]);
        const whole = saidBy(markup).filter((said) => said.includes(text)).length;
        expect([text, whole >= places]).toEqual([text, true]);
      }
    });

    afterAll(closeAll);

    describe("of the example shop, over HTTP", () => {
      let shop: OpenShop;
      beforeAll(async () => {
        shop = await openShop();
      });
      afterAll(() => shop.close());

      it("are not an address, a product or a checkout", async () => {
        // The shop accepts forms of up to 4 KiB.
        const usable = strings.filter((text) => text !== "" && encodeURIComponent(text).length < 1000);
        const answers = await runConcurrently(
          usable.flatMap((text) => {
            const form = Buffer.from(new URLSearchParams({ product: text, [text]: text }).toString());
            const headers = { "content-type": "application/x-www-form-urlencoded" };
            const part = encodeURIComponent(text);
            return [
              { path: `/${part}` },
              { path: `/?q=${part}&${part}=1` },
              { path: `/orders/${part}` },
              { method: "POST", path: "/orders", body: form, headers },
              { method: "POST", path: `/checkout/${part}`, body: form, headers },
            ];
          }),
          (sent) => send(shop.url, sent),
        );
        const statuses = answers.map(({ status }, index) => [status, index % 5]);
        expect(statuses.filter(([status, kind]) => status !== (kind === 1 ? 200 : 404))).toEqual([]);
        // Only the front page and the page for unknown addresses were shown.
        expect(new Set(answers.map(({ body }) => shapeOf(body).join(""))).size).toBe(2);
      });

      it("get the shop's own page, without a stack trace, where they are not a readable address or form", async () => {
        const form = { "content-type": "application/x-www-form-urlencoded; charset=nonsense" };
        const answers = [
          await send(shop.url, { path: "/orders/%ff" }),
          await send(shop.url, { method: "POST", path: "/checkout/%" }),
          await send(shop.url, {
            method: "POST",
            path: "/orders",
            headers: form,
            body: Buffer.from("product=a"),
          }),
          await send(shop.url, {
            method: "POST",
            path: "/orders",
            headers: { "content-type": "application/x-www-form-urlencoded" },
            body: Buffer.alloc(5000, "a"),
          }),
        ];
        expect(answers.map(({ status }) => status)).toEqual([400, 400, 415, 413]);
        const notFound = await send(shop.url, { path: "/none" });
        for (const { body } of answers) expect(shapeOf(body)).toEqual(shapeOf(notFound.body));
      });

      it("are shown unchanged on the shopkeeper's page, and change none of its tags", async () => {
        const kept = strings.filter((text) => /^[^\p{Cc}\p{Surrogate}]{1,128}$/u.test(text)).slice(0, 100);
        const by = hmacSignature({ secret: shop.sandbox.secret });
        const { store } = shop.payments;
        const created = kept.map((_, index) =>
          pendingPayment({ clientId: `n-${index}`, serviceId: `s-${index}`, reference: `order-${index}` }),
        );
        await store.transaction((tx) => store.save(tx, { created }));
        const noted = waitForEvents(shop, kept.length);
        await runConcurrently(kept, async (text, index) => {
          const { rawBody, headers } = signed(completedBody({ clientId: `n-${index}`, id: text }), by);
          const { status } = await send(`${shop.url}/payments/webhook`, {
            method: "POST",
            headers,
            body: rawBody,
          });
          expect([text, status]).toEqual([text, 200]);
        });
        await noted;
        const desk = await fetch(`${shop.url}/desk`, {
          headers: { authorization: `Basic ${Buffer.from(`k:${shop.keeperPassword}`).toString("base64")}` },
        });
        const said = saidBy(await desk.text());
        for (const [index, text] of kept.entries())
          expect(said).toContain(`payment.mismatched: id: ${text}, not s-${index}`);
      });
    });

    it("of the sandbox, over HTTP, are refused in a creation or shown unchanged", async () => {
      let sandbox = createSandbox();
      const url = await serve((incoming, response) => void sandbox.app(incoming, response));
      const shapes = new Set<string>();
      let created = 0;
      for (const text of strings.filter((text) => text.trim() !== "")) {
        sandbox = createSandbox({
          publicUrl: url,
          merchantName: text,
          providers: [{ code: "MVK", name: text }],
        });
        const back = `https://shop.example/?${encodeURIComponent(text)}`;
        const total = { value: "1475", currency: "KMF" };
        const creation = { purchase: { total }, clientId: text, successUrl: back, cancelUrl: back };
        const answer = await send(`${url}/v1/payments`, {
          method: "POST",
          headers: { authorization: `Bearer ${sandbox.accessToken()}`, "content-type": "application/json" },
          body: Buffer.from(JSON.stringify(creation)),
        });
        const fits = isPrintable(text) && Array.from(text).length <= 255;
        expect([text, answer.status]).toEqual([text, fits ? 201 : 400]);
        if (!fits) continue;
        created += 1;
        const overview = await send(`${url}/`);
        const checkout = await send((JSON.parse(answer.body) as { next: string }).next);
        for (const { status, body } of [overview, checkout]) {
          expect([status, saidBy(body).some((said) => said.includes(text))]).toEqual([200, true]);
          shapes.add(shapeOf(body).join(""));
        }
      }
      expect(shapes.size).toBe(2);
      expect(created).toBeGreaterThan(400);
    });
  });
});

/** Resolves when the shop's handler for events that need a person has handled this many events. */
function waitForEvents({ payments }: OpenShop, count: number): Promise<void> {
  let handled = 0;
  return new Promise((resolve) => {
    payments.on("payment.mismatched", () => {
      handled += 1;
      if (handled === count) resolve();
    });
  });
}

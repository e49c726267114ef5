// Hono on Node. With Bun or another server only the last line differs.
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { fetchHandler, paymentRouter } from "tillkit";

const router = paymentRouter();
router.payments.onPaymentCompleted(({ payment }) => console.log(`${payment.reference} is paid`));
const total = { value: "1475", currency: "KMF" };
const payments = fetchHandler(router);

const app = new Hono();
app.all("/payments/*", (context) => payments(context.req.raw));
app.post("/checkout/:order", async (context) => {
  const { checkoutUrl } = await router.payments.create({ reference: context.req.param("order"), total });
  return context.redirect(checkoutUrl, 303);
});
serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000) });

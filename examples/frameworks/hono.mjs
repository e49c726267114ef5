// Hono on Node. The router answers through Node's own request and response.
import { serve } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { Hono } from "hono";
import { paymentRouter } from "tillkit";
import { fulfilOrder, total } from "./fulfil-order.mjs";

const router = paymentRouter();
router.payments.onPaymentCompleted(fulfilOrder);

const app = new Hono();
app.all("/payments/*", async (context) => {
  const { incoming, outgoing } = context.env;
  incoming.originalUrl = incoming.url;
  incoming.url = incoming.url.slice("/payments".length);
  return new Promise((resolve, reject) => {
    outgoing.once("close", () => resolve(RESPONSE_ALREADY_SENT));
    router(incoming, outgoing, (error) => (error ? reject(error) : resolve(context.notFound())));
  });
});
app.post("/checkout/:order", async (context) => {
  const { checkoutUrl } = await router.payments.create({ reference: context.req.param("order"), total });
  return context.redirect(checkoutUrl, 303);
});
serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000) });

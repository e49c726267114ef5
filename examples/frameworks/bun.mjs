// Bun's own server, without a framework: bun bun.mjs
import { fetchHandler, paymentRouter } from "tillkit";

const router = paymentRouter();
router.payments.onPaymentCompleted(({ payment }) => console.log(`${payment.reference} is paid`));
const total = { value: "1475", currency: "KMF" };
const payments = fetchHandler(router);

async function checkout({ params }) {
  const { checkoutUrl } = await router.payments.create({ reference: params.order, total });
  return Response.redirect(checkoutUrl, 303);
}

Bun.serve({
  port: Number(process.env.PORT ?? 3000),
  routes: { "/payments/*": payments, "/checkout/:order": { POST: checkout } },
});

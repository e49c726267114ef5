// Next.js with a server of its own: the router answers before Next does.
import express from "express";
import next from "next";
import { paymentRouter } from "tillkit";

const router = paymentRouter();
router.payments.onPaymentCompleted(({ payment }) => console.log(`${payment.reference} is paid`));
const total = { value: "1475", currency: "KMF" };

const site = next({ dev: process.env.NODE_ENV !== "production" });
await site.prepare();

const app = express();
app.use("/payments", router);
app.post("/checkout/:order", async (request, response) => {
  const { checkoutUrl } = await router.payments.create({ reference: request.params.order, total });
  response.redirect(303, checkoutUrl);
});
app.use(site.getRequestHandler());
app.listen(Number(process.env.PORT ?? 3000));

// The smallest shop: configured by the environment, it prints which orders are paid.
import express from "express";
import { paymentRouter } from "tillkit";

const router = paymentRouter();
const { payments } = router;

payments.onPaymentCompleted(({ payment }) => {
  console.log(`${payment.reference} is paid`);
});

const app = express();
app.use(router);
app.post("/checkout/:order", async (request, response) => {
  const total = { value: "1475", currency: "KMF" };
  const { checkoutUrl } = await payments.create({ reference: request.params.order, total });
  response.redirect(303, checkoutUrl);
});
app.listen(Number(process.env.PORT ?? 3000));

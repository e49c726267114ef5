// The Express application of the two functions beside this file.
import express from "express";
import { paymentRouter } from "tillkit";

const router = paymentRouter();
router.payments.onPaymentCompleted(({ payment }) => console.log(`${payment.reference} is paid`));
const total = { value: "1475", currency: "KMF" };

export const app = express();
app.use("/payments", router);
app.post("/checkout/:order", async (request, response) => {
  const { checkoutUrl } = await router.payments.create({ reference: request.params.order, total });
  response.redirect(303, checkoutUrl);
});

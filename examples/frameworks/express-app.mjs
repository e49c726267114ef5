// The Express application of the two functions beside this file.
import express from "express";
import { paymentRouter } from "tillkit";
import { fulfilOrder, total } from "./fulfil-order.mjs";

const router = paymentRouter();
router.payments.onPaymentCompleted(fulfilOrder);

export const app = express();
app.use("/payments", router);
app.post("/checkout/:order", async (request, response) => {
  const { checkoutUrl } = await router.payments.create({ reference: request.params.order, total });
  response.redirect(303, checkoutUrl);
});

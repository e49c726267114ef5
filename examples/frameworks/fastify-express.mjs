// Fastify with @fastify/express.
import fastifyExpress from "@fastify/express";
import Fastify from "fastify";
import { paymentRouter } from "tillkit";

const router = paymentRouter();
router.payments.onPaymentCompleted(({ payment }) => console.log(`${payment.reference} is paid`));
const total = { value: "1475", currency: "KMF" };

const app = Fastify();
await app.register(fastifyExpress);
app.use("/payments", router);
app.post("/checkout/:order", async (request, reply) => {
  const { checkoutUrl } = await router.payments.create({ reference: request.params.order, total });
  return reply.redirect(checkoutUrl, 303);
});
await app.listen({ port: Number(process.env.PORT ?? 3000) });

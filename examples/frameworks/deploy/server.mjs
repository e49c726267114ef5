// A shop that starts and ends in order, for a cluster, PM2, Docker and systemd.
import express from "express";
import { paymentRouter } from "tillkit";

const router = paymentRouter();
router.payments.onPaymentCompleted(({ payment }) => console.log(`${payment.reference} is paid`));
const total = { value: "1475", currency: "KMF" };

const app = express();
app.use("/payments", router);
app.post("/checkout/:order", async (request, response) => {
  const { checkoutUrl } = await router.payments.create({ reference: request.params.order, total });
  response.redirect(303, checkoutUrl);
});
app.get("/health", async (_request, response) => {
  const { status } = await router.payments.health();
  response.status(status === "down" ? 503 : 200).json({ status });
});

// PM2 with `wait_ready` sends no requests before this message.
const server = app.listen(Number(process.env.PORT ?? 3000), () => process.send?.("ready"));

async function stop() {
  // Open requests get their answers. Webhooks that come later go to another process, or come again.
  await new Promise((resolve) => server.close(resolve));
  await router.payments.close();
  process.exit(0);
}
let stopping;
const end = () => void (stopping ??= stop());
// Docker, systemd and a cluster send SIGTERM, PM2 and a terminal SIGINT.
process.on("SIGTERM", end).on("SIGINT", end);

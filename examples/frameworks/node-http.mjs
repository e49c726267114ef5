// Node's own server, without a framework.
import { createServer } from "node:http";
import { paymentRouter } from "tillkit";

const router = paymentRouter();
router.payments.onPaymentCompleted(({ payment }) => console.log(`${payment.reference} is paid`));
const total = { value: "1475", currency: "KMF" };

async function checkout(request, response) {
  const reference = decodeURIComponent(request.url.slice("/checkout/".length));
  const { checkoutUrl } = await router.payments.create({ reference, total });
  response.writeHead(303, { Location: checkoutUrl }).end();
}

const server = createServer((request, response) => {
  const notFound = () => response.writeHead(404).end();
  if (request.url.startsWith("/payments/")) {
    // The router compares addresses below its mount path.
    request.originalUrl = request.url;
    request.url = request.url.slice("/payments".length);
    router(request, response, notFound);
  } else if (request.method === "POST" && request.url.startsWith("/checkout/")) {
    checkout(request, response).catch(() => response.writeHead(503).end());
  } else {
    notFound();
  }
});
server.listen(Number(process.env.PORT ?? 3000));

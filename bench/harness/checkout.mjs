// The checkout of the suites that measure the whole order.
import { Child } from "./child.mjs";
import { paymentOf } from "./webhooks.mjs";

/** Starts the payment service in a process of its own, whose CPU is not counted. */
export async function startService() {
  const child = new Child("service.mjs");
  const { port } = await child.answer();
  return { baseUrl: `http://127.0.0.1:${port}`, stop: () => child.end() };
}

/** Adds the route that creates a payment by hand: `intend` stores it before the request, and `answered` stores the answer. */
export function addCheckout(app, { baseUrl }, { intend, answered }) {
  app.post("/checkout/:n", async (request, response) => {
    const payment = paymentOf(Number(request.params.n));
    const { clientId, reference, value, currency } = payment;
    await intend(payment);
    const returnUrl = `https://shop.example/return/${reference}`;
    const purchase = { total: { value, currency } };
    const answer = await fetch(`${baseUrl}/v1/payments`, {
      method: "POST",
      headers: { Authorization: "Bearer bench-token", "Content-Type": "application/json" },
      body: JSON.stringify({ clientId, purchase, successUrl: returnUrl, cancelUrl: returnUrl }),
      signal: AbortSignal.timeout(10_000),
    });
    const { next: checkoutUrl, data } = await answer.json();
    await answered({ clientId, serviceId: data.id, checkoutUrl });
    response.json({ checkoutUrl });
  });
}

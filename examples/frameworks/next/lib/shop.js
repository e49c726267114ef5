import { fetchHandler, paymentRouter } from "tillkit";
import { fulfilOrder } from "../../fulfil-order.mjs";

function openShop() {
  const router = paymentRouter();
  router.payments.onPaymentCompleted(fulfilOrder);
  return { payments: router.payments, handler: fetchHandler(router) };
}

/** One for the process, because Next loads this file for each route. Not before a request: `next build` has no secrets. */
export const shop = () => (globalThis.shop ??= openShop());

import { fetchHandler, paymentRouter } from "tillkit";

function openShop() {
  const router = paymentRouter();
  router.payments.onPaymentCompleted(({ payment }) => console.log(`${payment.reference} is paid`));
  return { payments: router.payments, handler: fetchHandler(router) };
}

/** One for the process: Next loads this file for each route, and `next build` has no secrets. */
export const shop = () => (globalThis.shop ??= openShop());

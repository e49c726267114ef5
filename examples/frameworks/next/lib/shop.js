import { fetchHandler, paymentRouter } from "tillkit";

function openShop() {
  const router = paymentRouter();
  router.payments.onPaymentCompleted(({ payment }) => console.log(`${payment.reference} is paid`));
  return { payments: router.payments, handler: fetchHandler(router) };
}

/** One for the process. */
export const shop = () => (globalThis.shop ??= openShop());

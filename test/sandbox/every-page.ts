import { goToCheckout, type OpenShop, placeOrder } from "../shop/open-shop.js";
import { settlesTo } from "../shop/settles-to.js";

/** The addresses of pages in every state, all of one shop and one sandbox. */
export async function everyPage(shop: OpenShop): Promise<Record<string, string>> {
  const { sandbox, url } = shop;
  const orders = await Promise.all(
    ["cloves", "ylang", "basket", "coconut", "cloves", "ylang"].map((each) => placeOrder(shop, each)),
  );
  const [unpaid, paid, canceled, failed, confirming] = orders as [string, string, string, string, string];
  for (const order of orders) await goToCheckout(shop, order);
  const [, second, third, fourth, fifth, sixth] = sandbox.payments();
  await sandbox.pay(second!.id);
  await settlesTo(async () => (await shop.orders.find(paid))?.paidAt !== undefined, true);
  await sandbox.cancel(third!.id);
  await fetch(third!.cancelUrl);
  await sandbox.fail(fourth!.id);
  const report = { topic: "payment.failed", data: { status: "failed", captured: false } };
  await sandbox.sendWebhook({ payment: fourth!.id, overrides: report });
  const total = { value: "1", currency: "KMF" };
  await sandbox.sendWebhook({ payment: sixth!.id, overrides: { data: { total } } });
  await fetch(`${sandbox.url}/v1/payments`, { method: "POST" });
  sandbox.accessToken({ ttlSeconds: 0 });
  sandbox.rotateSecret();
  await sandbox.deliverAgain(sandbox.deliveries[0]!.id);
  await sandbox.tryWebhook(sandbox.webhookAddresses[0]!.id);
  sandbox.addScenario({ name: "mine", about: "Written by hand." });
  sandbox.holdWebhooks();
  void sandbox.pay(fifth!.id);
  const refused = sandbox.deliveries.find(({ status }) => status === 401) ?? sandbox.deliveries.at(-1)!;
  const own = (path: string): string => `${sandbox.url}${path}`;
  const delivered = (id: string): string => own(`/developer/webhooks/deliveries/${id}`);
  return {
    checkout: own(`/payment/submit/${sandbox.payments()[0]!.id}`),
    "checkout that is paid": own(`/payment/submit/${second!.id}`),
    "checkout that is canceled": own(`/payment/submit/${third!.id}`),
    "checkout that failed": own(`/payment/submit/${fourth!.id}`),
    "checkout that never was": own("/payment/submit/nothing"),
    overview: own("/"),
    payments: own("/payments"),
    "payment that is pending": own(`/payments/${sandbox.payments()[0]!.id}`),
    "payment that is completed": own(`/payments/${second!.id}`),
    "payment that never was": own("/payments/nothing"),
    credentials: own("/developer?done=revoked"),
    webhooks: own(`/developer/webhooks?tried=${sandbox.deliveries.at(-1)!.id}`),
    delivery: delivered(sandbox.deliveries[0]!.id),
    "delivery that was refused": delivered(refused.id),
    scenarios: own("/developer/scenarios"),
    behaviour: own("/developer/behaviour"),
    "return that is confirming": fifth!.successUrl,
    "return that is paid": second!.successUrl,
    "return that is canceled": third!.cancelUrl,
    "return that failed": fourth!.successUrl,
    "return that does not fit": sixth!.successUrl,
    "return that never was": `${url}/payments/success/never-was`,
    shop: url,
    "order that is unpaid": `${url}/orders/${unpaid}`,
    "order that is paid": `${url}/orders/${paid}`,
    "order that is canceled": `${url}/orders/${canceled}`,
    "order that failed": `${url}/orders/${failed}`,
    "order that is confirming": `${url}/orders/${confirming}`,
    "desk of the shop": `${url}/desk`,
    "nothing of the shop": `${url}/nothing`,
  };
}

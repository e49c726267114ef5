import { type SandboxPaymentActions } from "./contract.js";
import { type SandboxCore } from "./core.js";
import { type PaymentTransitions } from "./payment-transitions.js";
import { type Restoration } from "./state/saved-state.js";
import { type SandboxPayment } from "./state/payments.js";
import { throwMisuse } from "./throw-misuse.js";

/** Makes the part of the sandbox that creates, lists, pays and cancels payments. */
export function createPaymentActions(
  { options, payments, scenarios }: SandboxCore,
  { restoration, transitions }: { restoration: Restoration; transitions: PaymentTransitions },
): SandboxPaymentActions {
  const { providers } = options;
  const defaultProvider = providers[0]!.code;
  const find = (idOrClientId: string): SandboxPayment => findPayment(payments, idOrClientId);
  const findPending = (idOrClientId: string): SandboxPayment => {
    const payment = find(idOrClientId);
    if (payment.status !== "pending") throwMisuse(`The payment "${idOrClientId}" is ${payment.status}.`);
    return payment;
  };

  return {
    create: ({ id, clientId, total, successUrl = "http://localhost/", cancelUrl = successUrl }) => {
      restoration.requireDone();
      if (id !== undefined && payments.byId(id)) throwMisuse(`A payment with the id "${id}" exists already.`);
      if (payments.isTaken(clientId)) throwMisuse(`The clientId "${clientId}" was used before.`);
      const request = { clientId, total, successUrl, cancelUrl };
      return payments.create(request, scenarios.nameFor(request), id);
    },
    payments: () => payments.list(),
    find: (idOrClientId) => payments.find(idOrClientId),
    pay: async (idOrClientId, { provider = defaultProvider } = {}) => {
      const payment = find(idOrClientId);
      if (payment.status === "completed") throwMisuse(`The payment "${idOrClientId}" is completed already.`);
      if (!providers.some(({ code }) => code === provider))
        throwMisuse(`There is no provider with the code "${provider}".`);
      return transitions.run("approved", payment, provider);
    },
    cancel: async (idOrClientId) => transitions.run("canceled", findPending(idOrClientId), defaultProvider),
    fail: async (idOrClientId) => {
      const sent = transitions.apply(findPending(idOrClientId), { status: "failed" }, defaultProvider);
      return (await Promise.all(sent)).flat();
    },
  };
}

/** Returns the payment with this id or clientId. Throws `sandbox_misused` for an unknown one. */
export function findPayment(payments: SandboxCore["payments"], idOrClientId: string): SandboxPayment {
  return (
    payments.find(idOrClientId) ??
    throwMisuse(`There is no payment with the id or clientId "${idOrClientId}".`)
  );
}

/**
 * Starts an action whose webhooks may be held or wait for the clock. Rejects with its error, and otherwise resolves when
 * it has ended or after `waitMs`, so that a page can already show what ended quickly.
 */
export async function started(run: () => Promise<unknown>, { waitMs = 0 } = {}): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const waited = new Promise<void>((resolve) => {
    if (waitMs === 0) setImmediate(resolve);
    else timer = setTimeout(resolve, waitMs);
  });
  await Promise.race([run(), waited]).finally(() => clearTimeout(timer));
}

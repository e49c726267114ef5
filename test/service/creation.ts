import { TillkitError } from "../../src/errors/index.js";
import { type CreatePaymentRequest, type PaymentCreationError } from "../../src/service/index.js";

/** A request of `createPayment`. */
export const request: CreatePaymentRequest = {
  clientId: "c-1",
  total: { value: "1475", currency: "KMF" },
  successUrl: "https://shop.example/payments/success/abc",
  cancelUrl: "https://shop.example/payments/cancel/abc",
};

/** Returns the envelope of the interface document, 2.2, with every field that it shows. */
export function envelope({ value = "1475", currency = "KMF", ...data }: Record<string, unknown> = {}) {
  const submitUrl = "https://checkout.example/payment/submit/64b7f0c2a1d3e4f5a6b7c8d9";
  return {
    next: submitUrl,
    data: {
      id: "64b7f0c2a1d3e4f5a6b7c8d9",
      status: "pending",
      captured: false,
      purchase: { total: { value, currency } },
      cancelUrl: request.cancelUrl,
      successUrl: request.successUrl,
      billing: { submitUrl },
      createdAt: "2026-01-02T03:04:05.678Z",
      ...data,
    },
  };
}

/** The fields of an error that the tests check. */
type Caught = TillkitError & Partial<PaymentCreationError>;

const isCaught = (error: unknown): error is Caught => error instanceof TillkitError;

/** Returns the kit's error with which a promise rejects. Throws where the promise resolves. */
export async function errorOf(promise: Promise<unknown>): Promise<Caught> {
  const outcome: unknown = await promise.then(
    () => "resolved",
    (error: unknown) => error,
  );
  if (isCaught(outcome)) return outcome;
  throw new Error("expected a rejection with an error of the kit", { cause: outcome });
}

// The webhook that contenders receive, unless they make their own.

/** The secret of every contender. */
export const secret = "bench-7Qm2vXc9LkR4tYw8PzN3sHd6";

/** Returns the payment that webhook number `n` is about. */
export function paymentOf(n) {
  const id = n.toString(16).padStart(24, "0");
  return { id, clientId: `bench-${n}`, reference: `order-${n}`, value: "1475", currency: "KMF" };
}

/** Returns the body of webhook number `n` (interface document, 6.1). */
export function bodyOf(n) {
  const { id, clientId, value, currency } = paymentOf(n);
  return Buffer.from(
    JSON.stringify({
      topic: "payment.completed",
      timestamp: "2026-03-01T10:00:05.250Z",
      type: "payment",
      data: {
        id,
        status: "completed",
        captured: true,
        total: { value, currency },
        submittedAt: "2026-03-01T10:00:00.000Z",
        clientId,
        providerId: "TX99812",
        source: "MVK",
      },
    }),
  );
}

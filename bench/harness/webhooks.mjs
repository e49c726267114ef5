// The webhook that every contender receives, unless it wants one of its own making.

/** The secret of every contender; long enough for each of them. */
export const secret = "bench-7Qm2vXc9LkR4tYw8PzN3sHd6";

/** The payment that webhook number `n` is about. */
export function paymentOf(n) {
  const id = n.toString(16).padStart(24, "0");
  return { id, clientId: `bench-${n}`, reference: `order-${n}`, value: "1475", currency: "KMF" };
}

/** Webhook number `n`, as the interface document shows one. */
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

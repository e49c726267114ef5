/** Returns the webhook of a completed payment, with changes. `undefined` removes a field. */
export function webhook(
  data: Readonly<Record<string, unknown>> = {},
  envelope: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  return {
    topic: "payment.completed",
    timestamp: "2026-03-01T10:00:05.250Z",
    type: "payment",
    data: {
      id: "65f1a2b3c4d5e6f708192a3b",
      status: "completed",
      captured: true,
      total: { value: "1475", currency: "KMF" },
      submittedAt: "2026-03-01T10:00:00.000Z",
      clientId: "order-17.a",
      providerId: "TX99812",
      source: "MVK",
      ...data,
    },
    ...envelope,
  };
}

/** Returns the bytes that the service would send. */
export function bytes(body: unknown): Buffer {
  return Buffer.from(typeof body === "string" ? body : JSON.stringify(body), "utf8");
}

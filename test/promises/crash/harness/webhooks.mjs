import http from "node:http";

/** A secret in the form of a service's secrets. */
export const secret = "whsec_5d0e8b3f7a2c4916e8d1f0b7c6a59342";

/** Returns payment number `index` of a run, pending, like after its creation. */
export function paymentOf(index) {
  const serviceId = index.toString(16).padStart(24, "0");
  const created = "2026-11-20T09:59:00.000Z";
  return {
    clientId: `c-${index}`,
    reference: `order-${index}`,
    serviceId,
    total: {
      value: `${100 + (index % 9e3)}`,
      currency: "KMF",
    },
    state: "pending",
    status: "pending",
    open: true,
    checkoutUrl: `https://pay.invalid/payment/submit/${serviceId}`,
    createdAt: created,
    updatedAt: created,
  };
}

/** Returns the bytes of a webhook. Equal payments and statuses give equal bytes, so a second webhook is a copy. */
export function bodyOf({ payment, status, padding = 0 }) {
  const { clientId, serviceId, total } = paymentOf(payment);
  return Buffer.from(
    JSON.stringify({
      topic: `payment.${status}`,
      timestamp: "2026-11-20T10:00:05.000Z",
      type: "payment",
      data: {
        id: serviceId,
        status,
        captured: status === "completed",
        total,
        submittedAt: "2026-11-20T10:00:00.000Z",
        clientId,
        providerId: `MVK-${payment}`,
        source: "MVK",
        ...(padding > 0 && { note: "x".repeat(padding) }),
      },
    }),
  );
}

/** Posts signed webhooks. Resolves with the status of the answer, or `undefined` where there was none. */
export class Sender {
  #scheme;
  #agent;

  constructor(scheme, { keepAlive = false, sockets = Infinity } = {}) {
    this.#scheme = scheme;
    this.#agent = new http.Agent({ keepAlive, maxSockets: sockets });
  }

  post(port, message) {
    const body = bodyOf(message);
    const headers = {
      "content-type": "application/json",
      "content-length": body.length,
      [this.#scheme.header]: this.#scheme.sign(body),
    };
    const path = "/payments/webhook";
    const request = { host: "127.0.0.1", port, method: "POST", path, headers, agent: this.#agent };
    return new Promise((resolve) => {
      const sending = http.request({ ...request, timeout: 15_000 }, (response) => {
        response.resume();
        response.on("end", () => resolve(response.statusCode));
        response.on("error", () => resolve(undefined));
      });
      sending.on("timeout", () => sending.destroy());
      sending.on("error", ({ code }) => {
        // The server closed a kept connection at that moment, and read nothing from it. So no answer was lost.
        if (code === "ECONNRESET" && sending.reusedSocket) resolve(this.post(port, message));
        else resolve(undefined);
      });
      sending.end(body);
    });
  }

  close() {
    this.#agent.destroy();
  }
}

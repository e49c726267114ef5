/** The start time of a simulation. */
export const start = Date.parse("2026-11-20T10:00:00.000Z");

const currency = "KMF";

/** A model of the service from the merchant's view: its payments and its three addresses, without a network. */
export class ServiceModel {
  /** By service id: `{ id, clientId, value, statuses, status }`. */
  payments = new Map();
  /** The tokens of the merchant's return addresses, by clientId. */
  returnTokens = new Map();
  questions = 0;

  /** Adds a created payment with the status `pending`. */
  add({ clientId, value }) {
    const id = (this.payments.size + 1).toString(16).padStart(24, "0");
    const payment = { id, clientId, value, status: "pending" };
    this.payments.set(id, payment);
    return payment;
  }

  /** Returns the payment in the form of a webhook or an answer, with this status. */
  show({ id, clientId, value }, status) {
    const isSubmitted = status !== "pending";
    return {
      id,
      status,
      captured: status === "completed",
      total: { value, currency },
      ...(isSubmitted && { submittedAt: new Date(start + Number.parseInt(id, 16)).toISOString() }),
      clientId,
      ...(isSubmitted && { providerId: `MVK-${id}`, source: "MVK" }),
    };
  }

  /** Replaces the network: the option `service.fetch` of the kit. */
  fetch = async (address, { method = "GET", body } = {}) => {
    const { pathname } = new URL(address);
    if (method === "POST") return Response.json(this.#create(JSON.parse(body)), { status: 201 });
    this.questions += 1;
    const payment = this.payments.get(pathname.split("/").at(-1));
    if (!payment) return Response.json({ title: "Not found" }, { status: 404 });
    return Response.json({ data: this.show(payment, payment.status) });
  };

  #create({ clientId, purchase, cancelUrl, successUrl }) {
    const { value } = purchase.total;
    const { id } = this.add({ clientId, value });
    this.returnTokens.set(clientId, successUrl.split("/").at(-1));
    const submitUrl = `https://checkout.example/payment/submit/${id}`;
    const createdAt = new Date(start).toISOString();
    const data = { id, status: "pending", captured: false, purchase, cancelUrl, successUrl };
    return { next: submitUrl, data: { ...data, billing: { submitUrl }, createdAt } };
  }
}

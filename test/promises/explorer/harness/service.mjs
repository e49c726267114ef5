/** Fields that the signature of the scheme over fields does not cover differ between two deliveries of one webhook. */
const sources = ["app", "ussd", "web"];

/** The payment service of the simulated world: its ledger is the truth about what was paid. */
export class SimulatedService {
  /** By clientId. */
  payments = new Map();
  #world;
  #count = 0;
  /** Whether the list of all payments shows their clientIds; the interface document does not say so. */
  listsClientIds;
  #onCreated;

  constructor(world, onCreated) {
    this.#world = world;
    this.#onCreated = onCreated;
    this.listsClientIds = world.random.chance(0.5);
  }

  /** The `fetch` of the kit. */
  fetch = async (address, { method, body, signal }) => {
    const { pathname } = new URL(address);
    const label = `${method} ${pathname}`;
    const answer = await this.#world.io("service", label, (fault) => {
      if (fault?.how === "unreachable") throw Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
      if (fault?.status === 400) return { status: 400, json: { title: "refused" } };
      const answered = method === "POST" ? this.#create(JSON.parse(body)) : this.#show(pathname);
      return fault?.status ? { status: fault.status, json: { title: "broken" } } : answered;
    });
    signal?.throwIfAborted();
    return responseOf(answer);
  };

  /** Returns a webhook about the payment as it is now. */
  message(payment, changed = {}) {
    const { id, status, total, submittedAt, clientId } = payment;
    const data = { id, status, captured: isCaptured(status), total, submittedAt, clientId, ...changed };
    data.providerId = "mvola";
    data.source = changed.source ?? this.#world.random.pick(sources);
    data.captured = changed.captured ?? isCaptured(data.status);
    const timestamp = new Date(this.#world.wall()).toISOString();
    return { topic: `payment.${data.status}`, timestamp, type: "payment", data };
  }

  #create({ clientId, purchase: { total }, successUrl, cancelUrl }) {
    if (this.payments.has(clientId)) return { status: 409, json: { title: "exists" } };
    const last = (address) => address.split("/").at(-1);
    const { id } = this.add(clientId, total, { success: last(successUrl), cancel: last(cancelUrl) });
    const billing = { submitUrl: `https://pay.example/${id}` };
    return {
      status: 201,
      json: { next: billing.submitUrl, data: { id, status: "pending", purchase: { total }, billing } },
    };
  }

  /** Makes a payment. `tokens`: the last parts of the return addresses, where the kit made them. */
  add(clientId, total, tokens, hasFate = true) {
    const id = `pay_${++this.#count}`;
    const payment = { id, clientId, total, status: "pending", reported: [], submittedAt: undefined, tokens };
    this.payments.set(clientId, payment);
    if (hasFate) this.#world.as(this.#world.outside, () => this.#onCreated(payment));
    return payment;
  }

  #show(pathname) {
    const shown = ({ tokens: _, reported: __, ...payment }) => ({
      ...payment,
      captured: isCaptured(payment.status),
      providerId: "mvola",
    });
    const id = pathname.split("/v1/payments/")[1];
    if (id === undefined) {
      const data = [...this.payments.values()].map(shown);
      if (!this.listsClientIds) for (const payment of data) delete payment.clientId;
      return { status: 200, json: { data } };
    }
    const payment = [...this.payments.values()].find((one) => one.id === id);
    return payment ? { status: 200, json: { data: shown(payment) } } : { status: 404, json: {} };
  }
}

export function isCaptured(status) {
  return status === "completed" || status === "captured";
}

/** A small stand-in for a `Response`. */
function responseOf({ status, json }) {
  const parts = [Buffer.from(JSON.stringify(json))];
  const reader = {
    read: async () =>
      parts.length > 0 ? { done: false, value: parts.pop() } : { done: true, value: undefined },
    cancel: async () => undefined,
  };
  return {
    status,
    headers: { get: () => null },
    body: { getReader: () => reader, cancel: async () => undefined },
  };
}

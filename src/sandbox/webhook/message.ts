import { type SandboxCore } from "../core/core.js";
import { type WebhookStep } from "../scenario/scenario.js";
import { type SandboxPayment } from "../state/payments.js";
import { createRandom, type Random } from "../state/random.js";
import { type Delivery } from "../state/delivery.js";

/** The body of a webhook, with its fields in the order of the interface document (6.1 and 2.3). */
export interface WebhookBody {
  /** The name of the event, such as `payment.completed`. */
  topic: string;
  /** The time of the event, in the form of RFC 3339. */
  timestamp: string;
  /** The kind of the object in `data`. */
  type: string;
  /** The object that the webhook is about. */
  data: {
    id: string;
    status: string;
    captured: boolean;
    total: { value: string; currency: string };
    submittedAt?: string;
    clientId: string;
    providerId?: string;
    source?: string;
  };
}

/** Changes to a webhook's body. `undefined` removes a field; `data` is merged field by field. */
export type WebhookOverrides = Partial<Record<keyof Omit<WebhookBody, "data">, unknown>> & {
  /** The fields that are added to the payment's fields, or replace them. */
  data?: Record<string, unknown>;
};

/** A webhook that a test describes, such as an altered or forged webhook. */
export interface WebhookByHand {
  /** The payment that the webhook is about: its id or its clientId. */
  payment: string;
  /** The address to send to. @default the first registered address */
  url?: string;
  /** Changes to the body; `undefined` removes a field. */
  overrides?: WebhookOverrides;
  /** The body to send, in place of the one made from the payment. */
  rawBody?: string | Uint8Array;
  /** Returns the signature header's value; `undefined` omits the header. @default the sandbox's own scheme */
  sign?: (rawBody: Buffer) => string | undefined;
  /** The headers to add or to replace. */
  headers?: Record<string, string>;
}

/** A webhook that is ready to be sent, with the same bytes and signature at every attempt. */
export interface WebhookMessage extends Pick<Delivery, "paymentId" | "scenario" | "byHand"> {
  /** The body in base64, because the state file holds JSON. */
  rawBody: string;
  headers: Record<string, string>;
}

/** Makes the bytes and headers of webhooks. */
export class WebhookMessages {
  readonly #random: Random;

  constructor(private readonly core: SandboxCore) {
    this.#random = createRandom(core.options.seed, "invented");
  }

  /** Returns the webhook of a scenario's step. `now` is the event's time, without the offset of the step. */
  fromStep(payment: SandboxPayment, step: WebhookStep, now: Date): WebhookMessage {
    const status = step.status ?? payment.status;
    const timestamp = new Date(now.getTime() + (step.timestampOffsetMs ?? 0)).toISOString();
    const body = webhookBody({ ...payment, status, captured: status === "completed" }, timestamp);
    this.#change(body, step.change, payment);
    for (const [path, value] of Object.entries(step.set ?? {})) setAt(body, path.split("."), value);
    const signature = this.#sign(jsonBytes(body), step.sign);
    this.#change(body, step.tamper, payment);
    const bytes = jsonBytes(body);
    const sent = step.truncate ? bytes.subarray(0, Math.floor(bytes.length / 2)) : bytes;
    return {
      paymentId: payment.id,
      rawBody: sent.toString("base64"),
      headers: this.#headers(signature),
      ...(payment.scenario !== "normal" && { scenario: payment.scenario }),
    };
  }

  /** Returns the webhook that a test describes. Without overrides, the webhook reports a completion. */
  fromTest(payment: SandboxPayment, webhook: WebhookByHand): WebhookMessage {
    const { overrides = {}, headers, sign = (rawBody: Buffer) => this.#sign(rawBody) } = webhook;
    const body = webhookBody({ ...payment, status: "completed", captured: true }, this.#timestamp());
    const changed = { ...body, ...overrides, data: { ...body.data, ...overrides.data } };
    const bytes = webhook.rawBody === undefined ? jsonBytes(changed) : Buffer.from(webhook.rawBody);
    const allHeaders = { ...this.#headers(sign(bytes)), ...headers };
    return { paymentId: payment.id, rawBody: bytes.toString("base64"), headers: allHeaders, byHand: true };
  }

  /**
   * Returns a webhook that tries an address. With the scheme `fields`, the webhook contains an invented
   * payment, because the scheme needs a payment's fields.
   */
  forTrial(): WebhookMessage {
    const timestamp = this.#timestamp();
    const payment = {
      id: this.#random.hex(12),
      status: "pending",
      captured: false,
      total: { value: "1", currency: "KMF" },
      clientId: `sandbox-try-${this.#random.hex(4)}`,
    };
    const bytes = jsonBytes(
      this.core.signing.state.scheme === "fields"
        ? { topic: "payment.pending", timestamp, type: "payment", data: payment }
        : { topic: "webhook.try", timestamp, type: "webhook", data: {} },
    );
    return { rawBody: bytes.toString("base64"), headers: this.#headers(this.#sign(bytes)) };
  }

  /** Returns the signature; `undefined` to omit the header. */
  #sign(rawBody: Buffer, how: WebhookStep["sign"] = "right"): string | undefined {
    const { signing } = this.core;
    if (how === "missing") return undefined;
    try {
      return how === "right" ? signing.sign(rawBody) : signing.signWrongly(rawBody, how);
    } catch {
      // The custom scheme cannot sign this body, so the webhook is sent without a signature.
      return undefined;
    }
  }

  #headers(signature: string | undefined): Record<string, string> {
    return {
      "Content-Type": "application/json",
      "User-Agent": "tillkit-sandbox",
      ...(signature !== undefined && { [this.core.signing.state.header]: signature }),
    };
  }

  #change({ data }: WebhookBody, fields: WebhookStep["change"] = [], { id }: SandboxPayment): void {
    const { total } = data;
    if (fields.includes("amount")) total.value = tenTimes(total.value);
    if (fields.includes("currency")) total.currency = total.currency === "EUR" ? "KMF" : "EUR";
    if (fields.includes("clientId")) {
      const other = this.core.payments.list().findLast((payment) => payment.id !== id);
      data.clientId = other?.clientId ?? `not-yours-${this.#random.hex(4)}`;
    }
  }

  #timestamp(): string {
    return this.core.clock.now().toISOString();
  }
}

/** Returns the body of the webhook that reports the payment at this time. */
function webhookBody(payment: SandboxPayment, timestamp: string): WebhookBody {
  return {
    topic: `payment.${payment.status}`,
    timestamp,
    type: "payment",
    data: {
      id: payment.id,
      status: payment.status,
      captured: payment.captured,
      total: { value: payment.total.value, currency: payment.total.currency },
      // A payment that was canceled before its submission has only `submittedAt` and no provider.
      ...(payment.submittedAt !== undefined && { submittedAt: payment.submittedAt }),
      clientId: payment.clientId,
      ...(payment.providerId !== undefined && { providerId: payment.providerId }),
      ...(payment.source !== undefined && { source: payment.source }),
    },
  };
}

/** Returns the amount with a further zero before the point: `1475` → `14750`, `10.50` → `100.50`. */
function tenTimes(value: string): string {
  return value.replace(/^\d+/, (digits) => (digits === "0" ? "10" : `${digits}0`));
}

function jsonBytes(body: object): Buffer {
  return Buffer.from(JSON.stringify(body));
}

function setAt(target: object, [head = "", ...rest]: readonly string[], value: unknown): void {
  const holder = target as Record<string, unknown>;
  const inner = Object.hasOwn(holder, head) ? holder[head] : undefined;
  if (rest.length > 0 && typeof inner === "object" && inner !== null) return setAt(inner, rest, value);
  // An assignment would not make a field for a path named `__proto__`.
  const field = { value, enumerable: true, configurable: true, writable: true };
  Object.defineProperty(holder, [head, ...rest].join("."), field);
}

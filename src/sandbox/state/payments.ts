import { createHash } from "node:crypto";
import { type Keeper } from "./keeper.js";
import { type Randomness } from "./randomness.js";

/** Where a payment of the sandbox stands. The interface document shows `pending` and `completed`; others are choices. */
export type SandboxStatus = string;

/** A payment as the sandbox holds it. */
export interface SandboxPayment {
  /** 24 hexadecimal digits. */
  readonly id: string;
  readonly clientId: string;
  readonly status: SandboxStatus;
  readonly captured: boolean;
  readonly total: { readonly value: string; readonly currency: string };
  readonly cancelUrl: string;
  readonly successUrl: string;
  /** ISO 8601 UTC with milliseconds, like every time here. */
  readonly createdAt: string;
  /** When the customer approved. */
  readonly submittedAt?: string;
  /** The provider's reference of the transaction. */
  readonly providerId?: string;
  /** Code of the chosen provider. */
  readonly source?: string;
  /** The name of the scenario that it goes through. */
  readonly scenario: string;
}

/** What a merchant sends to create a payment (interface document, 4.1). */
export interface PaymentRequest {
  clientId: string;
  total: { value: string; currency: string };
  cancelUrl: string;
  successUrl: string;
}

/** What the payments of a sandbox need. */
export interface PaymentsParts {
  now: () => Date;
  randomness: Randomness;
  keeper: Keeper;
  onChange: (type: "payment.created" | "payment.moved", payment: SandboxPayment) => void;
}

/** The payments of one sandbox. */
export class Payments {
  readonly #byId = new Map<string, SandboxPayment>();
  readonly #idByClientId = new Map<string, string>();
  readonly #parts: PaymentsParts;

  constructor(parts: PaymentsParts) {
    this.#parts = parts;
  }

  /** Takes over those of an earlier run of the same sandbox. */
  async resume(): Promise<void> {
    for (const payment of await this.#parts.keeper.load<SandboxPayment>("payment")) this.#hold(payment);
  }

  isTaken(clientId: string): boolean {
    return this.#idByClientId.has(clientId);
  }

  /** Adds a pending payment. Where the clientId was used before, it names the new one from now on. */
  create(request: PaymentRequest, scenario: string, id = this.#newId()): SandboxPayment {
    return this.#replace({
      id,
      clientId: request.clientId,
      status: "pending",
      captured: false,
      total: request.total,
      cancelUrl: request.cancelUrl,
      successUrl: request.successUrl,
      createdAt: this.timestamp(),
      scenario,
    });
  }

  /** The payment with this service id. */
  byId(id: string): SandboxPayment | undefined {
    return this.#byId.get(id);
  }

  /** The payment with this service id or this clientId. */
  find(idOrClientId: string): SandboxPayment | undefined {
    return this.byId(idOrClientId) ?? this.byId(this.#idByClientId.get(idOrClientId) ?? "");
  }

  /** Every payment, oldest first. */
  list(): SandboxPayment[] {
    return [...this.#byId.values()];
  }

  /** The payment takes a status. One that the customer reached by submitting gets what a submission leaves. */
  move({ id }: SandboxPayment, status: SandboxStatus, source: string): SandboxPayment {
    const payment = this.byId(id)!;
    const isSubmitted = status !== "canceled" && payment.submittedAt === undefined;
    return this.#replace({
      ...payment,
      ...(isSubmitted && this.submission(payment, source)),
      status,
      captured: status === "completed",
    });
  }

  follow({ id }: SandboxPayment, scenario: string): SandboxPayment {
    return this.#replace({ ...this.byId(id)!, scenario });
  }

  /** What a payment gains when the customer submits it to a provider. */
  submission(
    { id }: SandboxPayment,
    source: string,
  ): { submittedAt: string; providerId: string; source: string } {
    const digits = createHash("sha256").update(id).digest("hex").slice(0, 12);
    return { submittedAt: this.timestamp(), providerId: `${source}-${digits.toUpperCase()}`, source };
  }

  /** Now, as the interface writes times. */
  timestamp(): string {
    return this.#parts.now().toISOString();
  }

  #newId(): string {
    return this.#parts.randomness.hex(12, (id) => this.#byId.has(id));
  }

  #replace(payment: SandboxPayment): SandboxPayment {
    const type = this.#byId.has(payment.id) ? "payment.moved" : "payment.created";
    this.#hold(payment);
    this.#parts.keeper.put("payment", payment.id, payment);
    this.#parts.onChange(type, payment);
    return payment;
  }

  #hold(payment: SandboxPayment): void {
    this.#idByClientId.set(payment.clientId, payment.id);
    this.#byId.set(payment.id, payment);
  }
}

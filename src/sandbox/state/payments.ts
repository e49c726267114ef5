import { hash } from "node:crypto";
import { type Random } from "./random.js";
import { type StateFile } from "./state-file.js";

/** The status of a payment. The interface document shows only `pending` and `completed`. */
export type SandboxStatus = string;

/** A payment of the sandbox. */
export interface SandboxPayment {
  /** The id: 24 hexadecimal digits, unless the program gave another id to `create`. */
  readonly id: string;
  /** The merchant's id of the payment. */
  readonly clientId: string;
  /** The present status. */
  readonly status: SandboxStatus;
  /** Whether the money was taken. */
  readonly captured: boolean;
  /** The amount to collect. */
  readonly total: { readonly value: string; readonly currency: string };
  /** The address to which the browser goes after a cancel. */
  readonly cancelUrl: string;
  /** The address to which the browser goes after the approval. */
  readonly successUrl: string;
  /** The time of the creation, in ISO 8601 and UTC with milliseconds. All other times have this form. */
  readonly createdAt: string;
  /** The time at which the customer approved or canceled, or at which the payment failed. */
  readonly submittedAt?: string;
  /** The time of the completion; absent before the completion. */
  readonly completedAt?: string;
  /** The provider's reference of the transaction. */
  readonly providerId?: string;
  /** The code of the chosen provider. */
  readonly source?: string;
  /** The name of the payment's scenario. */
  readonly scenario: string;
}

/** The part of a creation request that the sandbox keeps (interface document, 4.1). */
export type NewPayment = Pick<SandboxPayment, "clientId" | "total" | "cancelUrl" | "successUrl">;

interface SandboxPaymentsOptions {
  now: () => Date;
  random: Random;
  stateFile: StateFile;
  onChange: (type: "payment.created" | "payment.moved", payment: SandboxPayment) => void;
}

export class SandboxPayments {
  readonly #byId = new Map<string, SandboxPayment>();
  readonly #idByClientId = new Map<string, string>();

  constructor(private readonly options: SandboxPaymentsOptions) {}

  async restore(): Promise<void> {
    for (const payment of await this.options.stateFile.load<SandboxPayment>("payment")) this.#add(payment);
  }

  isTaken(clientId: string): boolean {
    return this.#idByClientId.has(clientId);
  }

  /** Adds a pending payment. A clientId that was used before refers to the new payment from now on. */
  create(request: NewPayment, scenario: string, id = this.#newId()): SandboxPayment {
    const createdAt = this.#timestamp();
    return this.#save({ id, ...request, status: "pending", captured: false, createdAt, scenario });
  }

  byId(id: string): SandboxPayment | undefined {
    return this.#byId.get(id);
  }

  find(idOrClientId: string): SandboxPayment | undefined {
    return this.byId(idOrClientId) ?? this.byId(this.#idByClientId.get(idOrClientId) ?? "");
  }

  list(): SandboxPayment[] {
    return [...this.#byId.values()];
  }

  /**
   * Gives the payment a status. The first status that is not `canceled` also adds the fields of a submission.
   * A cancel adds only `submittedAt`, because webhooks have this field, and no provider was involved.
   */
  move({ id }: SandboxPayment, status: SandboxStatus, source: string): SandboxPayment {
    const payment = this.byId(id)!;
    const at = this.#timestamp();
    const canceled = { submittedAt: payment.submittedAt ?? at };
    const added = status === "canceled" ? canceled : this.submission(payment, source, at);
    const captured = status === "completed";
    return this.#save({
      ...payment,
      ...(payment.providerId === undefined && added),
      ...(captured && { completedAt: at }),
      status,
      captured,
    });
  }

  assignScenario({ id }: SandboxPayment, scenario: string): SandboxPayment {
    return this.#save({ ...this.byId(id)!, scenario });
  }

  /** Returns the fields that a payment gains when the customer submits it to a provider. */
  submission({ id }: SandboxPayment, source: string, submittedAt = this.#timestamp()) {
    const digits = hash("sha256", id).slice(0, 12);
    return { submittedAt, providerId: `${source}-${digits.toUpperCase()}`, source };
  }

  #timestamp(): string {
    return this.options.now().toISOString();
  }

  #newId(): string {
    return this.options.random.hex(12, (id) => this.#byId.has(id));
  }

  #save(payment: SandboxPayment): SandboxPayment {
    const type = this.#byId.has(payment.id) ? "payment.moved" : "payment.created";
    this.#add(payment);
    this.options.stateFile.put("payment", payment.id, payment);
    this.options.onChange(type, payment);
    return payment;
  }

  #add(payment: SandboxPayment): void {
    if (!this.#byId.has(payment.id)) this.#idByClientId.set(payment.clientId, payment.id);
    this.#byId.set(payment.id, payment);
  }
}

import { type SandboxPayment } from "../state/payments.js";
import { type WebhookBody, webhookBody, type WebhookMessage } from "../webhook/message.js";
import { type WebhookStep } from "./scenario.js";

/** What a plan needs of the sandbox. */
export interface PlanParts {
  now: () => Date;
  /** The signature of these bytes; `undefined` leaves the header out. Never throws. */
  sign: (rawBody: Buffer, how: NonNullable<WebhookStep["sign"]>) => string | undefined;
  /** The headers of a webhook with this signature. */
  headersFor: (signature: string | undefined) => Record<string, string>;
  /** The clientId of some other payment. */
  anotherClientId: (payment: SandboxPayment) => string;
}

/** The bytes and headers of one webhook of a scenario. */
export function planWebhook(payment: SandboxPayment, step: WebhookStep, parts: PlanParts): WebhookMessage {
  const status = step.status ?? payment.status;
  const timestamp = new Date(parts.now().getTime() + (step.timestampOffsetMs ?? 0)).toISOString();
  const said = { ...payment, status, captured: status === "completed" };
  const anotherClientId = (): string => parts.anotherClientId(payment);

  const body = webhookBody(said, timestamp);
  change(body, step.change ?? [], anotherClientId);
  for (const [path, value] of Object.entries(step.set ?? {})) setAt(body, path.split("."), value);
  const signed = bytesOf(body);
  const signature = parts.sign(signed, step.sign ?? "right");

  change(body, step.tamper ?? [], anotherClientId);
  const whole = bytesOf(body);
  return {
    paymentId: payment.id,
    rawBody: step.truncate ? whole.subarray(0, Math.floor(whole.length / 2)) : whole,
    headers: parts.headersFor(signature),
    ...(payment.scenario !== "normal" && { scenario: payment.scenario }),
  };
}

function change(
  { data }: WebhookBody,
  changes: NonNullable<WebhookStep["change"]>,
  anotherClientId: () => string,
): void {
  if (changes.includes("amount")) data.total.value = moreThan(data.total.value);
  if (changes.includes("currency")) data.total.currency = data.total.currency === "EUR" ? "KMF" : "EUR";
  if (changes.includes("clientId")) data.clientId = anotherClientId();
}

/** Ten times as much: `1475` becomes `14750`, `10.50` becomes `100.50`. */
function moreThan(value: string): string {
  return value.replace(/^\d+/, (whole) => (whole === "0" ? "10" : `${whole}0`));
}

function bytesOf(body: object): Buffer {
  return Buffer.from(JSON.stringify(body));
}

function setAt(target: object, [head = "", ...rest]: readonly string[], value: unknown): void {
  const holder = target as Record<string, unknown>;
  const inner = Object.hasOwn(holder, head) ? holder[head] : undefined;
  if (rest.length > 0 && typeof inner === "object" && inner !== null) return setAt(inner, rest, value);
  // Defined rather than assigned: a path named __proto__ is a field like any other.
  Object.defineProperty(holder, [head, ...rest].join("."), {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  });
}

import { TillkitError } from "../errors/index.js";
import { type Money } from "../model/payment.js";
import { checkAmount } from "../model/money.js";
import { describeUnknown, type NamesOf } from "../shared/unknown-names.js";

/** A payment to create. */
export interface PaymentRequest {
  /** The merchant's own order id: 1 to 200 characters without control characters, not only dots. */
  reference: string;
  /** The amount to pay: above zero, with no more decimals than the currency has. */
  total: Money;
  /**
   * The id of the payment, which no other payment has: 1 to 64 characters of A-Z a-z 0-9 . _ : -, not only
   * dots. The id must begin with the option `clientIdPrefix`.
   *
   * @default `clientIdPrefix` and a new UUID
   */
  clientId?: string | undefined;
  /**
   * The language tag, such as `"fr"`, for the service's messages and the return pages.
   *
   * @default none: the return pages use the browser's language
   */
  locale?: string | undefined;
  /**
   * The merchant's own data: plain JSON of at most 4 KiB. Each event that contains the payment contains the
   * data.
   */
  metadata?: Readonly<Record<string, unknown>> | undefined;
}

const maxMetadataBytes = 4096;

/** Throws `option_invalid` if a field is unknown. Otherwise, a misspelt `clientId` would be ignored. */
export function refuseUnknownFields(request: object, known: object): void {
  const unknown = describeUnknown(request, known);
  if (unknown !== undefined) throw new TillkitError("option_invalid", `The payment's field ${unknown}`);
}

/**
 * Checks a request before anything is stored or sent. Returns a copy, because the caller may change the
 * request later.
 *
 * @throws TillkitError `reference_invalid`, `amount_invalid`, `currency_invalid`, `client_id_invalid`,
 * `locale_invalid`, `metadata_invalid`, `option_invalid`
 */
export function checkPaymentRequest(request: PaymentRequest, clientIdPrefix = ""): PaymentRequest {
  // Callers in JavaScript may pass anything, and get an error with a code.
  const { reference, total, clientId, locale, metadata }: Partial<PaymentRequest> = request ?? {};
  const names = { reference, total, clientId, locale, metadata };
  refuseUnknownFields(request, names satisfies NamesOf<PaymentRequest>);
  if (typeof reference !== "string" || !/^(?!\.+$)[^\p{Cc}\p{Cs}]{1,200}$/u.test(reference)) {
    throw new TillkitError(
      "reference_invalid",
      "reference must be a string of 1 to 200 characters without control characters, and not of dots only: the " +
        "merchant's order id.",
    );
  }
  const copied = { value: total?.value, currency: total?.currency };
  const problem = checkAmount(copied);
  if (problem) throw new TillkitError(problem.code, problem.message);
  if (clientId !== undefined && !isClientId(clientId)) {
    throw new TillkitError(
      "client_id_invalid",
      "clientId must be 1 to 64 characters of A-Z a-z 0-9 . _ : - and not of dots only, and unique per payment.",
    );
  }
  if (clientId !== undefined && !clientId.startsWith(clientIdPrefix)) {
    throw new TillkitError(
      "client_id_invalid",
      `clientId must begin with the clientIdPrefix ${clientIdPrefix}: any other counts as another shop's.`,
    );
  }
  if (
    locale !== undefined &&
    !(typeof locale === "string" && /^(?!.{36})[a-z]{2,3}(-[a-z0-9]{2,8})*$/i.test(locale))
  ) {
    throw new TillkitError(
      "locale_invalid",
      'locale must be a language tag of at most 35 characters, such as "fr".',
    );
  }
  const plain = metadata === undefined ? undefined : plainMetadata(metadata);
  return { reference, total: copied, clientId, locale, metadata: plain };
}

/**
 * Returns whether the value is a clientId. A clientId of only dots is refused, because an address such as
 * `/orders/..` would lead elsewhere.
 */
function isClientId(clientId: unknown): boolean {
  return typeof clientId === "string" && /^(?!\.+$)[A-Za-z0-9._:-]{1,64}$/.test(clientId);
}

/**
 * Returns the metadata as JSON stores it: without functions, and with dates as strings.
 *
 * @throws TillkitError `metadata_invalid` if the metadata is not a plain object, or has more than 4096 bytes
 */
export function plainMetadata(metadata: unknown): Readonly<Record<string, unknown>> {
  try {
    const json = JSON.stringify(metadata);
    const plain: unknown = JSON.parse(json);
    if (isObject(plain) && Buffer.byteLength(json) <= maxMetadataBytes) return plain;
  } catch {
    // JSON cannot write a cycle or a BigInt, for example. The error is thrown below.
  }
  throw new TillkitError(
    "metadata_invalid",
    `metadata must be a plain JSON object of at most ${maxMetadataBytes} bytes.`,
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

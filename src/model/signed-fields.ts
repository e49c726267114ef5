/** All fields that a signature can cover, in the order of the interface document. */
export const signedFields = [
  "topic",
  "timestamp",
  "type",
  "id",
  "status",
  "captured",
  "total.value",
  "total.currency",
  "submittedAt",
  "clientId",
  "providerId",
  "source",
] as const;

/**
 * A field that a signature can cover (interface document, 6.1 and 2.3), named by its path. `topic`,
 * `timestamp` and `type` are at the top of the body, all others under `data`.
 */
export type SignedField = (typeof signedFields)[number];

/**
 * The fields that every signature must cover. Otherwise a webhook could complete a payment with an unsigned
 * amount.
 */
export const indispensableFields = [
  "id",
  "clientId",
  "status",
  "total.value",
  "total.currency",
] as const satisfies readonly SignedField[];

/** A field that every accepted scheme covers. */
export type IndispensableField = (typeof indispensableFields)[number];

const topLevel: readonly string[] = ["topic", "timestamp", "type"];
const paths = Object.fromEntries(
  signedFields.map((field) => [field, topLevel.includes(field) ? [field] : ["data", ...field.split(".")]]),
) as Record<SignedField, string[]>;

/** The fields that change no payment's state. The kit accepts a webhook with any values of these fields. */
const undecidingFields = ["timestamp", "providerId", "source"] as const satisfies readonly SignedField[];

/** A field that changes no payment's state. */
export type UndecidingField = (typeof undecidingFields)[number];

/** Returns whether the field is an {@link UndecidingField}. */
export function decidesNothing(field: SignedField): field is UndecidingField {
  return (undecidingFields as readonly SignedField[]).includes(field);
}

/** Returns whether the name is a field of the interface document. */
export function isSignedField(name: unknown): name is SignedField {
  return typeof name === "string" && Object.hasOwn(paths, name);
}

/** Returns the path of the field in the body, for messages: `data.total.value`. */
export function fieldPath(field: SignedField): string {
  return paths[field].join(".");
}

/**
 * Returns the unchanged value of the field, or `undefined` if the field is absent. Reads only own properties,
 * and never the value of a prototype.
 */
export function readField(payload: Readonly<Record<string, unknown>>, field: SignedField): unknown {
  let value: unknown = payload;
  for (const step of paths[field]) value = own(value, step);
  return value;
}

/**
 * Returns the unchanged values of all fields. An absent field is an own property with the value `undefined`.
 */
export function readFields(payload: Readonly<Record<string, unknown>>): Record<SignedField, unknown> {
  const data = own(payload, "data");
  const total = own(data, "total");
  return {
    topic: own(payload, "topic"),
    timestamp: own(payload, "timestamp"),
    type: own(payload, "type"),
    id: own(data, "id"),
    status: own(data, "status"),
    captured: own(data, "captured"),
    "total.value": own(total, "value"),
    "total.currency": own(total, "currency"),
    submittedAt: own(data, "submittedAt"),
    clientId: own(data, "clientId"),
    providerId: own(data, "providerId"),
    source: own(data, "source"),
  };
}

function own(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Record<string, unknown>)[key];
}

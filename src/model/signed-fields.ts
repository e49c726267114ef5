const paths: Readonly<Record<SignedField, readonly string[]>> = {
  topic: ["topic"],
  timestamp: ["timestamp"],
  type: ["type"],
  id: ["data", "id"],
  status: ["data", "status"],
  captured: ["data", "captured"],
  "total.value": ["data", "total", "value"],
  "total.currency": ["data", "total", "currency"],
  submittedAt: ["data", "submittedAt"],
  clientId: ["data", "clientId"],
  providerId: ["data", "providerId"],
  source: ["data", "source"],
};

/** Whether the name is one of the interface document's fields. */
export function isSignedField(name: unknown): name is SignedField {
  return typeof name === "string" && Object.hasOwn(paths, name);
}

/** Where the field stands in the body, for messages: `data.total.value`. */
export function fieldPath(field: SignedField): string {
  return paths[field].join(".");
}

/**
 * The field's value as it stands, or `undefined` where it is absent. Own properties only: a body cannot borrow
 * a value from a prototype.
 */
export function readField(payload: Readonly<Record<string, unknown>>, field: SignedField): unknown {
  let value: unknown = payload;
  for (const step of paths[field]) {
    if (!owns(value, step)) return undefined;
    value = value[step];
  }
  return value;
}

/** All fields as they stand; each is an own property, `undefined` where it is absent. */
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
  return owns(value, key) ? value[key] : undefined;
}

function owns(value: unknown, key: string): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key);
}

/**
 * What a signature can cover: the fields of a webhook (interface document, 6.1 and 2.3), named by their path.
 * `topic`, `timestamp` and `type` stand at the top of the body, all others under `data`.
 */
export type SignedField =
  | "topic"
  | "timestamp"
  | "type"
  | "id"
  | "status"
  | "captured"
  | "total.value"
  | "total.currency"
  | "submittedAt"
  | "clientId"
  | "providerId"
  | "source";

/** Every field, in the order of the interface document. */
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
] as const satisfies readonly SignedField[];

/** Without these five under the signature, a payment could be completed with an amount that nobody signed. */
export const indispensableFields = [
  "id",
  "clientId",
  "status",
  "total.value",
  "total.currency",
] as const satisfies readonly SignedField[];

/** A field that every usable scheme covers. */
export type IndispensableField = (typeof indispensableFields)[number];

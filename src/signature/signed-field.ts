import { type SignedField } from "./scheme.js";

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

function owns(value: unknown, key: string): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key);
}

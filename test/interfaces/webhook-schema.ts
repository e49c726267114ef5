import { z } from "zod";
import { fieldPath, type SignedField, signedFields } from "../../src/model/signed-fields.js";
import { fieldRules } from "../../src/webhook/message/field-rules.js";

type Schema = Record<string, unknown>;

const name = { minLength: 1, maxLength: 128 };
const note = { type: ["string", "null"], maxLength: 256 };
const dateTime = { format: "date-time" };

/** What the rules of the fields check with a function, which zod cannot write as a schema. */
const checkedByFunction: Partial<Record<SignedField, Schema>> = {
  topic: name,
  type: { const: "payment" },
  id: name,
  timestamp: dateTime,
  "total.value": { pattern: "^(0|[1-9]\\d{0,15})(?:\\.(\\d{1,4}))?$" },
  submittedAt: { anyOf: [{ ...dateTime }, { enum: ["", null] }], type: ["string", "null"] },
  providerId: note,
  source: note,
};

const descriptions: Partial<Record<SignedField, string>> = {
  topic: "The kind of the event; shown: `payment.completed`.",
  id: "The service's id of the payment.",
  status: "Shown: `pending` and `completed`.",
  captured: "`true` if the status is `completed`.",
  submittedAt: "When the customer submitted the payment. Required if the status is `completed`.",
  clientId: "The merchant's own id, from the creation.",
  providerId: "The provider's reference.",
  source: "A short code of the provider's channel.",
};

/** Returns the JSON Schema of a webhook about a payment whose signature covers the whole body. */
export function webhookSchema(): Schema {
  const root: Schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "A webhook about a payment, as tillkit takes it",
    description:
      "Interface document, 6.1 and 2.3. Other fields are allowed and ignored. The kit also checks that each day exists, and " +
      "that the amount has no more decimals than its currency.",
    ...emptyObject(),
  };
  for (const field of signedFields) {
    const { $schema, ...schema } = z.toJSONSchema(fieldRules[field].schema, { io: "output" });
    const described = descriptions[field];
    const value = {
      ...schema,
      ...checkedByFunction[field],
      ...(described !== undefined && { description: described }),
    };
    const isOptional = fieldRules[field].schema.safeParse(undefined).success;
    insert(root, fieldPath(field).split("."), value, isOptional);
  }
  return root;
}

interface ObjectSchema {
  type: "object";
  required: string[];
  properties: Record<string, Schema>;
}

function emptyObject(): ObjectSchema {
  return { type: "object", required: [], properties: {} };
}

/** Adds the schema of a field at its path. */
function insert(
  root: Schema,
  [step = "", ...rest]: readonly string[],
  value: Schema,
  isOptional: boolean,
): void {
  const { properties, required } = root as unknown as ObjectSchema;
  const isField = rest.length === 0;
  if (!(step in properties)) {
    properties[step] = isField ? value : { ...emptyObject() };
    if (!isField || !isOptional) required.push(step);
  }
  if (!isField) insert(properties[step]!, rest, value, isOptional);
}

import { type SandboxSettings } from "../state/sandbox-settings.js";
import { creationRequestJsonSchema } from "./creation-request.js";

type Json = Readonly<Record<string, unknown>>;

const notShown = "The interface document does not show this; it is what the sandbox does.";
const text = { type: "string" };
const dateTime = { type: "string", format: "date-time" };
const total = objectOf({ value: { ...text, description: "A decimal string." }, currency: text });

/** The schema of a payment in the response to its creation (interface document, 2.1). */
const createdPayment = {
  id: text,
  status: { ...text, description: "`pending` at the creation. The list of the others is not shown." },
  captured: { type: "boolean", description: "`false` at the creation." },
  purchase: objectOf({ total }),
  cancelUrl: { ...text, format: "uri" },
  successUrl: { ...text, format: "uri" },
  billing: objectOf({ submitUrl: { ...text, format: "uri", description: "Where the customer pays." } }),
  createdAt: dateTime,
};

/**
 * Returns the OpenAPI 3.1 description of the service with these settings. The operation `POST /v1/payments`
 * is as in the interface document. The additions of the sandbox are marked with `x-not-shown`.
 */
export function serviceDescription(url: string, settings: Readonly<SandboxSettings>): Json {
  const { errorBodies, readBack, strict } = settings;
  return {
    openapi: "3.1.0",
    info: {
      title: "Payment service",
      version: "v1",
      description:
        "Creates payments that customers pay on the checkout page. The result comes as a webhook, and not as an answer here. " +
        (strict ? "" : "The sandbox is lenient now: it takes more than this page says."),
    },
    servers: [{ url }],
    paths: {
      "/v1/payments": {
        post: creation(settings),
        ...(readBack && { get: readBackList(settings) }),
      },
      ...(readBack && { "/v1/payments/{id}": { get: readBackOne(settings) } }),
      "/oauth/token": { post: tokenRequest },
    },
    components: {
      securitySchemes: { accessToken: { type: "http", scheme: "bearer" } },
      schemas: {
        CreationRequest: creationRequestJsonSchema(),
        CreationResponse: objectOf({
          next: { ...text, format: "uri", description: "Equals `data.billing.submitUrl`." },
          data: { $ref: "#/components/schemas/Payment" },
        }),
        Payment: objectOf(createdPayment, { clientId: { ...text, "x-not-shown": notShown } }),
        Problem: {
          ...objectOf({ status: { type: "integer" }, title: text, detail: text }),
          description: notShown,
        },
        ...(readBack && { StoredPayment: storedPayment }),
      },
      responses: { Error: errorResponse(errorBodies) },
    },
  };
}

function creation({ successStatus }: Readonly<SandboxSettings>): Json {
  return {
    operationId: "createPayment",
    summary: "Creates a payment (interface document, 4.1).",
    security: [{ accessToken: [] }],
    requestBody: { required: true, content: jsonOf("CreationRequest") },
    responses: {
      [successStatus]: {
        description: "The payment was created. Send the customer's browser to `data.billing.submitUrl`.",
        content: jsonOf("CreationResponse"),
      },
      ...errorsOf([400, 401, 404, 413, 500]),
    },
  };
}

function readBackList({ readBackBare }: Readonly<SandboxSettings>): Json {
  const data = { type: "array", items: storedPaymentRef };
  const count = { type: "integer", minimum: 0 };
  const envelope = objectOf({ data, offset: count, limit: count, total: count });
  return {
    operationId: "listPayments",
    summary: "Lists the payments, oldest first.",
    parameters: ["offset", "limit"].map((name) => ({ name, in: "query", schema: count })),
    ...readBackOf("The payments.", readBackBare ? data : envelope, [401]),
  };
}

function readBackOne({ readBackBare }: Readonly<SandboxSettings>): Json {
  const envelope = objectOf({ data: storedPaymentRef });
  return {
    operationId: "readPayment",
    summary: "Returns one payment.",
    parameters: [{ name: "id", in: "path", required: true, schema: text }],
    ...readBackOf("The payment.", readBackBare ? storedPaymentRef : envelope, [401, 404]),
  };
}

function readBackOf(description: string, schema: Json, errors: readonly number[]): Json {
  const responses = { 200: { description, content: contentOf(schema) }, ...errorsOf(errors) };
  return { "x-not-shown": notShown, security: [{ accessToken: [] }], responses };
}

const storedPaymentRef = { $ref: "#/components/schemas/StoredPayment" };

/** The schema of a payment in its present state, which the sandbox returns with `readBack`. */
const storedPayment = objectOf(
  { ...createdPayment, clientId: text },
  {
    billing: objectOf({ submitUrl: { ...text, format: "uri" } }, { providerId: text }),
    source: text,
    submittedAt: dateTime,
    completedAt: dateTime,
  },
);

const tokenError = {
  description: "The request was refused (RFC 6749, 5.2).",
  content: contentOf(objectOf({ error: text, error_description: text })),
};

const tokenRequest: Json = {
  operationId: "requestAccessToken",
  summary: "Issues an access token for client credentials (RFC 6749, 4.4).",
  "x-not-shown": notShown,
  requestBody: {
    required: true,
    content: {
      "application/x-www-form-urlencoded": {
        schema: objectOf(
          { grant_type: { const: "client_credentials" } },
          { client_id: text, client_secret: text },
        ),
      },
    },
  },
  responses: {
    200: {
      description: "The access token, and its lifetime in seconds.",
      content: contentOf(
        objectOf({ access_token: text, token_type: { const: "Bearer" }, expires_in: { type: "number" } }),
      ),
    },
    400: tokenError,
    401: tokenError,
    503: tokenError,
  },
};

function errorResponse(form: SandboxSettings["errorBodies"]): Json {
  const description = `An error. ${notShown}`;
  if (form === "bare") return { description };
  if (form === "html") return { description, content: { "text/html": { schema: text } } };
  return { description, content: jsonOf("Problem") };
}

function errorsOf(statuses: readonly number[]): Json {
  return Object.fromEntries(statuses.map((status) => [status, { $ref: "#/components/responses/Error" }]));
}

function jsonOf(name: string): Json {
  return contentOf({ $ref: `#/components/schemas/${name}` });
}

function contentOf(schema: Json): Json {
  return { "application/json": { schema } };
}

/** Returns the schema of an object, which may also have other fields. */
function objectOf(required: Json, optional: Json = {}): Json {
  return { type: "object", required: Object.keys(required), properties: { ...required, ...optional } };
}

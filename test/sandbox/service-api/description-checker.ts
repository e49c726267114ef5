import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { fullFormats } from "ajv-formats/dist/formats.js";

interface ResponseObject {
  $ref?: string;
  content?: Readonly<Record<string, unknown>>;
}
interface Description {
  paths: Readonly<Record<string, Readonly<Record<string, { responses: Record<string, ResponseObject> }>>>>;
  components: { responses: Readonly<Record<string, ResponseObject>> };
}
interface Answer {
  status: number;
  type: string;
  body: unknown;
  text: string;
}

const openApi = "node_modules/@seriousme/openapi-schema-validator/schemas/v3.1/schema.json";

/** Throws if the description is not OpenAPI 3.1. */
export function checkDescription(description: object): void {
  const ajv = new Ajv2020({ allErrors: true, strict: false, validateFormats: false });
  const validate = ajv.compile(JSON.parse(readFileSync(openApi, "utf8")) as object);
  if (!validate(description)) throw new Error(`This is not OpenAPI 3.1: ${ajv.errorsText(validate.errors)}`);
}

/** Returns a function that lists what an answer has that the description does not say. */
export function checkerOf(description: Description) {
  const ajv = new Ajv2020({ allErrors: true, strict: false, formats: fullFormats });
  ajv.addSchema(closed({ $id: "description", ...description }) as object);
  const problemsOf = (pointer: string, value: unknown): string[] => {
    const validate = ajv.getSchema(`description#${pointer}`)!;
    return validate(value) === true
      ? []
      : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  };
  const place = (path: string, method: string) => `/paths/${escaped(path)}/${method}`;

  const check = (path: string, method: string, { status, type, body, text }: Answer): string[] => {
    const given = description.paths[path]?.[method]?.responses[status];
    if (!given) return [`the answer ${status} is not described`];
    const name = given.$ref?.slice("#/components/responses/".length);
    const response = name === undefined ? given : description.components.responses[name]!;
    const pointer =
      name === undefined ? `${place(path, method)}/responses/${status}` : `/components/responses/${name}`;
    const [described] = Object.keys(response.content ?? {});
    if (described === undefined) return text === "" ? [] : ["a body is not described"];
    if (type !== described) return [`the type ${type} is not described`];
    return problemsOf(`${pointer}/content/${escaped(described)}/schema`, /json/.test(type) ? body : text);
  };
  /** Lists the problems of a request's body. */
  const request = (path: string, method: string) => (body: object) =>
    problemsOf(
      `${place(path, method)}/requestBody/content/application~1json/schema`,
      JSON.parse(JSON.stringify(body)),
    );
  return Object.assign(check, { request });
}

/** Returns the description with closed objects, so that a field which it does not know is a problem. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== "object" || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, closed(inner)]));
  const isObjectSchema = copy["type"] === "object" && "properties" in copy;
  return isObjectSchema ? { additionalProperties: false, ...copy } : copy;
}

function escaped(path: string): string {
  return encodeURIComponent(path.replaceAll("~", "~0").replaceAll("/", "~1"));
}

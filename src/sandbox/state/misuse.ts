import { z } from "zod";
import { TillkitError } from "../../errors/index.js";
import { suggestion } from "../../shared/unknown-names.js";

/** Throws `sandbox_misused`, for a call that does not fit the state of the sandbox. */
export function throwMisuse(message: string): never {
  throw new TillkitError("sandbox_misused", message);
}

/** Returns the parsed value. Throws `sandbox_misused` with `refusal` and every problem of the value. */
export function parseOrThrowMisuse<T>(schema: z.ZodType<T>, value: unknown, refusal: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.join(".")}: ${message}`,
  );
  return throwMisuse(`${refusal} ${problems.join("; ")}.`.replace("?.", "?"));
}

/** Returns the schema of an object. The error for an unknown field suggests the name of a known field. */
export function strictObject<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? issue.keys
            .map((key) => `"${key}" is not known. ${suggestion(key, Object.keys(shape))}`.trim())
            .join(" ")
            .replace(/\.$/, "")
        : undefined,
  });
}

/** The schema of each field of an object, so that the schema and its type have the same fields. */
export type SchemasOf<Value> = { [Name in keyof Value]-?: z.ZodType<Value[Name]> };

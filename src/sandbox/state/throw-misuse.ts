import { type z } from "zod";
import { TillkitError } from "../../errors/index.js";

/** Throws `sandbox_misused`: the call does not fit the state of the sandbox. */
export function throwMisuse(message: string): never {
  throw new TillkitError("sandbox_misused", message);
}

/** Returns the value as the schema reads it. Throws `sandbox_misused` with `refusal` and every problem otherwise. */
export function parseOrThrowMisuse<T>(schema: z.ZodType<T>, value: unknown, refusal: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.join(".")}: ${message}`,
  );
  return throwMisuse(`${refusal} ${problems.join("; ")}.`.replace("?.", "?"));
}

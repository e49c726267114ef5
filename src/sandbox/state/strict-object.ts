import { z } from "zod";
import { suggestion } from "../../shared/unknown-names.js";

/** Returns the schema of an object without other fields. An unknown field is refused with the name that was probably meant. */
export function strictObject<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? issue.keys
            .map((key) => `"${key}" is not known. ${suggestion(key, Object.keys(shape))}`)
            .join(" ")
            .replace(/\.$/, "")
        : undefined,
  });
}

/** The schema of each field of an object, so that the schema and its type have the same fields. */
export type SchemasOf<Value> = { [Name in keyof Value]-?: z.ZodType<Value[Name]> };

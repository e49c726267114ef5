import { readFile } from "node:fs/promises";
import { z } from "zod";
import { TillkitError } from "../../errors/index.js";
import { because } from "../../shared/because.js";
import { type Scenario } from "./scenario.js";
import { scenarioSchema } from "./scenario-schema.js";

/**
 * Reads one or more scenarios from a JSON file, for `createSandbox` or `sandbox.addScenario`.
 * @throws TillkitError `file_unreadable`, or `scenario_file_invalid` with every problem and its field.
 */
export async function readScenarioFile(file: string): Promise<Scenario[]> {
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (cause) {
    throw new TillkitError("file_unreadable", `The scenarios in ${file} cannot be read${because(cause)}`, {
      cause,
    });
  }
  return readScenarios(bytes.toString("utf8").replace(/^\uFEFF/, ""), file);
}

/** Reads scenarios from the JSON text of `file`. Throws `scenario_file_invalid` with every problem. */
export function readScenarios(text: string, file: string): Scenario[] {
  const refuse = (problems: readonly string[]): never => {
    const lines = problems.map((each) => `${file}: ${each}.`.replace(/\?\.$/, "?"));
    throw new TillkitError("scenario_file_invalid", lines.join("\n"));
  };
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (error) {
    return refuse([`this is not JSON: ${(error as Error).message.replace(/\.$/, "")}`]);
  }
  const isList = Array.isArray(content);
  const { data, error } = scenariosSchema.safeParse(isList ? content : [content]);
  if (data) return data;
  return refuse(
    error.issues.map(({ path, message }) => {
      const field = fieldOf(isList ? path : path.slice(1));
      return (field === "" ? message : `${field}: ${message}`).replace(/\.$/, "");
    }),
  );
}

const scenariosSchema = z
  .array(scenarioSchema)
  .min(1, "the list is empty")
  .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, "a name occurs twice");

/** Returns the path of a field as in `[0].webhooks[1].sign`. */
function fieldOf(path: readonly PropertyKey[]): string {
  const steps = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${String(step)}`));
  return steps.join("").replace(/^\./, "");
}

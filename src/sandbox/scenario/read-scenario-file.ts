import { readFile } from "node:fs/promises";
import { TillkitError } from "../../errors/index.js";
import { pathKey, type PathStep, scanJson } from "./scan-json.js";
import { type Scenario, scenarioSchema } from "./scenario.js";
import { because } from "../../shared/because.js";

interface ScenarioProblem {
  path: readonly PropertyKey[];
  message: string;
}

/**
 * Reads one scenario, or a list of them, from a JSON file. Pass them to `createSandbox` or to `sandbox.addScenario`.
 * @throws TillkitError `file_unreadable`, or `scenario_file_invalid` with every problem, its line and its field.
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

/** Reads scenarios from JSON text, which errors call `file`. Throws `scenario_file_invalid` with every problem. */
export function readScenarios(text: string, file: string): Scenario[] {
  const { lines, duplicates, broken } = scanJson(text);
  const refuse = (problems: readonly string[]): never => {
    throw new TillkitError("scenario_file_invalid", problems.map((each) => `${file}:${each}`).join("\n"));
  };
  if (broken) return refuse([`${broken.line}: this is not JSON: ${broken.found} is not expected here.`]);

  const content: unknown = JSON.parse(text);
  const scenarios: unknown[] = Array.isArray(content) ? content : [content];
  const pathTo = (index: number): PathStep[] => (Array.isArray(content) ? [index] : []);
  const problems = [
    ...duplicates.map((path) => ({ path, message: "occurs twice" })),
    ...scenarios.flatMap((each, index) => findProblems(each, pathTo(index))),
    ...findRepeatedNames(scenarios).map((index) => ({
      path: [...pathTo(index), "name"],
      message: "is already used above",
    })),
    ...(scenarios.length === 0 ? [{ path: [], message: "the list is empty" }] : []),
  ];
  if (problems.length === 0) return scenarios.map((each) => scenarioSchema.parse(each));
  return refuse(
    problems
      .map(({ path, message }) => ({
        line: lineOfPath(path, lines),
        message: describeProblem(path, message),
      }))
      .toSorted((a, b) => a.line - b.line)
      .map(({ line, message }) => `${line}: ${message}.`),
  );
}

function findProblems(scenario: unknown, parent: readonly PathStep[]): ScenarioProblem[] {
  return (scenarioSchema.safeParse(scenario).error?.issues ?? []).flatMap((issue): ScenarioProblem[] => {
    const path = [...parent, ...issue.path];
    if (issue.code !== "unrecognized_keys") return [{ path, message: issue.message }];
    return issue.keys.map((key) => ({ path: [...path, key], message: "is not a field of a scenario here" }));
  });
}

/** Returns the indexes of scenarios that have the name of an earlier one. */
function findRepeatedNames(scenarios: readonly unknown[]): number[] {
  const names = scenarios.map((each) =>
    typeof each === "object" && each !== null && "name" in each ? each.name : undefined,
  );
  return names.flatMap((name, index) => (name !== undefined && names.indexOf(name) < index ? [index] : []));
}

/** Returns the line of a value. A missing value has the line of the object that should contain it. */
function lineOfPath(path: readonly PropertyKey[], lines: ReadonlyMap<string, number>): number {
  for (let length = path.length; length > 0; length -= 1) {
    const line = lines.get(pathKey(path.slice(0, length)));
    if (line !== undefined) return line;
  }
  return 1;
}

/** Returns the message with its field, as in `[0].webhooks[1].sign: …`. */
function describeProblem(path: readonly PropertyKey[], message: string): string {
  const field = path
    .map((step) => (typeof step === "number" ? `[${step}]` : `.${String(step)}`))
    .join("")
    .replace(/^\./, "");
  return field === "" ? message : `${field}: ${message}`;
}

import { readFile } from "node:fs/promises";
import { TillkitError } from "../../errors/index.js";
import { pathKey, type PathStep, scanJson } from "./scan-json.js";
import { type Scenario, scenarioSchema } from "./scenario.js";

interface Problem {
  path: readonly PropertyKey[];
  message: string;
}

/**
 * Reads scenarios from a JSON file: one, or a list of them. They go into `createSandbox({ scenarios })`, or one by one
 * into `sandbox.addScenario`.
 *
 * @throws TillkitError `file_unreadable`, or `scenario_file_invalid` with every problem, its line and its field.
 */
export async function readScenarioFile(file: string): Promise<Scenario[]> {
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (cause) {
    throw new TillkitError("file_unreadable", `The scenarios in ${file} cannot be read.`, { cause });
  }
  return readScenarios(bytes.toString("utf8").replace(/^\uFEFF/, ""), file);
}

/**
 * Reads scenarios from JSON text: one, or a list of them. What is wrong is told with the name that the text is given.
 *
 * @throws TillkitError `scenario_file_invalid` with every problem, its line and its field.
 */
export function readScenarios(text: string, file: string): Scenario[] {
  const { lines, doubled, broken } = scanJson(text);
  const refuse = (said: readonly string[]): never => {
    throw new TillkitError("scenario_file_invalid", said.map((each) => `${file}:${each}`).join("\n"));
  };
  if (broken)
    return refuse([`${broken.line}: this is not JSON: something else was expected than ${broken.found}.`]);

  const content: unknown = JSON.parse(text);
  const scenarios: unknown[] = Array.isArray(content) ? content : [content];
  const within = (index: number): PathStep[] => (Array.isArray(content) ? [index] : []);
  const problems = [
    ...doubled.map((path) => ({ path, message: "stands twice" })),
    ...scenarios.flatMap((each, index) => problemsOf(each, within(index))),
    ...namedTwice(scenarios).map((index) => ({
      path: [...within(index), "name"],
      message: "is taken above",
    })),
    ...(scenarios.length === 0 ? [{ path: [], message: "the list is empty" }] : []),
  ];
  if (problems.length === 0) return scenarios.map((each) => scenarioSchema.parse(each));
  return refuse(
    problems
      .map(({ path, message }) => ({ line: lineOf(path, lines), said: worded(path, message) }))
      .toSorted((a, b) => a.line - b.line)
      .map(({ line, said }) => `${line}: ${said}.`),
  );
}

function problemsOf(scenario: unknown, place: readonly PathStep[]): Problem[] {
  return (scenarioSchema.safeParse(scenario).error?.issues ?? []).flatMap((issue): Problem[] => {
    const path = [...place, ...issue.path];
    if (issue.code !== "unrecognized_keys") return [{ path, message: issue.message }];
    return issue.keys.map((key) => ({ path: [...path, key], message: "is no field of a scenario here" }));
  });
}

/** The places of scenarios that have the name of an earlier one. */
function namedTwice(scenarios: readonly unknown[]): number[] {
  const names = scenarios.map((each) =>
    typeof each === "object" && each !== null && "name" in each ? each.name : undefined,
  );
  return names.flatMap((name, index) => (name !== undefined && names.indexOf(name) < index ? [index] : []));
}

/** What is missing has no line of its own; it belongs to what it is missing from. */
function lineOf(path: readonly PropertyKey[], lines: ReadonlyMap<string, number>): number {
  for (let length = path.length; length > 0; length -= 1) {
    const line = lines.get(pathKey(path.slice(0, length)));
    if (line !== undefined) return line;
  }
  return 1;
}

/** `[0].webhooks[1].sign: …` */
function worded(path: readonly PropertyKey[], message: string): string {
  const field = path
    .map((step) => (typeof step === "number" ? `[${step}]` : `.${String(step)}`))
    .join("")
    .replace(/^\./, "");
  return field === "" ? message : `${field}: ${message}`;
}

import path from "node:path";
import { readScenarioFile, type Scenario } from "../../sandbox/index.js";
import { operandError } from "../terminal/arguments.js";
import { type Context } from "../terminal/command.js";

/**
 * Returns a scenario's name as it was given, or the scenario of a JSON file: `week.json`, or `week.json#late`. Throws
 * `file_unreadable`, `scenario_file_invalid` or `command_operand_invalid`.
 */
export async function readScenarioOption(given: string, { cwd }: Context): Promise<string | Scenario> {
  const [, file, name] = /^(.+\.json)(?:#(.*))?$/.exec(given) ?? [];
  if (file === undefined) return given;
  const scenarios = await readScenarioFile(path.resolve(cwd, file));
  if (name === undefined && scenarios.length === 1) return scenarios[0]!;
  const chosen = scenarios.find((scenario) => scenario.name === name);
  if (chosen) return chosen;
  const names = scenarios.map((scenario) => `${file}#${scenario.name}`);
  throw operandError(`Choose one of the file's scenarios: ${names.join(", ")}.`);
}

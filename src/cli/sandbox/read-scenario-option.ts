import path from "node:path";
import { TillkitError } from "../../errors/index.js";
import { readScenarioFile, type Scenario } from "../../sandbox/index.js";
import { type Context } from "../terminal/command.js";

/**
 * A scenario's name as it is, or the scenario of a JSON file: `week.json`, or `week.json#late` where the file has
 * several.
 *
 * @throws TillkitError `file_unreadable`, `scenario_file_invalid` or `command_operand_invalid`
 */
export async function readScenarioOption(given: string, { cwd }: Context): Promise<string | Scenario> {
  const [, file, name] = /^(.+\.json)(?:#(.*))?$/.exec(given) ?? [];
  if (file === undefined) return given;
  const scenarios = await readScenarioFile(path.resolve(cwd, file));
  const chosen =
    name === undefined && scenarios.length === 1
      ? scenarios[0]
      : scenarios.find((scenario) => scenario.name === name);
  if (chosen) return chosen;
  const names = scenarios.map((scenario) => `${file}#${scenario.name}`);
  throw new TillkitError(
    "command_operand_invalid",
    `Choose one of the file's scenarios: ${names.join(", ")}.`,
  );
}

import { loadCommand } from "../../../src/cli/commands.js";
import { runCli } from "./run-cli.js";

/** Options that every action of a command accepts. */
const commonNames = ["store", "table-prefix", "env-file", "json", "help"];

/**
 * Returns the names of the options that an action of a command accepts, in alphabetical order. Names no
 * database, so the action never starts.
 */
export async function acceptedOptions(
  name: Parameters<typeof loadCommand>[0],
  action: readonly string[],
): Promise<string[]> {
  const accepted: string[] = [];
  for (const option of (await loadCommand(name)).options) {
    if (commonNames.includes(option.name)) continue;
    const value = option.value === undefined ? [] : [option.choices?.[0] ?? "1"];
    const { code, stderr } = await runCli([name, ...action, `--${option.name}`, ...value]);
    expect(code).toBe(2);
    if (!stderr.includes(`--${option.name} cannot be used with ${action[0]}.`)) {
      expect(stderr).toContain("No database is named");
      accepted.push(option.name);
    }
  }
  return accepted.toSorted();
}

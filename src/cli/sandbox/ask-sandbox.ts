import path from "node:path";
import { TillkitError } from "../../errors/index.js";
import { readScenarioFile, type Scenario } from "../../sandbox/index.js";
import { operandError } from "../terminal/arguments.js";
import { type Arguments, type Context, type Variables } from "../terminal/command.js";
import { because } from "../../shared/because.js";

const defaultAddress = "http://localhost:4000";

export const sandboxAddressOption = {
  "--sandbox <url>": `The address of a running sandbox. Default: TILLKIT_SANDBOX_URL, or ${defaultAddress}.`,
};

/** Returns the address of the sandbox that a command talks to. */
export function sandboxAddress(args: Arguments, env: Variables): string {
  return (args.get("sandbox") ?? env["TILLKIT_SANDBOX_URL"] ?? defaultAddress).replace(/(?<!\/)\/+$/, "");
}

/** Sends a request to the control API of a running sandbox. Throws `sandbox_unreachable` or `sandbox_misused`. */
export async function askSandbox(
  address: string,
  path: string,
  request: Pick<RequestInit, "method" | "body" | "signal"> = {},
): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(`${address}/sandbox/api${path}`, {
      ...request,
      headers: { "Content-Type": "application/json" },
    });
  } catch (cause) {
    request.signal?.throwIfAborted();
    throw new TillkitError("sandbox_unreachable", `No sandbox answers${because(cause, address)}`, { cause });
  }
  if (response.ok) return response;
  const problem = (await response.json().catch(() => ({}))) as { detail?: unknown };
  const detail = typeof problem.detail === "string" ? problem.detail : `It answered ${response.status}.`;
  throw new TillkitError("sandbox_misused", detail);
}

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

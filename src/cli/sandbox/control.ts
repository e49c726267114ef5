import { TillkitError } from "../../errors/index.js";
import { type OptionSpec, type Arguments } from "../terminal/command.js";

const usualAddress = "http://localhost:4000";

export const sandboxAddressOption: OptionSpec = {
  name: "sandbox",
  value: "url",
  summary: `The address of a running sandbox. Default: TILLKIT_SANDBOX_URL, or ${usualAddress}.`,
};

/** The address of the sandbox that a command speaks to. */
export function sandboxAddress(args: Arguments, env: Readonly<Record<string, string | undefined>>): string {
  return (args.get("sandbox") ?? env["TILLKIT_SANDBOX_URL"] ?? usualAddress).replace(/\/+$/, "");
}

/**
 * Asks a running sandbox for something.
 *
 * @throws TillkitError `sandbox_unreachable`, or `sandbox_misused` with the sandbox's own words
 */
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
    throw new TillkitError("sandbox_unreachable", `No sandbox answers at ${address}.`, { cause });
  }
  if (response.ok) return response;
  const said = (await response.json().catch(() => ({}))) as { detail?: unknown };
  const detail = typeof said.detail === "string" ? said.detail : `It answered ${response.status}.`;
  throw new TillkitError("sandbox_misused", detail);
}

import { createInterface } from "node:readline";
import { type Arguments, type InputContext } from "./command.js";

/**
 * Reads the answer yes or no from standard input. Returns `false` with `--json`, or if the input ends without
 * a line.
 */
export async function confirms(
  question: string,
  args: Arguments,
  { stdin, output }: InputContext,
): Promise<boolean> {
  if (args.has("json")) return false;
  if ((stdin as { isTTY?: boolean }).isTTY) output.print(`${question} y: yes, n: no`);
  for await (const line of createInterface({ input: stdin })) return /^y(es)?$/i.test(line.trim());
  return false;
}

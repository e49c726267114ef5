import { TillkitError } from "../../errors/index.js";

/** A request as a proxy, a tunnel or `nc` wrote it down. */
export interface CapturedRequest {
  /** Names in lower case. */
  headers: readonly (readonly [name: string, value: string])[];
  rawBody: Buffer;
}

/**
 * Takes a written-down request apart: a request line perhaps, headers, an empty line, and the body.
 *
 * @throws TillkitError `command_operand_invalid`
 */
export function readCapturedRequest(bytes: Buffer): CapturedRequest {
  const [at, length] = emptyLine(bytes);
  const lines = bytes.subarray(0, at).toString("latin1").split(/\r?\n/);
  const isRequestLine = (line: string) => /^[A-Z]+ \S+( HTTP\/[\d.]+)?$/.test(line);
  const headers = lines
    .filter((line) => line !== "" && !isRequestLine(line))
    .map((line) => {
      const [, name, value] = /^([^\s:]+):\s*(.*?)\s*$/.exec(line) ?? [];
      if (name === undefined || value === undefined) throw unreadable("a line before the body is no header");
      return [name.toLowerCase(), value] as const;
    });
  return { headers, rawBody: bytes.subarray(at + length) };
}

function emptyLine(bytes: Buffer): [at: number, length: number] {
  const found = (["\r\n\r\n", "\n\n"] as const)
    .map((ending): [number, number] => [bytes.indexOf(ending), ending.length])
    .filter(([at]) => at >= 0)
    .toSorted(([a], [b]) => a - b);
  if (found[0] === undefined) throw unreadable("no empty line stands between headers and body");
  return found[0];
}

function unreadable(because: string): TillkitError {
  return new TillkitError(
    "command_operand_invalid",
    `With --request the file must be a whole request, but ${because}.`,
  );
}

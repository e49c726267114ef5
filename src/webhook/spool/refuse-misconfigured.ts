import { ConfigurationError, type ConfigurationProblem } from "../../errors/index.js";

/** The longest that a timer can wait. */
const maxMs = 2 ** 31 - 1;

interface Given {
  directory: string;
  maxBytes: number;
  heartbeatMs: number;
  deadAfterMs: number;
}

/** Throws `option_invalid`: a bound that is no number would bound nothing. */
export function refuseMisconfigured({ directory, maxBytes, heartbeatMs, deadAfterMs }: Given): void {
  const problems: ConfigurationProblem[] = [];
  const expect = (holds: boolean, option: keyof Given, message: string): void => {
    if (!holds) problems.push({ code: "option_invalid", option: `spool.${option}`, message });
  };
  expect(directory.trim() !== "", "directory", "must name a directory.");
  expect(
    isCount(maxBytes, Number.MAX_SAFE_INTEGER),
    "maxBytes",
    "must be a whole number of bytes above zero.",
  );
  expect(isCount(heartbeatMs, maxMs), "heartbeatMs", "must be a whole number of milliseconds above zero.");
  expect(
    isCount(deadAfterMs, maxMs) && !(deadAfterMs < 2 * heartbeatMs),
    "deadAfterMs",
    "must be a whole number of milliseconds, at least twice `heartbeatMs`.",
  );
  if (problems.length > 0) throw new ConfigurationError(problems);
}

function isCount(value: number, most: number): boolean {
  return Number.isInteger(value) && value > 0 && value <= most;
}

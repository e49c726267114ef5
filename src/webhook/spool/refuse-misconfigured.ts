import { ConfigurationError, type ConfigurationProblem } from "../../errors/index.js";
import { isWholeNumber, maxTimerMs } from "../../shared/whole-number.js";

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
    isWholeNumber(maxBytes, 1, Number.MAX_SAFE_INTEGER),
    "maxBytes",
    "must be a whole number of bytes above zero.",
  );
  expect(
    isWholeNumber(heartbeatMs, 1, maxTimerMs),
    "heartbeatMs",
    "must be a whole number of milliseconds above zero.",
  );
  expect(
    isWholeNumber(deadAfterMs, 1, maxTimerMs) && !(deadAfterMs < 2 * heartbeatMs),
    "deadAfterMs",
    "must be a whole number of milliseconds, at least twice `heartbeatMs`.",
  );
  if (problems.length > 0) throw new ConfigurationError(problems);
}

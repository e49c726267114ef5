import { type ConfigurationProblem, type ErrorCode } from "../../../src/errors/index.js";

/** Returns the codes of all problems that a construction reports, or an empty list if it succeeds. */
export function problemCodes(construct: () => unknown): ErrorCode[] {
  return problemsOf(construct).map(([, code]) => code);
}

/** Returns the option and the code of each problem that a construction reports, or an empty list if it succeeds. */
export function problemsOf(construct: () => unknown): [option: string, code: ErrorCode][] {
  const error = thrownBy(construct);
  return isRecord(error) && Array.isArray(error["problems"])
    ? error["problems"].map(({ option, code }: ConfigurationProblem) => [option, code])
    : [];
}

/** Returns the message of the thrown error, or an empty string. */
export function messageOf(construct: () => unknown): string {
  const error = thrownBy(construct);
  return error instanceof Error ? error.message : "";
}

/** Returns the code of the thrown error, or `undefined`. */
export function codeOf(run: () => unknown): unknown {
  const error = thrownBy(run);
  return isRecord(error) ? error["code"] : undefined;
}

function thrownBy(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

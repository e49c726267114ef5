import { type ErrorCode } from "../../../src/errors/index.js";

/** Returns the codes of all problems that a construction reports, or an empty list if it succeeds. */
export function problemCodes(construct: () => unknown): ErrorCode[] {
  const error = thrownBy(construct);
  return isRecord(error) && Array.isArray(error["problems"])
    ? error["problems"].map((problem: { code: ErrorCode }) => problem.code)
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

import { type ErrorCode } from "../../../src/errors/index.js";

/** The codes of every problem that a construction reports; empty when it succeeds. */
export function problemCodes(construct: () => unknown): ErrorCode[] {
  const error = thrownBy(construct);
  return isRecord(error) && Array.isArray(error["problems"])
    ? error["problems"].map((problem: { code: ErrorCode }) => problem.code)
    : [];
}

/** The message of what is thrown, or an empty text. */
export function messageOf(construct: () => unknown): string {
  const error = thrownBy(construct);
  return error instanceof Error ? error.message : "";
}

/** The code of what is thrown, or nothing. */
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

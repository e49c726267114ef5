import { errorFixes, type ErrorCode } from "./codes.js";
import { withoutSecrets, withoutSecretsIn } from "./conceal-secrets.js";

/**
 * The base of every error that tillkit throws. Compare errors by {@link TillkitError.code}, not with
 * `instanceof`: an application may hold the ESM and the CommonJS copy of the package at once.
 */
export class TillkitError extends Error {
  override readonly name: string = "TillkitError";
  /** Stable, machine-readable code. */
  readonly code: ErrorCode;
  /** What to do about it, in one sentence. */
  readonly fix: string;

  constructor(code: ErrorCode, message: string, options: { cause?: unknown; fix?: string } = {}) {
    super(
      withoutSecrets(message),
      "cause" in options ? { cause: withoutSecretsIn(options.cause) } : undefined,
    );
    this.code = code;
    this.fix = options.fix ?? errorFixes[code];
  }
}

/** Whether `error` carries this code, whichever copy of the package threw it. */
export function hasCode(error: unknown, code: ErrorCode): error is TillkitError {
  return error instanceof Error && "code" in error && error.code === code;
}

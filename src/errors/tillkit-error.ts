import { errorFixes, type ErrorCode, type RejectionCode, rejectionStatus } from "./codes.js";
import { withoutSecrets, withoutSecretsIn } from "./conceal-secrets.js";

/**
 * The base class of every error that tillkit throws. Compare errors by {@link TillkitError.code} and not with
 * `instanceof`, because an application may load both the ESM and the CommonJS copy of the package.
 */
export class TillkitError extends Error {
  override readonly name: string = "TillkitError";
  /** The stable, machine-readable code. */
  readonly code: ErrorCode;
  /** The fix of the error, as a text for people. */
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

/** Returns whether `error` has this code. Any copy of the package may have thrown the error. */
export function hasCode(error: unknown, code: ErrorCode): error is TillkitError {
  return error instanceof Error && "code" in error && error.code === code;
}

/** Returns whether `error` has a code of tillkit. Any copy of the package may have thrown the error. */
export function isTillkitError(error: unknown): error is TillkitError {
  return error instanceof Error && "code" in error && Object.hasOwn(errorFixes, String(error.code));
}

/** One thing that is wrong with the configuration. */
export interface ConfigurationProblem {
  /** The stable code of this problem. */
  code: ErrorCode;
  /** The path of the option, for example `signature.secret`. */
  option: string;
  /** The problem, the expected value, and the place to set it. Never contains a secret. */
  message: string;
}

/** The error for a configuration that cannot be used. `problems` has every problem that was found. */
export class ConfigurationError extends TillkitError {
  override readonly name = "ConfigurationError";
  readonly problems: readonly ConfigurationProblem[];

  constructor(problems: readonly ConfigurationProblem[]) {
    const lines = problems.map(({ option, message }) => `  - ${option}: ${message}`);
    // If there is only one problem, the error has the problem's code, so that callers do not have to read the
    // list.
    super(
      problems.length === 1 ? problems[0]!.code : "configuration_invalid",
      `tillkit cannot start with this configuration:\n${lines.join("\n")}`,
    );
    this.problems = problems;
  }
}

/** The error for a refused webhook. With `record_unavailable`, the webhook may still be recorded. */
export class WebhookRejectedError extends TillkitError {
  override readonly name = "WebhookRejectedError";
  declare readonly code: RejectionCode;
  /** The HTTP status of the response. */
  readonly status: number;

  constructor(code: RejectionCode, message: string, options: { cause?: unknown } = {}) {
    super(code, message, options);
    this.status = rejectionStatus[code];
  }
}

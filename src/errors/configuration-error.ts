import { type ErrorCode } from "./codes.js";
import { TillkitError } from "./tillkit-error.js";

/** One thing that is wrong with the configuration. */
export interface ConfigurationProblem {
  /** Stable code of this one problem. */
  code: ErrorCode;
  /** The option, as a path: `signature.secret`. */
  option: string;
  /** What is wrong, what was expected, and where to set it. Never contains a secret. */
  message: string;
}

/** The configuration cannot be used. Thrown at construction, with every problem at once. */
export class ConfigurationError extends TillkitError {
  override readonly name = "ConfigurationError";
  readonly problems: readonly ConfigurationProblem[];

  constructor(problems: readonly ConfigurationProblem[]) {
    const lines = problems.map(({ option, message }) => `  - ${option}: ${message}`);
    // A single problem lends the error its own code, so that it can be told apart without reading the list.
    super(
      problems.length === 1 ? problems[0]!.code : "configuration_invalid",
      `tillkit cannot start with this configuration:\n${lines.join("\n")}`,
    );
    this.problems = problems;
  }
}

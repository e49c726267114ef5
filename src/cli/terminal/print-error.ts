import { type ConfigurationProblem, TillkitError } from "../../errors/index.js";
import { type ExitCode } from "./exit-code.js";
import { type Output } from "./output.js";

/** Tells what stopped a command, and says which code to exit with. */
export function tellError(error: unknown, output: Output): ExitCode {
  const { code, message, fix, problems, cause } = toldOf(error);
  output.remark(`${output.paint("red", "error")} ${code}: ${message}`);
  if (cause !== undefined) output.remark(`  cause: ${cause}`);
  if (fix !== undefined) output.remark(`  fix: ${fix}`);
  output.answer({ error: { code, message, ...(fix && { fix }), ...(problems && { problems }) } });
  return isMisuse(code, problems) ? 2 : 3;
}

interface Told {
  code: string;
  message: string;
  fix?: string;
  problems?: readonly ConfigurationProblem[];
  cause?: string;
}

function toldOf(error: unknown): Told {
  // By its fields: an error may come from the other copy of the package.
  const { code, fix, problems, cause } = error as Partial<Record<string, unknown>>;
  const message = error instanceof Error ? error.message : String(error);
  return {
    code: typeof code === "string" ? code : "unexpected",
    message,
    ...(typeof fix === "string" && { fix }),
    ...(Array.isArray(problems) && { problems: problems as ConfigurationProblem[] }),
    // A driver's own words, without what else it hangs on its errors. Several addresses tried give an empty message.
    ...(error instanceof TillkitError && cause instanceof Error && { cause: wordsOf(cause) }),
  };
}

function wordsOf(cause: Error): string {
  const inner = "errors" in cause && Array.isArray(cause.errors) ? (cause.errors as unknown[])[0] : undefined;
  return cause.message || (inner instanceof Error ? inner.message : cause.name);
}

/** Codes of the kit that mean, on the command line, that an option is missing or wrong. */
const misuses = ["option_invalid", "statement_columns_unclear", "statement_period_missing"];

/** What the command line was given was wrong, not what it met. */
function isMisuse(code: string, problems: readonly ConfigurationProblem[] | undefined): boolean {
  return problems !== undefined || /^(command|secret)_/.test(code) || misuses.includes(code);
}

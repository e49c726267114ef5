import { type Output, wrap } from "./output.js";

/** The severity of a finding. After an `error`, the command ends with exit code 1. */
export type Severity = "error" | "warning" | "note";

/** A finding of a command, with its fix. */
export interface Finding {
  /** The code, which never changes. */
  code: string;
  severity: Severity;
  /** A description of what was seen, without any secret. */
  message: string;
  /** The fix, in one or two sentences. */
  fix: string;
}

const colours = { error: "red", warning: "yellow", note: "cyan" } as const;
const severities: readonly Severity[] = ["error", "warning", "note"];

/** Returns the findings with the errors first. Findings of one severity keep their order. */
export function bySeverity(findings: readonly Finding[]): Finding[] {
  return findings.toSorted((a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity));
}

/** Prints findings for people. */
export function printFindings(findings: readonly Finding[], output: Output): void {
  for (const { code, severity, message, fix } of bySeverity(findings)) {
    output.print();
    output.print(`${output.paint(colours[severity], severity)} ${output.paint("bold", code)}`);
    output.print(`  ${wrap(message, output.width - 2, "  ")}`);
    output.print(`  ${output.paint("dim", "fix:")} ${wrap(fix, output.width - 7, "       ")}`);
  }
}

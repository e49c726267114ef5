import { type Output, wrap } from "./output.js";

/** How serious a finding is. An `error` makes the command end with 1. */
export type Severity = "error" | "warning" | "note";

/** One thing that a command found, with what to do about it. */
export interface Finding {
  /** Stable code. */
  code: string;
  severity: Severity;
  /** What was seen. Never contains a secret. */
  message: string;
  /** What to do, in one sentence or two. */
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

import { type Output, wrap } from "./output.js";

/** How much a finding matters: an `error` makes the command end with 1. */
export type Severity = "error" | "warning" | "note";

/** One thing that a command found, with what to do about it. */
export interface Finding {
  /** Stable code. */
  code: string;
  severity: Severity;
  /** What was seen, in this very case. Never holds a secret. */
  message: string;
  /** What to do, in one sentence or two. */
  fix: string;
}

const colours = { error: "red", warning: "yellow", note: "cyan" } as const;
const ranks: Readonly<Record<Severity, number>> = { error: 0, warning: 1, note: 2 };

/** The gravest first; among equals, the order in which they were found. */
export function bySeverity(findings: readonly Finding[]): Finding[] {
  return findings.toSorted((a, b) => ranks[a.severity] - ranks[b.severity]);
}

/** Shows findings to people. */
export function sayFindings(findings: readonly Finding[], output: Output): void {
  for (const { code, severity, message, fix } of bySeverity(findings)) {
    output.say();
    output.say(`${output.paint(colours[severity], severity)} ${output.paint("bold", code)}`);
    output.say(`  ${wrap(message, output.width - 2, "  ")}`);
    output.say(`  ${output.paint("dim", "fix:")} ${wrap(fix, output.width - 7, "       ")}`);
  }
}

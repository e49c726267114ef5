import { type StatementReport } from "./report.js";

/** Everything as one JSON document, a finding to a line: `{ "findings": [ … ], "summary": { … } }`. */
export function jsonReport(): StatementReport {
  let before = '{"findings":[\n';
  return {
    add: (finding) => {
      const text = before + JSON.stringify(finding);
      before = ",\n";
      return text;
    },
    end: (summary) => `${before === ",\n" ? "\n" : before}],\n"summary":${JSON.stringify(summary)}}\n`,
  };
}

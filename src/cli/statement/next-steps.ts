import { type StatementFinding } from "../../statement/index.js";
import { type Arguments } from "../terminal/command.js";
import { byPerson, commandLine } from "../terminal/command-line.js";
import { oneLine, type Output, wrap } from "../terminal/output.js";

/** A finding, with the command that a person may need next. */
export type AdvisedFinding = StatementFinding & { next?: string };

/** Returns the finding with the command that settles it, or that shows the payment. */
export function withNextStep(finding: StatementFinding, document: string, args: Arguments): AdvisedFinding {
  const given = nextCommand(finding, finding.line === undefined ? document : `${document}:${finding.line}`);
  return given ? { ...finding, next: commandLine(given, args) } : finding;
}

function nextCommand(finding: StatementFinding, document: string): string[] | undefined {
  const { kind, clientId, serviceId, providerId, statement, key, other } = finding;
  if (kind === "missing_here" && other === undefined) {
    const { value = "<amount>", currency = "<currency>" } = statement ?? {};
    const order = ["--reference", "<order>", "--amount", value, "--currency", currency];
    const service = serviceId === undefined ? [] : ["--service-id", serviceId];
    return ["payments", "adopt", clientId ?? "<clientId>", ...order, ...service, ...byPerson];
  }
  const evidence = ["--evidence", "statement", "--document", document];
  if (kind === "unpaid_here" && clientId !== undefined) {
    const ids = [
      ...(serviceId === undefined ? [] : ["--service-id", serviceId]),
      ...(providerId === undefined ? [] : ["--provider-id", providerId]),
    ];
    const amount = ["--value", statement!.value, "--currency", statement!.currency];
    return ["resolve", "accept", "--client-id", clientId, ...evidence, ...amount, ...ids, ...byPerson];
  }
  if (clientId === undefined) return undefined;
  const refund = ["payments", "refund", clientId];
  if (kind === "refund_missing_here" && statement && key !== undefined)
    return [...refund, "--amount", statement.value, "--key", key, ...evidence, ...byPerson];
  if (kind === "paid_twice") return [...refund, ...byPerson];
  return ["payments", "show", other ?? clientId];
}

/** Prints findings, each with its next command, which is never wrapped: people copy it. */
export function printFindingSteps(found: readonly AdvisedFinding[], count: number, output: Output): void {
  for (const { kind, line, reference, clientId, statement, stored, problem, next } of found) {
    const sides = [
      statement && `statement ${statement.value} ${statement.currency}`,
      stored && `stored ${stored.value} ${stored.currency}, ${stored.state}`,
    ].filter(Boolean);
    const about = [reference && `order ${reference}`, clientId, ...sides, problem?.message].filter(Boolean);
    const where = line === undefined ? "" : `line ${line}: `;
    output.print(`\n${wrap(oneLine(`${where}${kind}: ${about.join("; ")}`), output.width)}`);
    if (next !== undefined) output.print(`  ${next}`);
  }
  if (count > found.length)
    output.print(`\n… and ${count - found.length} more: --report differences.csv has all of them.`);
}

import { type Candidate, type StatementFinding, type StatementSummary } from "../../statement/index.js";
import { type Arguments } from "../terminal/command.js";
import { byPerson, commandLine } from "../terminal/command-line.js";
import { oneLine, type Output, wrap } from "../terminal/output.js";
import { grouped } from "./print-summary.js";

/** A finding with the next command for a person, and with a next command for each candidate. */
export type AdvisedFinding = Omit<StatementFinding, "candidates"> & {
  next?: string | undefined;
  candidates?: (Candidate & { next: string | undefined })[] | undefined;
};

/** The maximum numbers of printed findings, and of printed findings about a payment without a row. */
const maxListed = 20;
const maxMissing = 3;

/**
 * The printed findings. Findings that a command settles come first, and findings whose payment has no row
 * come last.
 */
export class ListedFindings {
  readonly #settled: AdvisedFinding[] = [];
  readonly #others: AdvisedFinding[] = [];
  readonly #missing: AdvisedFinding[] = [];

  add(finding: AdvisedFinding): void {
    const isMissing = ["missing_there", "at_edge", "accepted_here"].includes(finding.kind);
    const commands = [finding, ...(finding.candidates ?? [])].flatMap(({ next }) => next ?? []);
    const isSettled = commands.some((next) => !next.includes("payments show "));
    const list = isMissing ? this.#missing : isSettled ? this.#settled : this.#others;
    if (list.length < (isMissing ? maxMissing : maxListed)) list.push(finding);
  }

  list(): AdvisedFinding[] {
    return [...this.#settled, ...this.#others, ...this.#missing].slice(0, maxListed);
  }
}

/** Returns the finding with the command that settles it, or that shows the payment. */
export function withNextStep(finding: StatementFinding, document: string, args: Arguments): AdvisedFinding {
  const row = finding.line === undefined ? document : `${document}:${finding.line}`;
  const next = (one: StatementFinding): string | undefined => {
    const given = nextCommand(one, row);
    return given && commandLine(given, args);
  };
  const candidates = finding.candidates?.map((one) => {
    const kind = one.state === "completed" ? finding.kind : "unpaid_here";
    return { ...one, next: next({ ...finding, ...one, kind }) };
  });
  return { ...finding, next: next(finding), candidates };
}

function nextCommand(finding: StatementFinding, document: string): string[] | undefined {
  const { kind, clientId, serviceId, providerId, statement, stored, key, other } = finding;
  if (kind === "missing_here" && other === undefined) {
    const { value = "<amount>", currency = "<code>" } = statement ?? {};
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
  const isUnknown = kind === "bad_row" && finding.reference === undefined;
  if (clientId === undefined || isUnknown) return undefined;
  const refund = ["payments", "refund", clientId];
  // A refund has the currency of its payment, so a row in another currency gets no refund command.
  const isSame = statement?.currency === stored?.currency;
  if (kind === "refund_missing_here" && statement && isSame && key !== undefined)
    return [...refund, "--amount", statement.value, "--key", key, ...evidence, ...byPerson];
  if (kind === "paid_twice") return [...refund, "--key", "<transfer>", ...byPerson];
  return ["payments", "show", other ?? clientId];
}

/** The advice for findings that no command settles. */
const adviceFor: Partial<Record<StatementFinding["kind"], string>> = {
  fee_differs: "Ask the service why the net amount is not the gross amount minus the fee.",
  amount_differs: "Ask the service which amount the customer paid.",
  missing_there: "Ask the service why this payment is not on the statement.",
};

const toName = "write the payment's clientId into the row for the next comparison.";

function adviceOf({ kind, candidates = [], statement }: AdvisedFinding): string | undefined {
  if (kind === "unpaid_there")
    return `Ask the service. If the status ${JSON.stringify(statement?.status)} means paid, compare again with --paid-status.`;
  if (kind !== "unmatched_row") return adviceFor[kind];
  // Without a candidate, no stored payment fits the row, so only the service can name the payment.
  return candidates.length === 0
    ? `Ask the service which payment this is. If it is one of this shop, ${toName}`
    : `If it is one of these payments, ${toName} Otherwise, ask the service.`;
}

/** Prints findings with their next commands. Commands are never wrapped, so that people can copy them. */
export function printFindingSteps(
  found: readonly AdvisedFinding[],
  counts: StatementSummary["counts"],
  output: Output,
): void {
  for (const finding of found) {
    const { kind, line, reference, clientId, providerId, statement, stored, problem, next } = finding;
    const { candidates = [], recordedKey, fee, net, difference, other } = finding;
    // The finding has the amount of a refund without its minus sign, so the sign is added here.
    const sign = kind === "refund_missing_here" ? "-" : "";
    const status = kind === "unpaid_there" && statement?.status ? `, ${statement.status}` : "";
    const time = statement?.time ?? stored?.completedAt;
    const sides = [
      statement && `statement ${sign}${statement.value} ${statement.currency}${status}`,
      stored && `stored ${stored.value} ${stored.currency}, ${stored.state}`,
      fee !== undefined && `fee ${fee}, net ${net}`,
      difference !== undefined && `difference ${difference}`,
      kind === "paid_twice" && `the first is ${other}`,
      kind === "id_differs" && `the other is ${other}`,
    ].filter(Boolean);
    const named = [reference && `order ${reference}`, clientId, providerId && `number ${providerId}`, time];
    const about = [...named, ...sides, problem?.message].filter(Boolean);
    const where = line === undefined ? "" : `line ${line}: `;
    output.print(`\n${wrap(oneLine(`${where}${kind}: ${about.join("; ")}`), output.width)}`);
    if (next !== undefined) output.print(`  ${next}`);
    for (const one of candidates)
      output.print(`  ${oneLine(`order ${one.reference}, ${one.state}`)}\n  ${one.next}`);
    if (recordedKey !== undefined)
      output.print(
        `  A refund of this amount is recorded with the key ${recordedKey}. If it is another refund, record this one with a --key of its own.`,
      );
    const advice = adviceOf(finding);
    if (advice !== undefined) output.print(`  ${advice}`);
  }
  const left = Object.entries(counts).flatMap(([kind, count]) => {
    const more = count - found.filter((finding) => finding.kind === kind).length;
    return more > 0 ? `${grouped(more)} ${kind}` : [];
  });
  if (left.length > 0)
    output.print(`\n… and ${left.join(", ")} more. For a complete list, add --report differences.csv.`);
}

import { reconcile, type Decision, type Situation } from "../../../src/webhook/reconciliation/reconcile.js";
import { type PaymentReport } from "../../../src/model/payment-report.js";
import { type Payment } from "tillkit";
import { reportOf } from "../../support/reports.js";
import { pendingPayment } from "../../support/webhooks.js";

const now = "2026-11-20T10:00:06.000Z";

const { serviceId: _, status: __, ...unbound } = pendingPayment();

/** Every way in which a payment can stand, or not be there. */
export const standings: Readonly<Record<string, Payment | undefined>> = {
  "no such payment": undefined,
  creating: { ...unbound, state: "creating" },
  uncertain: { ...unbound, state: "uncertain", open: false, failure: "creation_timeout" },
  "failed (creation refused)": { ...unbound, state: "failed", open: false, failure: "creation_refused" },
  "pending (adopted)": { ...unbound, state: "pending", open: false },
  "pending (init)": pendingPayment({ status: "init" }),
  pending: pendingPayment(),
  "pending (a status nobody knows)": pendingPayment({ status: "held" }),
  "pending (submitted)": pendingPayment({ status: "submitted" }),
  "pending (approved)": pendingPayment({ status: "approved" }),
  "pending (captured)": pendingPayment({ status: "captured" }),
  "failed (reported)": pendingPayment({ state: "failed", status: "failed", open: false }),
  canceled: pendingPayment({ state: "canceled", status: "canceled", open: false }),
  completed: pendingPayment({ state: "completed", status: "completed", open: false, completedAt: now }),
};

/** Every status seen in the field, and one that was not. */
export const statuses = [
  "init",
  "pending",
  "held",
  "submitted",
  "approved",
  "captured",
  "failed",
  "canceled",
  "completed",
];

/** Each way in which a report can disagree, with the payment or with itself. */
export const disagreements: Readonly<
  Record<string, (report: PaymentReport) => { report: PaymentReport; situation?: Partial<Situation> }>
> = {
  "another amount": (report) => ({ report: { ...report, value: "1476" } }),
  "another currency": (report) => ({ report: { ...report, currency: "EUR" } }),
  "another service id than the bound one": (report) => ({ report: { ...report, serviceId: "other" } }),
  "a service id that another payment has": (report) => ({ report, situation: { serviceIdIsTaken: true } }),
  "a captured flag that contradicts the status": (report) => ({
    report: { ...report, captured: report.status !== "completed" && report.status !== "captured" },
  }),
  "a topic that contradicts the status": (report) => ({
    report: { ...report, topic: report.status === "failed" ? "payment.completed" : "payment.failed" },
  }),
};

/** The decision on a payment that stands so. */
export function decide(
  payment: Payment | undefined,
  report: PaymentReport,
  more: Partial<Situation> = {},
): Decision {
  const siblings = payment ? [payment] : [];
  const usual = { siblings, serviceIdIsTaken: false, known: false, ours: true, sufficient: true, now };
  return reconcile({ payment, ...usual, ...more }, report);
}

function cell(decision: Decision): string {
  return decision.outcome === "applied" ? `**${decision.payment.state}**` : decision.outcome;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

const code = (text: string): string => `\`${text}\``;

function byStatus(): string {
  const rows = Object.entries(standings).map(([name, payment]) => [
    name,
    ...statuses.map((status) => cell(decide(payment, reportOf(status)))),
  ]);
  return table(["The payment stands at", ...statuses.map(code)], rows);
}

function byDisagreement(): string {
  const rows = Object.entries(disagreements).map(([name, make]) => {
    const { report, situation } = make(reportOf("completed"));
    const decision = decide(standings["pending"], report, situation);
    const said = decision.outcome === "mismatch" ? decision.differences : [];
    return [
      name,
      decision.outcome,
      said.map(({ field, expected, got }) => `${code(field)}: expected ${expected}, got ${got}`).join("; "),
    ];
  });
  return table(["The report has", "Outcome", "Differences"], rows);
}

function byCircumstance(): string {
  const rows: [string, Partial<Situation>, Payment | undefined][] = [
    ["the same event is on record", { known: true }, standings["pending"]],
    ["the same event is on record", { known: true }, undefined],
    ["no such payment, and the clientId can be ours", { ours: true }, undefined],
    ["no such payment, and the clientId is another shop's", { ours: false }, undefined],
    ["another shop's clientId, and the store has the payment", { ours: false }, standings["pending"]],
    ["only fields are signed, and `confirm` is on", { sufficient: false }, standings["pending"]],
    ["the same, and the payment is completed", { sufficient: false }, standings["completed"]],
  ];
  return table(
    ["Circumstance", "The payment", "`completed` is reported", "`failed` is reported"],
    rows.map(([name, more, payment]) => [
      name,
      payment?.state ?? "none",
      ...["completed", "failed"].map((status) => cell(decide(payment, reportOf(status), more))),
    ]),
  );
}

function byCompletion(): string {
  const first = pendingPayment({ clientId: "c-0", serviceId: "s-0", state: "completed", open: false });
  const attempts: [string, Payment][] = [
    ["open", pendingPayment()],
    ["the browser came back to cancel", pendingPayment({ cancelReturnedAt: now, open: false })],
    ["reported as canceled", standings["canceled"]!],
    ["reported as failed", standings["failed (reported)"]!],
    ["its creation was refused", standings["failed (creation refused)"]!],
    ["replaced by another attempt", pendingPayment({ replacedBy: "c-2", open: false })],
    ["its creation ended in the dark", standings["uncertain"]!],
    ["told of as overdue", pendingPayment({ overdueAt: now })],
  ];
  const facts = (payment: Payment, siblings: Payment[]): string => {
    const decision = decide(payment, reportOf("completed"), { siblings });
    if (decision.outcome !== "applied") return decision.outcome;
    return decision.facts
      .map((fact) => code(fact.type) + (fact.type === "payment.paid_late" ? ` (${fact.because})` : ""))
      .join(", ");
  };
  return table(
    ["The attempt was", "Raised", "Raised where another payment of the reference is completed"],
    attempts.map(([name, payment]) => [name, facts(payment, [payment]), facts(payment, [first, payment])]),
  );
}

/** The whole document. */
export function decisionsDocument(): string {
  return `# Decisions

Made from the code by \`npm run decisions\`; a test fails when it is stale. What the outcomes mean is in
[Reconciliation](reconciliation.md).

The rows are looked at in this order, and the first that fits decides: on record already, no such payment, a disagreement,
nothing new, not sufficient, and then it is applied.

## What is reported, by how the payment stands

Bold: applied, and the payment's state afterwards.

${byStatus()}

\`held\` stands for every status that nobody told the kit of. Two such statuses are ordered by their text.

## Circumstances

${byCircumstance()}

## Disagreements

A report that disagrees with the payment, or with itself, changes nothing. The payment here is pending, and \`completed\` is
reported; it is the same for every other, except that a payment without a service id takes the first one.

${byDisagreement()}

Amounts are compared as exact decimals: ${amounts()}.

## Completions

${byCompletion()}
`;
}

function amounts(): string {
  const pairs = [
    ["1475", "1475.00"],
    ["10.5", "10.50"],
    ["0.1", "0.1000"],
    ["1475", "1475.001"],
    ["1475", "01475"],
    ["9007199254740993", "9007199254740992"],
  ] as const;
  return pairs
    .map(([a, b]) => {
      const report = { ...reportOf("completed"), value: b };
      const isSame =
        decide(pendingPayment({ total: { value: a, currency: "KMF" } }), report).outcome === "applied";
      return `${code(a)} ${isSame ? "is" : "is not"} ${code(b)}`;
    })
    .join(", ");
}

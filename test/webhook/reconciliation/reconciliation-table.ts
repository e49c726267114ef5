import { reconcile, type Decision, type Situation } from "../../../src/webhook/reconciliation/reconcile.js";
import { type PaymentReport } from "../../../src/model/payment-report.js";
import { type Payment } from "tillkit";
import { reportOf, withFields } from "../../support/reports.js";
import { pendingPayment } from "../../support/webhooks.js";

const now = "2026-11-20T10:00:06.000Z";

const { serviceId: _, status: __, ...unbound } = pendingPayment();

/** Every state in which a payment can be, and no payment at all. */
export const paymentStates: Readonly<Record<string, Payment | undefined>> = {
  "no such payment": undefined,
  creating: { ...unbound, state: "creating" },
  uncertain: { ...unbound, state: "uncertain", open: false, failure: "creation_timeout" },
  "failed (creation refused)": { ...unbound, state: "failed", open: false, failure: "creation_refused" },
  "pending (adopted)": { ...unbound, state: "pending", open: false },
  "pending (init)": pendingPayment({ status: "init" }),
  pending: pendingPayment(),
  "pending (unknown status)": pendingPayment({ status: "held" }),
  "pending (submitted)": pendingPayment({ status: "submitted" }),
  "pending (approved)": pendingPayment({ status: "approved" }),
  "pending (captured)": pendingPayment({ status: "captured" }),
  "failed (reported)": pendingPayment({ state: "failed", status: "failed", open: false }),
  canceled: pendingPayment({ state: "canceled", status: "canceled", open: false }),
  completed: pendingPayment({ state: "completed", status: "completed", open: false, completedAt: now }),
};

/** Every status that services are known to report, and an unknown one (`held`). */
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

/** Every way in which a report can disagree with the payment, or with itself. */
export const disagreements: Readonly<
  Record<string, (report: PaymentReport) => { report: PaymentReport; situation?: Partial<Situation> }>
> = {
  "another amount": (report) => ({ report: withFields(report, { "total.value": "1476" }) }),
  "another currency": (report) => ({ report: withFields(report, { "total.currency": "EUR" }) }),
  "another service id than the payment's": (report) => ({ report: withFields(report, { id: "other" }) }),
  "a service id that another payment has": (report) => ({ report, situation: { serviceIdIsTaken: true } }),
  "a captured flag that contradicts the status": (report) => ({
    report: withFields(report, { captured: !["completed", "captured"].includes(report.verified.status) }),
  }),
  "a topic that contradicts the status": (report) => ({
    report: withFields(report, {
      topic: report.verified.status === "failed" ? "payment.completed" : "payment.failed",
    }),
  }),
};

/** Returns the decision on a report about this payment, with the usual situation except for `more`. */
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
  const rows = Object.entries(paymentStates).map(([name, payment]) => [
    name,
    ...statuses.map((status) => cell(decide(payment, reportOf(status)))),
  ]);
  return table(["State of the payment", ...statuses.map(code)], rows);
}

function byDisagreement(): string {
  const rows = Object.entries(disagreements).map(([name, make]) => {
    const { report, situation } = make(reportOf("completed"));
    const decision = decide(paymentStates["pending"], report, situation);
    const differences = decision.outcome === "mismatch" ? decision.differences : [];
    return [
      name,
      decision.outcome,
      differences
        .map(({ field, expected, got }) => `${code(field)}: expected ${expected}, got ${got}`)
        .join("; "),
    ];
  });
  return table(["The report has", "Outcome", "Differences"], rows);
}

function byCircumstance(): string {
  const rows: [string, Partial<Situation>, Payment | undefined][] = [
    ["the same event is already stored", { known: true }, paymentStates["pending"]],
    ["the same event is already stored", { known: true }, undefined],
    ["no such payment, and the clientId can be this shop's", { ours: true }, undefined],
    ["no such payment, and the clientId is another shop's", { ours: false }, undefined],
    [
      "the clientId is another shop's, and the store has the payment",
      { ours: false },
      paymentStates["pending"],
    ],
    ["only fields are signed, and `confirm` is on", { sufficient: false }, paymentStates["pending"]],
    [
      "only fields are signed, `confirm` is on, and the payment is completed",
      { sufficient: false },
      paymentStates["completed"],
    ],
  ];
  return table(
    ["Circumstance", "State of the payment", "Outcome of `completed`", "Outcome of `failed`"],
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
    ["the attempt was open", pendingPayment()],
    ["the customer came back to the cancel address", pendingPayment({ cancelReturnedAt: now, open: false })],
    ["the service reported the attempt as canceled", paymentStates["canceled"]!],
    ["the service reported the attempt as failed", paymentStates["failed (reported)"]!],
    ["the service refused the creation", paymentStates["failed (creation refused)"]!],
    [
      "another attempt of the same amount replaced the attempt",
      pendingPayment({ replacedBy: "c-2", open: false }),
    ],
    [
      "another attempt of another amount replaced the attempt",
      pendingPayment({ replacedBy: "c-3", open: false }),
    ],
    ["the creation was uncertain", paymentStates["uncertain"]!],
    ["the attempt was overdue", pendingPayment({ overdueAt: now })],
  ];
  const same = pendingPayment({ clientId: "c-2", serviceId: "s-2" });
  const other = pendingPayment({
    clientId: "c-3",
    serviceId: "s-3",
    total: { value: "1500", currency: "KMF" },
  });
  const facts = (payment: Payment, siblings: Payment[]): string => {
    const replacing = [same, other].filter(({ clientId }) => clientId === payment.replacedBy);
    const decision = decide(payment, reportOf("completed"), { siblings: [...siblings, ...replacing] });
    if (decision.outcome !== "applied") return decision.outcome;
    return decision.facts
      .map((fact) => code(fact.type) + (fact.type === "payment.paid_late" ? ` (${fact.because})` : ""))
      .join(", ");
  };
  return table(
    [
      "Before the completion",
      "Raised events",
      "Raised events if another payment of the reference is completed",
    ],
    attempts.map(([name, payment]) => [name, facts(payment, [payment]), facts(payment, [first, payment])]),
  );
}

/** Returns docs/reconciliation-table.md, as the code decides now. */
export function reconciliationPage(): string {
  return `# What the kit does with each webhook

This page is generated from the code. [Reconciliation](reconciliation.md) explains each outcome, and the
[glossary](glossary.md) has the terms.

The kit checks these conditions in this order. The first condition that is true decides the outcome:

1. If the same event is already stored, the outcome is \`duplicate\`.
2. If no payment has this clientId, the outcome is \`unmatched\`, or \`foreign\` if the clientId belongs to another shop.
3. If the report disagrees with the payment, or with itself, the outcome is \`mismatch\`.
4. If the report contains nothing new, the outcome is \`stale\`.
5. If the report is a completion that needs a lookup, the outcome is \`unconfirmed\`.
6. Otherwise the outcome is \`applied\`.

## By the state of the payment and the reported status

A bold state is the payment's new state after the kit has applied the report.

${byStatus()}

\`held\` stands for every status that the kit does not know. The kit orders unknown statuses alphabetically.

## Special circumstances

${byCircumstance()}

## Disagreements

A report that disagrees with the payment, or with itself, changes nothing. In this table the payment is pending, and the
service reports \`completed\`. For other states, the outcomes are the same. Exception: a payment without a service
id gets the first service id that the service reports.

${byDisagreement()}

The kit compares amounts as exact decimals:

${amounts()}

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
      const report = withFields(reportOf("completed"), { "total.value": b });
      const isSame =
        decide(pendingPayment({ total: { value: a, currency: "KMF" } }), report).outcome === "applied";
      return `- ${code(a)} ${isSame ? "is" : "is not"} ${code(b)}`;
    })
    .join("\n");
}

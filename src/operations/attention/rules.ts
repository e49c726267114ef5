import { type OpenClaim } from "../../checkout/payment-claims.js";
import { type AttentionRule, attentionRules, maxCounted } from "../../model/attention.js";
import { reportedTotal } from "../../model/attempts.js";
import { type Money, type Payment } from "../../model/payment.js";
import { optionText, withOperand } from "../../shared/command-text.js";
import { readStored } from "../../webhook/recording/rematch.js";
import {
  type CountsOptions,
  type DispatchRecord,
  type StoreCounts,
  type WebhookRecord,
} from "../../store/index.js";

/** A fact that needs a person. */
export interface Fact {
  rule: AttentionRule;
  subject: string;
  /** The time at which the fact began: ISO 8601 UTC. */
  since: string;
  /** The position in the order of the rule's facts, after which the next page begins. */
  position: readonly [string, string];
  payment?: Payment;
  /**
   * The webhook that a person decides about: the newest that reports a completion, or else the newest of all.
   */
  webhook?: WebhookRecord;
  /** All webhooks of the fact, oldest first. */
  webhooks?: readonly WebhookRecord[];
  dispatch?: DispatchRecord;
  claim?: OpenClaim;
  /**
   * Set if the stored record is not a separate fact. Either it no longer needs a person, or it belongs to the
   * fact of an older record.
   */
  isGone?: true;
  /** The text about a handler or about this process, for people. */
  text?: string;
}

/** A rule: the source of its facts, their minimum age, and its text. The end of a fact closes its entry. */
export interface Rule {
  /** The kind of subject. Facts of `process` are about this process only, and are not stored. */
  of: "claim" | "payment" | "webhook" | "dispatch" | "handler" | "process";
  /**
   * The minimum age at which a fact becomes an entry, in milliseconds. `unmatched` means the option
   * `unmatchedAfterMs`.
   * @default 0
   */
  afterMs?: number | "unmatched";
  /** `attention` if a person can settle the entry; `fact` if only the steps of `next` close it. */
  settle: "attention" | "fact";
  /** Returns the problem in one sentence. */
  why: (fact: Fact) => string;
  /** Returns the next steps. Each command has a line of its own, which begins with `tillkit`. */
  next: (fact: Fact) => string;
}

const hourMs = 60 * 60 * 1000;
/** The maximum number of different reasons that are listed. */
const maxReasons = 5;
const person = "--by <name> --reason <why>";
const resolveLine = (action: string, { payment, webhook }: Fact): string =>
  `tillkit resolve ${action} ${webhook ? `--receipt-id ${webhook.receiptId}` : optionText("--client-id", `${payment?.clientId}`)} ${person}`;
const acceptLine = (kind: "lookup" | "statement", fact: Fact): string =>
  `${resolveLine("accept", fact)} --evidence ${kind} --document <where> --value <amount>`;
const refundLine = ({ payment }: Fact): string =>
  withOperand("tillkit payments refund", `${payment?.clientId}`, `--key <transfer> ${person}`);
const settleLine = ({ rule, subject }: Fact): string =>
  `tillkit attention settle ${rule}:${subject} ${person}`;

/** Returns the amount of the payment, or the amount that the webhook reports. */
export function totalOf({ payment, webhook }: Fact): Money | undefined {
  const message = webhook?.rawBody && !payment ? readStored(webhook) : undefined;
  return payment?.total ?? (message?.kind === "payment" ? reportedTotal(message) : undefined);
}

/** Returns the command's options for the amount, which the person compares with the order. */
function amountOptions(fact: Fact): string {
  const { value = "<amount>", currency = "<code>" } = totalOf(fact) ?? {};
  return `--amount ${value} --currency ${currency}`;
}

/**
 * Returns why a payment is late. The last reason is general, because a payment does not keep the report that
 * ended it.
 */
function whyLate({ payment }: Fact): string {
  const { cancelReturnedAt, completedAt = "", replacedBy, overdueAt, failure } = payment ?? {};
  if (cancelReturnedAt !== undefined && cancelReturnedAt < completedAt)
    return "The customer had canceled the payment before it was completed.";
  if (replacedBy !== undefined)
    return "Another payment of the order had replaced this payment before it was completed.";
  if (overdueAt !== undefined) return "The payment was overdue before it was completed.";
  if (failure !== undefined)
    return `The creation had ended with ${failure} before the payment was completed.`;
  return "The service had reported the payment as ended, canceled or failed for example, before it reported the payment as completed.";
}

const said = ({ webhooks = [] }: Fact): string =>
  [...new Set(webhooks.map(({ reason }) => reason ?? "no reason is stored"))].slice(0, maxReasons).join("; ");

/**
 * Every rule. A new rule also needs its name in `attentionRules` and a row in docs/attention.md. A new rule
 * about payments also needs a case in `needOfPayment`.
 */
export const ruleTable: Readonly<Record<AttentionRule, Rule>> = {
  claimed: {
    of: "claim",
    settle: "attention",
    why: ({ claim }) =>
      `The customer says that the payment is paid, with the number ${claim?.claims.map(({ number }) => number).join(" or ")}. Nothing has confirmed the payment.`,
    next: (fact) =>
      `Look for the number in a statement and in the directory of refused webhooks, or ask the service. If a refused webhook has the number:\ntillkit replay <file> ${person}\nIf the payment is paid:\n${acceptLine("statement", fact)}\nIf it is not paid, tell the customer, then:\n${settleLine(fact)}`,
  },
  paid_other_amount: {
    of: "payment",
    settle: "fact",
    why: () =>
      "The customer paid an amount that you had replaced with another amount. The order is not fulfilled.",
    next: (fact) =>
      `To fulfil the order:\n${resolveLine("accept", fact)}\nIf you pay the money back:\n${refundLine(fact)}`,
  },
  paid_twice: {
    of: "payment",
    settle: "attention",
    why: () => "The order is already paid, and this payment is a second payment for the same order.",
    next: (fact) => `Pay the money back, then:\n${refundLine(fact)}`,
  },
  mismatched: {
    of: "webhook",
    settle: "attention",
    why: (fact) => `A signed webhook differs from the payment: ${said(fact)}. Nothing was applied.`,
    next: (fact) =>
      fact.payment?.state === "completed"
        ? `The payment is completed already, and more money may have come. Ask the service. If the customer has this money back, or none came:\n${resolveLine("dismiss", fact)}`
        : `Ask the service. If the webhook is right:\n${resolveLine("accept", fact)}\nIf it is wrong:\n${resolveLine("dismiss", fact)}`,
  },
  paid_late: {
    of: "payment",
    settle: "attention",
    why: whyLate,
    next: (fact) =>
      `Deliver the order, then:\n${settleLine(fact)}\nOr pay the money back, then:\n${refundLine(fact)}`,
  },
  unmatched: {
    of: "webhook",
    afterMs: "unmatched",
    settle: "attention",
    why: ({ webhook }) =>
      `A signed webhook names a payment that the store does not have: ${webhook?.clientId}.`,
    next: (fact) =>
      `If the payment is ours:\n${withOperand("tillkit payments adopt", `${fact.webhook?.clientId}`, `--reference <order> ${amountOptions(fact)} ${person}`)}\nIf it belongs to another shop:\n${resolveLine("dismiss", fact)}`,
  },
  unconfirmed: {
    of: "webhook",
    afterMs: "unmatched",
    settle: "attention",
    why: () => "A webhook says that the payment is paid, but no lookup has confirmed the payment.",
    next: (fact) =>
      `Ask the service. If it is paid:\n${resolveLine("accept", fact)}\nIf it is not paid:\n${resolveLine("dismiss", fact)}`,
  },
  reported: {
    of: "webhook",
    settle: "attention",
    why: ({ webhook }) =>
      `The service reported "${webhook?.status}" for a payment that already had a later status. The reported status was not applied.`,
    next: (fact) => `The status may mean a refund: ask the service. Then:\n${settleLine(fact)}`,
  },
  inadmissible: {
    of: "webhook",
    settle: "attention",
    why: (fact) => `A signed webhook cannot be read: ${said(fact)}.`,
    next: (fact) =>
      `If the webhook is about a payment:\n${acceptLine("lookup", fact)} --client-id <clientId>\nOtherwise:\n${settleLine(fact)}`,
  },
  dead_dispatch: {
    of: "dispatch",
    settle: "attention",
    why: ({ dispatch }) =>
      `All attempts of the handler ${dispatch?.handler} for ${dispatch?.type} have failed: ${dispatch?.error ?? "no error is stored"}`,
    next: ({ dispatch }) =>
      `Fix the cause, then:\n${withOperand("tillkit handlers retry", `${dispatch?.handler}`, `--event-id ${dispatch?.eventId} ${person} --apply`)}`,
  },
  handler_paused: {
    of: "handler",
    settle: "fact",
    why: ({ subject, text }) => `The handler ${subject} is paused ${text}`,
    next: ({ subject }) =>
      `When the cause of the pause is gone:\n${withOperand("tillkit handlers resume", subject, "--by <name>")}`,
  },
  creation_uncertain: {
    of: "payment",
    afterMs: hourMs,
    settle: "attention",
    why: () => "The creation had no clear answer: the service may or may not have this payment.",
    next: (fact) =>
      `Look for the payment in a statement, or ask the service. If it is paid:\n${acceptLine("statement", fact)}\nOtherwise:\n${settleLine(fact)}`,
  },
  overdue: {
    of: "payment",
    settle: "attention",
    why: () => "The payment has been open for too long, and nothing has completed it.",
    next: (fact) =>
      `Look for the payment in a statement, or ask the service. If it is paid:\n${acceptLine("statement", fact)}\nOtherwise:\n${settleLine(fact)}`,
  },
  spool_set_aside: {
    of: "process",
    settle: "fact",
    why: ({ text = "" }) => `${text} The kit could not record these webhooks.`,
    next: () => "Look at the files in the spool's folder set-aside; docs/operations.md says how.",
  },
  health: {
    of: "process",
    settle: "fact",
    why: ({ text = "" }) => text,
    next: ({ subject }) => `docs/operations.md explains ${subject}.`,
  },
};

/** Returns the time after which a fact is too young to be an entry; `undefined` if every age counts. */
export function ruleEnd(
  { now, unmatchedAfterMs }: { now: () => Date; unmatchedAfterMs: number | "any age" },
  rule: AttentionRule,
): string | undefined {
  const { afterMs } = ruleTable[rule];
  if (afterMs === undefined || unmatchedAfterMs === "any age") return undefined;
  return new Date(now().getTime() - (afterMs === "unmatched" ? unmatchedAfterMs : afterMs)).toISOString();
}

/** Returns the {@link ruleEnd} of each rule that has one. */
export function ruleEnds(parts: Parameters<typeof ruleEnd>[0]): NonNullable<CountsOptions["before"]> {
  const ends = attentionRules.flatMap((rule) => {
    const end = ruleEnd(parts, rule);
    return end === undefined ? [] : [[rule, end] as const];
  });
  return Object.fromEntries(ends);
}

/**
 * Returns the counts of the rules whose facts are in the store, as the field `attention`. Returns no field if
 * all counts are zero.
 */
export function attentionCounts(needs: StoreCounts["needs"], claimed: number, dead: number, paused: number) {
  const attention = {
    ...(claimed > 0 && { claimed }),
    ...needs,
    ...(dead > 0 && { dead_dispatch: Math.min(dead, maxCounted) }),
    ...(paused > 0 && { handler_paused: paused }),
  };
  return Object.keys(attention).length > 0 ? { attention } : {};
}

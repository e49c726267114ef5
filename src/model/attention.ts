import { type Money, type Payment } from "./payment.js";

/** The facts about a payment that a person has to see. A payment has one of them at most, the first that holds. */
export const paymentNeeds = [
  "paid_other_amount",
  "paid_twice",
  "paid_late",
  "creation_uncertain",
  "overdue",
] as const;

/** The facts about a webhook that a person has to see. */
export const webhookNeeds = ["mismatched", "unmatched", "unconfirmed", "reported", "inadmissible"] as const;

/** The number of one need at which `counts` of a store stops to count. */
export const maxCounted = 10_000;

/** A fact about a payment that a person has to see. */
export type PaymentNeed = (typeof paymentNeeds)[number];

/** A fact about a webhook that a person has to see. */
export type WebhookNeed = (typeof webhookNeeds)[number];

/** Returns what a person has to see about the payment. A fact that goes away takes it with it. */
export function needOfPayment({ state, withheld, attention, overdueAt }: Payment): PaymentNeed | undefined {
  if (withheld === "unsettled") return "paid_other_amount";
  if (attention !== undefined) return attention === "settled" ? undefined : attention;
  if (state === "uncertain") return "creation_uncertain";
  if (overdueAt === undefined) return undefined;
  if (state === "creating") return "creation_uncertain";
  return state === "pending" ? "overdue" : undefined;
}

/** Why a person is needed, the most urgent first: what `payments.attention` lists. */
export const attentionRules = [
  "claimed",
  "paid_other_amount",
  "paid_twice",
  "mismatched",
  "paid_late",
  "unmatched",
  "unconfirmed",
  "reported",
  "inadmissible",
  "dead_dispatch",
  "handler_paused",
  "creation_uncertain",
  "overdue",
  "spool_set_aside",
  "health",
] as const;

/** Why a person is needed; see docs/attention.md. */
export type AttentionRule = (typeof attentionRules)[number];

/** The kind of the notes of what people did about entries. */
export const attentionNotes = "attention";

/** What a person did about an entry. */
export interface AttentionChange {
  /** What the person did. */
  did: "assigned" | "snoozed" | "noted" | "settled";
  /** Who. */
  by: string;
  /** ISO 8601 UTC. */
  at: string;
  /** Why, or the note itself, as the person wrote it. */
  reason?: string;
  /** Who had it, or until when it was snoozed, before. */
  before?: string;
  /** Who has it, or until when it is snoozed, since; where it was settled, the document that shows it. */
  after?: string;
  /** The `key` of the call, if it had one. */
  key?: string;
}

/** What people did about an entry. */
export interface AttentionNote {
  /** Until when it is not listed: ISO 8601 UTC. */
  snoozedUntil?: string;
  /** The `since` of the fact that was snoozed: another fact is listed. Absent for facts of this process, and in earlier versions. */
  snoozedFor?: string;
  /** Who looks after it. */
  assigned?: string;
  /** How it was settled. It holds for the fact of this `since`. */
  settled?: {
    reason: string;
    by: string;
    at: string;
    since: string;
    document?: string;
    /** What the store knew at that moment: the payment, the webhook without its bytes, the dispatch. */
    evidence: Readonly<Record<string, unknown>>;
  };
  /** The last 50 changes, oldest first. */
  changes: readonly AttentionChange[];
}

/** Something that needs a person. It is derived from a fact, and closes with it. */
export interface AttentionEntry extends AttentionNote {
  /** The rule and the subject: the same as long as the fact is there, and when it comes back. */
  id: string;
  /** Why a person is needed. */
  rule: AttentionRule;
  /**
   * What it is about: a clientId, the receiptId of a webhook that names no payment, an eventId with a handler, or the name of a handler
   * or of a reason.
   */
  subject: string;
  /** When the fact came: ISO 8601 UTC. */
  since: string;
  /** The time from then until now. */
  ageMs: number;
  /** What is wrong, in one sentence for people. */
  why: string;
  /** What to do. Each command has a line of its own, which begins with `tillkit`. */
  next: string;
  /** The payment, where it is about one. */
  clientId?: string;
  /** The order of the payment. */
  reference?: string;
  /** The amount of the payment; where the store has no such payment, that of the webhook. */
  total?: Money;
  /** How often it came: the webhooks of the payment with their copies, the runs of a dispatch, the claims. Absent for once. */
  repeats?: number;
  /** The number of changes by people. The methods that change it take it, so that two people do not undo each other's work. */
  version: number;
}

/** An entry that is closed, as it was when it was announced. */
export type ClosedEntry = Pick<
  AttentionEntry,
  "id" | "rule" | "subject" | "since" | "why" | "clientId" | "reference" | "total"
>;

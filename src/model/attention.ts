import { type Money, type Payment } from "./payment.js";

/** The facts about a payment that a person must see. Only the first true fact is used. */
export const paymentNeeds = [
  "paid_other_amount",
  "paid_twice",
  "paid_late",
  "creation_uncertain",
  "overdue",
] as const;

/** The facts about a webhook that a person must see. */
export const webhookNeeds = ["mismatched", "unmatched", "unconfirmed", "reported", "inadmissible"] as const;

/** The maximum that a store's `counts` returns for one of these facts. */
export const maxCounted = 10_000;

/** A fact about a payment that a person has to see. */
export type PaymentNeed = (typeof paymentNeeds)[number];

/** A fact about a webhook that a person has to see. */
export type WebhookNeed = (typeof webhookNeeds)[number];

/** Returns the fact about the payment that a person must see, or `undefined` if there is none. */
export function needOfPayment({ state, withheld, attention, overdueAt }: Payment): PaymentNeed | undefined {
  if (withheld === "unsettled") return "paid_other_amount";
  if (attention !== undefined) return attention === "settled" ? undefined : attention;
  if (state === "uncertain") return "creation_uncertain";
  if (overdueAt === undefined) return undefined;
  if (state === "creating") return "creation_uncertain";
  return state === "pending" ? "overdue" : undefined;
}

/** The rules that `payments.attention` lists, the most urgent first. */
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

/** The reason why a person is needed: see docs/attention.md. */
export type AttentionRule = (typeof attentionRules)[number];

/** The value of `kind` for the store's notes that contain people's changes of entries. */
export const attentionNotes = "attention";

/** One change that a person made to an entry. */
export interface AttentionChange {
  /** The action of the person. */
  did: "assigned" | "snoozed" | "noted" | "settled";
  /** The person who made the change. */
  by: string;
  /** The time of the change: ISO 8601 UTC. */
  at: string;
  /** The reason, or the note itself, as the person wrote it. */
  reason?: string;
  /** The old value: the person who had the entry, or the end of the old snooze. */
  before?: string;
  /** The new value: the person who has the entry, the end of the snooze, or a settlement's document. */
  after?: string;
  /** The `key` of the call, if it had one. */
  key?: string;
}

/** People's changes of an entry. */
export interface AttentionNote {
  /** The time until which the entry is not listed: ISO 8601 UTC. */
  snoozedUntil?: string;
  /**
   * The `since` of the fact that a person snoozed. If the fact ends and a new fact begins, the snooze does
   * not apply to the new fact. Absent for facts of one process, whose snooze applies to every later fact too.
   */
  snoozedFor?: string;
  /** The person who looks after the entry. */
  assigned?: string;
  /** The settlement of the entry. If the fact ends and a new fact begins, the settlement does not apply. */
  settled?: {
    reason: string;
    by: string;
    at: string;
    since: string;
    document?: string;
    /** The stored payment, webhooks (without their bytes), dispatch and claims at that time. */
    evidence: Readonly<Record<string, unknown>>;
  };
  /** The last 50 changes, oldest first. */
  changes: readonly AttentionChange[];
}

/** A case that needs a person. The kit derives the entry from a fact, and closes it when the fact ends. */
export interface AttentionEntry extends AttentionNote {
  /** The rule and the subject. If the fact ends and begins again, the entry has the same id as before. */
  id: string;
  /** The rule that made this entry. */
  rule: AttentionRule;
  /**
   * The subject of the entry: a clientId, or the receiptId of a webhook without a clientId. For handlers and
   * for this process: an eventId with a handler's name, a handler's name, or a reason of the health.
   */
  subject: string;
  /** The time at which the fact began: ISO 8601 UTC. */
  since: string;
  /** The time from `since` until now. */
  ageMs: number;
  /** The problem, in one sentence for people. */
  why: string;
  /** The next step. Each command is in its own line, which begins with `tillkit`. */
  next: string;
  /** The clientId of the payment, if the entry is about one. */
  clientId?: string;
  /** The reference of the payment. */
  reference?: string;
  /** The amount of the payment. If the store has no such payment, the amount of the webhook. */
  total?: Money;
  /** The number of webhooks with their copies, of a dispatch's runs, or of claims. Absent for one. */
  repeats?: number;
  /**
   * The number of changes by people. Pass it to `attend`, so that one person does not undo the work of
   * another.
   */
  version: number;
}

/** A closed entry, with its content at the time of its announcement. */
export type ClosedEntry = Pick<
  AttentionEntry,
  "id" | "rule" | "subject" | "since" | "why" | "clientId" | "reference" | "total"
>;

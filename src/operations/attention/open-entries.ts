import { type AttentionEntry, attentionRules, needOfPayment } from "../../model/attention.js";
import { needOfWebhook } from "../../store/rules/webhooks.js";
import { type PaymentHistory } from "../reading/payment-history.js";
import { type FactParts, factSources } from "./facts.js";
import { attentionEntries, attentionId } from "./list-attention.js";
import { type Fact, ruleTable } from "./rules.js";

const maxSubjects = 20;

/**
 * Returns the open entries about one payment and about its newest webhooks and dispatches, the most urgent
 * first.
 */
export async function openEntries<Tx>(
  parts: FactParts<Tx>,
  { clientId, payment, entries }: Pick<PaymentHistory, "clientId" | "payment" | "entries">,
): Promise<AttentionEntry[]> {
  const need = payment && needOfPayment(payment);
  const statuses = new Map(entries.flatMap((one) => ("status" in one ? [[one.receiptId, one.status]] : [])));
  const later = entries.flatMap((one): Pick<Fact, "rule" | "subject">[] => {
    if (one.kind === "dispatch" && one.state === "dead")
      return [{ rule: "dead_dispatch", subject: `${one.eventId}:${one.handler}` }];
    const rule =
      one.kind === "decision"
        ? needOfWebhook({ outcome: one.outcome, status: statuses.get(one.receiptId) })
        : undefined;
    return rule ? [{ rule, subject: clientId }] : [];
  });
  const waiting = entries.flatMap((one) =>
    one.kind === "dispatch" && one.state === "pending"
      ? [{ rule: "handler_paused", subject: one.handler } as const]
      : [],
  );
  const own = payment ? (["claimed", ...(need ? [need] : [])] as const) : [];
  // Many webhooks belong to one entry, so each subject is counted once.
  const newestOf = (some: readonly Pick<Fact, "rule" | "subject">[]) =>
    distinct(some.toReversed()).slice(0, maxSubjects).toReversed();
  const candidates = distinct([
    ...own.map((rule) => ({ rule, subject: clientId })),
    ...newestOf(later),
    ...newestOf(waiting),
  ]);
  const sources = factSources(parts);
  const facts = await Promise.all(
    candidates.map(({ rule, subject }) => sources[ruleTable[rule].of].one(rule, subject)),
  );
  const open = (
    await attentionEntries(
      parts,
      facts.filter((fact) => fact !== undefined),
    )
  ).filter(({ settled }) => settled === undefined);
  return open.toSorted((a, b) => attentionRules.indexOf(a.rule) - attentionRules.indexOf(b.rule));
}

function distinct<One extends Pick<Fact, "rule" | "subject">>(all: readonly One[]): One[] {
  return [...new Map(all.map((one) => [attentionId(one), one])).values()];
}

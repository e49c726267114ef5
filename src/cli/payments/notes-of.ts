import { type Payment } from "../../index.js";
import { decimalOf, minorUnits } from "../../model/money.js";

const attentionTexts = { paid_twice: "second payment", paid_late: "paid late", settled: undefined };

/** Returns the facts about a payment that people need besides its state; empty if there are none. */
export function notesOf(payment: Payment): string {
  const { withheld, refunded, attention, replacedBy } = payment;
  const notes = [
    otherAmount(payment),
    withheld,
    refunded && `${refunded} refunded`,
    attention && attentionTexts[attention],
    replacedBy && "replaced",
  ];
  return notes.filter(Boolean).join(", ");
}

/** Returns the amount that was paid, and its difference from the amount that was asked for. */
function otherAmount({ total, received }: Payment): string | undefined {
  if (!received) return undefined;
  const { value, currency } = received;
  const paid = `paid ${value} ${currency}`;
  if (currency !== total.currency) return paid;
  const more = minorUnits(value, currency) - minorUnits(total.value, currency);
  return more < 0n
    ? `${paid}: ${decimalOf(-more, currency)} too little`
    : `${paid}: ${decimalOf(more, currency)} too much`;
}

import {
  maxCounted,
  type PaymentNeed,
  paymentNeeds,
  type WebhookNeed,
  webhookNeeds,
} from "../../model/attention.js";
import { type CountsOptions, type StoreCounts } from "../records.js";

type Need = PaymentNeed | WebhookNeed;

/** All needs: the facts about payments and webhooks that a person has to see. */
export const needs: readonly Need[] = [...paymentNeeds, ...webhookNeeds];

/** Returns the `needs` of `StoreCounts`. Leaves out counts of 0, and limits the others to `maxCounted`. */
export function needsIn(counted: readonly (readonly [Need, number])[]): Pick<StoreCounts, "needs"> {
  const found = counted.flatMap(([need, count]) =>
    count > 0 ? [[need, Math.min(count, maxCounted)] as const] : [],
  );
  return found.length > 0 ? { needs: Object.fromEntries(found) } : {};
}

/** Counts needs by name. Leaves out payments and webhooks that are not older than the time in `before`. */
export function needCounts(
  found: readonly (readonly [Need | undefined, string])[],
  { before = {} }: CountsOptions = {},
): Pick<StoreCounts, "needs"> {
  const isCounted = (need: Need, at: string): boolean => before[need] === undefined || at < before[need];
  return needsIn(
    needs.map((need) => [need, found.filter(([one, at]) => one === need && isCounted(need, at)).length]),
  );
}

import {
  maxCounted,
  type PaymentNeed,
  paymentNeeds,
  type WebhookNeed,
  webhookNeeds,
} from "../../model/attention.js";
import { type CountsOptions, type StoreCounts } from "../records.js";

type Need = PaymentNeed | WebhookNeed;

/** All needs of payments and webhooks. */
export const needs: readonly Need[] = [...paymentNeeds, ...webhookNeeds];

/** Returns the `needs` of `StoreCounts`, without needs that nothing has. */
export function needsIn(counted: readonly (readonly [Need, number])[]): Pick<StoreCounts, "needs"> {
  const found = counted.flatMap(([need, count]) =>
    count > 0 ? [[need, Math.min(count, maxCounted)] as const] : [],
  );
  return found.length > 0 ? { needs: Object.fromEntries(found) } : {};
}

/** Counts the needs that were found, each given with the time of its payment or webhook. */
export function needCounts(
  found: readonly (readonly [Need | undefined, string])[],
  { before = {} }: CountsOptions = {},
): Pick<StoreCounts, "needs"> {
  const isCounted = (need: Need, at: string): boolean => before[need] === undefined || at < before[need];
  return needsIn(
    needs.map((need) => [need, found.filter(([one, at]) => one === need && isCounted(need, at)).length]),
  );
}

import { type EventRecord } from "../../../payment-store.js";

/** The number of an event, and whether it is that of the webhook that is about the same payment. */
export interface EventNumber {
  seq: number;
  isOfWebhook: boolean;
}

/**
 * Numbers for events in their order. An event gets the number of the webhook that it follows from, as far as that keeps the
 * order, so that whoever finds the one finds the other: an index by clientId is a page for each event. The others get fresh
 * numbers.
 *
 * @param ofWebhooks - the numbers of the webhooks that are found by their clientId, by that; taken out as they are given
 * @param fresh - the first number that is neither a webhook's nor an event's
 */
export function numberEvents(
  events: readonly EventRecord[],
  ofWebhooks: Map<string, number>,
  fresh: number,
): EventNumber[] {
  let last = 0;
  return events.map(({ clientId }) => {
    const shared = clientId === undefined ? undefined : ofWebhooks.get(clientId);
    const isOfWebhook = shared !== undefined && shared > last;
    if (isOfWebhook) ofWebhooks.delete(clientId!);
    last = isOfWebhook ? shared : fresh++;
    return { seq: last, isOfWebhook };
  });
}

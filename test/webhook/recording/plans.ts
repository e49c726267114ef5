import { type Payment } from "tillkit";
import { readMessage } from "../../../src/webhook/message/read-message.js";
import { type Arrival } from "../../../src/webhook/recording/arrival.js";
import { planGroup, type Planning } from "../../../src/webhook/recording/plan-group.js";

export const now = "2026-11-20T10:00:06.000Z";
export const receivedAt = "2026-11-20T10:00:05.000Z";

/** Returns a verified webhook with this body. */
export function arrivalOf(body: unknown, receiptId: string, over: Partial<Arrival> = {}): Arrival {
  const rawBody = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  const { covers = "body" } = over;
  return { receiptId, rawBody, covers, receivedAt, message: readMessage({ rawBody, covers }), ...over };
}

/** Plans a group on these payments. */
export function plan(
  payments: readonly Payment[],
  arrivals: readonly Arrival[],
  { eventKeys = [], ...planning }: Partial<Planning> & { eventKeys?: string[] } = {},
) {
  let ids = 0;
  const policy = { clientIdPrefix: undefined, confirms: false };
  const newId = () => `id-${++ids}`;
  return planGroup({ payments: [...payments], eventKeys }, arrivals, { now, newId, policy, ...planning });
}

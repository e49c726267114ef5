import { type WebhookRecord } from "../../store/index.js";

/** What the merchant configured that decisions depend on. */
export interface Policy {
  /** What this shop's clientIds begin with; absent where every webhook is this shop's. */
  clientIdPrefix: string | undefined;
  /** Whether a completion of which only fields are signed waits for a lookup. */
  confirms: boolean;
  /** Whether unmatched webhooks are raised later, by the sweep; a store that cannot find them raises at once. */
  hasGrace: boolean;
}

/** Whether a clientId that names no payment can be one of this shop's. */
export function isOurs({ clientIdPrefix = "" }: Policy, clientId: string): boolean {
  return clientId.startsWith(clientIdPrefix);
}

/** Whether a webhook may complete a payment by itself. What the service answered to the kit's own question may. */
export function isSufficient(
  { confirms }: Policy,
  { kind, covers }: Pick<WebhookRecord, "kind" | "covers">,
): boolean {
  return !confirms || kind === "lookup" || covers === "body";
}

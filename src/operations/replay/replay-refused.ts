import { type ResolutionRecord, type WebhookRecord } from "../../store/index.js";
import { receiveWebhook, type ReceiveParts, type WebhookRequest } from "../../webhook/receive-webhook.js";
import { type Arrival, type Receipt } from "../../webhook/recording/arrival.js";
import { keysOf, planGroup } from "../../webhook/recording/plan-group.js";
import { type Recorder } from "../../webhook/recording/recorder.js";
import { type RecordingParts } from "../../webhook/recording/recording-parts.js";
import { type ReplayChange, replayChange, replayedBy } from "./replay-change.js";

/** The parts of the kit that are needed to record a refused webhook. */
export interface ReplayParts<Tx> extends RecordingParts<Tx>, Pick<ReceiveParts, "scheme"> {
  recorder: Pick<Recorder<Tx>, "record">;
}

/**
 * Receives a refused webhook as if the service had sent it again: verifies and decides it, and records it
 * unless this is a dry run. Returns the change; `undefined` if the webhook is recorded already. If the store
 * is not available, rejects and spools nothing, so that the person's name is not lost.
 *
 * @throws WebhookRejectedError if the signature does not match now
 */
export async function replayRefused<Tx>(
  { store, now, newId, policy, scheme, recorder }: ReplayParts<Tx>,
  request: WebhookRequest,
  dryRun: boolean,
  person: Pick<ResolutionRecord, "by" | "reason"> | undefined,
): Promise<ReplayChange | undefined> {
  let change: ReplayChange | undefined;
  const keep = async (arrival: Arrival): Promise<Receipt> => {
    const at = now().toISOString();
    const { plan, locked } = await store.transaction(async (tx) => {
      const locked = await store.lock(tx, keysOf([arrival]));
      return { locked, plan: planGroup(locked, [arrival], { now: at, newId, policy }) };
    });
    // The person's name is in the webhook's transaction, because a second replay would find a duplicate.
    const resolutionsOf = ({ outcome, ...webhook }: WebhookRecord) =>
      person ? replayedBy({ ...webhook, from: "refused", to: outcome }, person, newId(), at) : [];
    const [planned] = plan.receipts as [Receipt];
    const receipt = dryRun ? planned : await recorder.record({ ...arrival, resolutionsOf });
    const { receiptId, outcome: to, clientId } = receipt;
    if (to === "duplicate" || to === "spooled") return receipt;
    const { receivedAt } = arrival;
    const reason = plan.changes.webhooks[0]?.reason;
    const [before, after] = [locked.payments, plan.changes.updated].map((payments) =>
      payments.find((one) => one.clientId === clientId),
    );
    change = replayChange(
      { receiptId, receivedAt, from: "refused", to },
      { clientId, reason, before, after },
    );
    return receipt;
  };
  await receiveWebhook({ scheme, now, newId, keep }, request);
  return change;
}

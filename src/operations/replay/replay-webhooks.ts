import { type Payment } from "../../model/payment.js";
import { withoutUndefined } from "../../shared/without-undefined.js";
import {
  type PaymentStore,
  type ResolutionRecord,
  type WebhookPage,
  type WebhookRecord,
} from "../../store/index.js";
import { type Decided, Decisions } from "../../webhook/recording/decisions.js";
import { keysOf } from "../../webhook/recording/plan-group.js";
import { type RecordingParts } from "../../webhook/recording/recording-parts.js";
import { readStored } from "../../webhook/recording/rematch.js";
import { type NamesOf } from "../../shared/unknown-names.js";
import { inGroups } from "../sweep/in-groups.js";
import { queryError, queryTimes, refuseUnknown } from "../reading/query.js";
import { checkPerson } from "../resolution/resolution.js";
import { type WebhookRequest } from "../../webhook/receive-webhook.js";
import { type ReplayChange, replayChange, replayedBy } from "./replay-change.js";
import { replayRefused, type ReplayParts } from "./replay-refused.js";

/** Selects stored webhooks that match every given condition. */
export interface ReplayQuery {
  /** The clientId of the payment that the webhook names. */
  clientId?: string | undefined;
  /** The id of one webhook. */
  receiptId?: string | undefined;
  /** The stored outcome. */
  outcome?: WebhookRecord["outcome"] | undefined;
  /** Selects webhooks that were received at this time or later. */
  from?: Date | undefined;
  /** Selects webhooks that were received before this time. */
  to?: Date | undefined;
  /**
   * The headers and the bytes of a webhook that the kit refused, instead of a selection. The kit verifies and
   * records this webhook as if the service had sent it again.
   */
  refused?: WebhookRequest | undefined;
  /** Whether to report the changes without storing them. @default true */
  dryRun?: boolean | undefined;
  /**
   * The person who replays, for the history of each payment: 1 to 128 characters.
   * @default nobody: a program replays
   */
  by?: string | undefined;
  /** The reason, for readers of the history: 1 to 1,000 characters. Needed with `by`. */
  reason?: string | undefined;
  /** Called after each page of at most 100 webhooks, and after the `refused` webhook. */
  onProgress?: ((progress: { looked: number; changed: number }) => void) | undefined;
}

/** The result of a replay. */
export interface Replayed {
  /** Whether nothing was changed. */
  dryRun: boolean;
  /** The number of webhooks that were decided again. */
  looked: number;
  /** The number of webhooks that cannot be decided because their bytes were pruned. */
  forgotten: number;
  /** The number of webhooks whose decision has changed. */
  changed: number;
  /** The first 1,000 changes, in the order in which the webhooks arrived. */
  changes: ReplayChange[];
}

const outcomes = {
  applied: 1,
  stale: 1,
  mismatch: 1,
  unmatched: 1,
  unconfirmed: 1,
  foreign: 1,
  unrecognised: 1,
  inadmissible: 1,
} satisfies Record<WebhookRecord["outcome"], 1>;
const maxListed = 1000;

/**
 * Decides stored webhooks again, with the payments as they are now. Each webhook keeps the coverage that its
 * signature had when it was verified. A dry run only reports the changes. Another run stores them page by
 * page, each page with its events in one transaction, or in several if the store limits its writes. An
 * applied webhook is never reverted. A second run changes nothing more.
 *
 * @throws TillkitError `query_invalid`, or `resolution_invalid` if `by` or `reason` is not valid, or one of
 * them is missing
 * @throws WebhookRejectedError if the signature of `refused` does not match
 */
export async function replayWebhooks<Tx>(parts: ReplayParts<Tx>, query: ReplayQuery = {}): Promise<Replayed> {
  const { clientId, receiptId, outcome, from, to, refused, dryRun = true, by, reason, onProgress } = query;
  const names = { clientId, receiptId, outcome, from, to, refused, dryRun, by, reason, onProgress };
  refuseUnknown(query, names satisfies NamesOf<ReplayQuery>);
  if ((by ?? reason) !== undefined) checkPerson({ by, reason });
  if (outcome !== undefined && !Object.hasOwn(outcomes, outcome))
    throw queryError(`outcome must be one of ${Object.keys(outcomes).join(", ")}.`);
  const period = queryTimes({ from, to });
  const selected = withoutUndefined({ clientId, receiptId, outcome, ...period });
  if (refused && Object.keys(selected).length > 0)
    throw queryError("Give either a refused webhook, or the selection of stored webhooks.");
  await parts.ready();
  const person = by !== undefined && reason !== undefined ? { by, reason } : undefined;
  if (refused) {
    const change = await replayRefused(parts, refused, dryRun, person);
    const changes = change ? [change] : [];
    onProgress?.({ looked: 1, changed: changes.length });
    return { dryRun, looked: 1, forgotten: 0, changed: changes.length, changes };
  }
  const run: Run = { dryRun, person, unsaved: new Map(), seen: new Set() };
  const result: Replayed = { dryRun, looked: 0, forgotten: 0, changed: 0, changes: [] };
  let after: WebhookPage["after"];
  for (;;) {
    const found = await parts.store.webhooks({ ...selected, ...(after && { after }), limit: parts.maxGroup });
    const readable = found.filter(({ rawBody }) => rawBody.length > 0);
    const changed = await inGroups(parts.store, readable, (some) => replayPage(parts, run, some));
    const changes = changed.flat();
    result.looked += readable.length;
    result.forgotten += found.length - readable.length;
    result.changed += changes.length;
    result.changes.push(...changes.slice(0, maxListed - result.changes.length));
    onProgress?.({ looked: result.looked, changed: result.changed });
    const last = found.at(-1);
    if (!last || found.length < parts.maxGroup) break;
    after = { receivedAt: last.receivedAt, receiptId: last.receiptId };
  }
  return result;
}

/** The state of one replay, from page to page. */
interface Run {
  dryRun: boolean;
  person: Pick<ResolutionRecord, "by" | "reason"> | undefined;
  /** Payments as a dry run would have stored them, by clientId. */
  unsaved: Map<string, Payment>;
  /** The new eventKeys of this replay's webhooks that have another eventKey by the current rules. */
  seen: Set<string>;
}

/** Thrown if another call has given webhooks another outcome after the page was read. */
class PageOutdated extends Error {
  readonly receiptIds: ReadonlySet<string>;

  constructor(receiptIds: readonly string[]) {
    super();
    this.receiptIds = new Set(receiptIds);
  }
}

/** Decides one page. Leaves out webhooks that another call has decided after the page was read. */
async function replayPage<Tx>(
  parts: RecordingParts<Tx>,
  run: Run,
  webhooks: readonly WebhookRecord[],
): Promise<ReplayChange[]> {
  try {
    return await replayOnce(parts, run, webhooks);
  } catch (error) {
    if (!(error instanceof PageOutdated)) throw error;
    const left = webhooks.filter(({ receiptId }) => !error.receiptIds.has(receiptId));
    return replayPage(parts, run, left);
  }
}

async function replayOnce<Tx>(
  { store, now, newId, policy, announceEvents }: RecordingParts<Tx>,
  run: Run,
  webhooks: readonly WebhookRecord[],
): Promise<ReplayChange[]> {
  if (webhooks.length === 0) return [];
  const messages = webhooks.map(readStored);
  const at = now().toISOString();
  const { changes, events, seen, updated } = await store.transaction(async (tx) => {
    // The store may run this function again, so the function changes nothing outside of itself.
    const seen = new Set<string>();
    const locked = await store.lock(tx, keysOf(messages.map((message) => ({ message }))));
    const recorded = new Set(locked.eventKeys);
    const decisions = new Decisions(
      locked.payments.map((payment) => run.unsaved.get(payment.clientId) ?? payment),
      { now: at, newId, policy },
    );
    const { payments, rematched, events } = decisions;
    const changes: ReplayChange[] = [];
    for (const [index, webhook] of webhooks.entries()) {
      const message = messages[index]!;
      const { eventKey } = message;
      // By the current rules, the webhook may be a copy of an event that is stored with another webhook.
      const isOther = eventKey !== webhook.eventKey;
      const isKnown = isOther && [run.seen, seen, recorded].some((keys) => keys.has(eventKey));
      if (isOther) seen.add(eventKey);
      const clientId = message.kind === "payment" ? message.verified.clientId : undefined;
      const before = clientId === undefined ? undefined : payments.find(clientId);
      const decided = decisions.decide(message, webhook, isKnown);
      if (!isChange(webhook, decided)) continue;
      const { receiptId, receivedAt, outcome: from } = webhook;
      const { outcome: to, reason } = decided;
      decisions.rematch(receiptId, decided, clientId);
      const after = clientId === undefined ? undefined : payments.find(clientId);
      changes.push(replayChange({ receiptId, receivedAt, from, to }, { clientId, reason, before, after }));
    }
    const updated = payments.changed();
    const resolutions = run.person ? changes.flatMap((one) => replayedBy(one, run.person!, newId(), at)) : [];
    if (!run.dryRun && rematched.length > 0) {
      await refuseOutdated(store, tx, changes);
      await store.save(tx, { updated, rematched, events, resolutions });
    }
    return { changes, events, seen, updated };
  });
  for (const eventKey of seen) run.seen.add(eventKey);
  if (run.dryRun) for (const payment of updated) run.unsaved.set(payment.clientId, payment);
  if (!run.dryRun && events.length > 0) announceEvents();
  return changes;
}

/** Throws `PageOutdated` if a webhook no longer has the outcome that the page had. */
async function refuseOutdated<Tx>(
  store: PaymentStore<Tx>,
  tx: Tx,
  changes: readonly ReplayChange[],
): Promise<void> {
  // This write locks the webhooks, because a webhook may have no payment to lock. The page's save sets the
  // mark again.
  await store.save(tx, { raised: changes.map(({ receiptId }) => receiptId) });
  const outdated: string[] = [];
  for (const { receiptId, from } of changes) {
    const [present] = await store.webhooks({ receiptId, limit: 1 });
    if (present?.outcome !== from) outdated.push(receiptId);
  }
  if (outdated.length > 0) throw new PageOutdated(outdated);
}

/**
 * Returns whether the decision differs from the stored one. An applied webhook would be `stale` by now, but
 * it stays applied.
 */
function isChange(
  { outcome }: WebhookRecord,
  decided: Decided,
): decided is Exclude<Decided, { outcome: "duplicate" }> {
  if (decided.outcome === "duplicate") return false;
  return decided.outcome === "applied" || (outcome !== "applied" && outcome !== decided.outcome);
}

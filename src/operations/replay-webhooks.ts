import { type Payment } from "../model/payment.js";
import { Books } from "../webhook/recording/books.js";
import { decideMessage, type Decided } from "../webhook/recording/decide-message.js";
import { keyOf, keysOf } from "../webhook/recording/plan-group.js";
import { type Policy } from "../webhook/recording/policy.js";
import { readStored } from "../webhook/recording/read-stored.js";
import {
  type EventRecord,
  type PaymentStore,
  type Rematched,
  type WebhookPage,
  type WebhookRecord,
} from "../store/index.js";
import { timeOf } from "./query.js";
import { storeMethod } from "./store-method.js";

/** Which stored webhooks to decide again: those that match every given condition. */
export interface ReplayQuery {
  clientId?: string | undefined;
  receiptId?: string | undefined;
  outcome?: WebhookRecord["outcome"] | undefined;
  /** Received at this time or later. */
  from?: Date | undefined;
  /** Received before this time. */
  to?: Date | undefined;
  /** Whether only to tell what would change. @default true */
  dryRun?: boolean | undefined;
  /** Called after each page of 100. */
  onProgress?: ((progress: { looked: number; changed: number }) => void) | undefined;
}

/** One webhook that is decided otherwise now. */
export interface ReplayChange {
  receiptId: string;
  clientId?: string;
  receivedAt: string;
  from: WebhookRecord["outcome"];
  to: WebhookRecord["outcome"];
  reason?: string;
  /** The payment's state before and after, where it changes. */
  state?: { from: Payment["state"]; to: Payment["state"] };
}

/** What a replay did, or would do. */
export interface Replayed {
  dryRun: boolean;
  /** Webhooks that were decided again. */
  looked: number;
  /** Webhooks whose bytes were forgotten (`payments.prune`), so that nothing can be decided. */
  forgotten: number;
  /** Webhooks with another decision now. */
  changed: number;
  /** The first 1,000 of them, in the order in which they were received. */
  changes: ReplayChange[];
}

/** What replaying needs. */
export interface Replaying<Tx> {
  store: PaymentStore<Tx>;
  now: () => Date;
  newId: () => string;
  policy: Policy;
  ready: () => Promise<void>;
  onEvents: () => void;
}

const pageSize = 100;
const mostListed = 1000;

/**
 * Reads stored webhooks again, each with the coverage that its signature had when it was verified, and decides them on
 * the books as they are now. A dry run tells what would change; another run changes it, page by page, each page in one
 * transaction with its events. What was applied is never taken back. Running it again changes nothing more.
 */
export async function replayWebhooks<Tx>(kit: Replaying<Tx>, query: ReplayQuery = {}): Promise<Replayed> {
  const { dryRun = true, onProgress } = query;
  const [from, to] = [timeOf("from", query.from), timeOf("to", query.to)];
  const page = Object.fromEntries(
    Object.entries({
      clientId: query.clientId,
      receiptId: query.receiptId,
      outcome: query.outcome,
      from,
      to,
    }).filter(([, value]) => value !== undefined),
  ) as Omit<WebhookPage, "limit">;
  const webhooks = storeMethod(kit.store, "webhooks");
  await kit.ready();
  const run: Run = { dryRun, imagined: new Map(), seen: new Set() };
  const result: Replayed = { dryRun, looked: 0, forgotten: 0, changed: 0, changes: [] };
  let after: WebhookPage["after"];
  for (;;) {
    const found = await webhooks({ ...page, ...(after && { after }), limit: pageSize });
    const readable = found.filter(({ rawBody }) => rawBody.length > 0);
    const changes = await replayPage(kit, run, readable);
    result.looked += readable.length;
    result.forgotten += found.length - readable.length;
    result.changed += changes.length;
    result.changes.push(...changes.slice(0, mostListed - result.changes.length));
    onProgress?.({ looked: result.looked, changed: result.changed });
    const last = found.at(-1);
    if (!last || found.length < pageSize) break;
    after = { receivedAt: last.receivedAt, receiptId: last.receiptId };
  }
  return result;
}

/** What one replay remembers from page to page. */
interface Run {
  dryRun: boolean;
  /** Payments as a dry run would have left them. */
  imagined: Map<string, Payment>;
  /** eventKeys that newer rules gave to webhooks of this replay. */
  seen: Set<string>;
}

async function replayPage<Tx>(
  { store, now, newId, policy, onEvents }: Replaying<Tx>,
  run: Run,
  webhooks: readonly WebhookRecord[],
): Promise<ReplayChange[]> {
  if (webhooks.length === 0) return [];
  const messages = webhooks.map(readStored);
  return store.transaction(async (tx) => {
    const locked = await store.lock(tx, keysOf(messages.map((message) => ({ message }))));
    const recorded = new Set(locked.eventKeys);
    const books = new Books(locked.payments.map((payment) => run.imagined.get(payment.clientId) ?? payment));
    const at = now().toISOString();
    const changes: ReplayChange[] = [];
    const rematched: Rematched[] = [];
    const events: EventRecord[] = [];
    for (const [index, webhook] of webhooks.entries()) {
      const message = messages[index]!;
      const eventKey = keyOf(message);
      // Read by newer rules, it may turn out to be an event that came again since, and is on record by itself.
      const isOther = eventKey !== webhook.eventKey;
      const known = isOther && (run.seen.has(eventKey) || recorded.has(eventKey));
      if (isOther) run.seen.add(eventKey);
      const clientId = message.kind === "payment" ? message.report.clientId : undefined;
      const before = clientId === undefined ? undefined : books.find(clientId);
      const decided = decideMessage(books, message, { known, now: at, arrival: webhook, policy });
      if (!isChange(webhook, decided)) continue;
      const { receiptId, receivedAt } = webhook;
      const { outcome, reason } = decided;
      const said = { ...(reason !== undefined && { reason }) };
      rematched.push({ receiptId, outcome, ...said, decidedAt: at });
      const about = clientId === undefined ? {} : { clientId };
      for (const draft of decided.events) events.push({ id: newId(), ...draft, ...about, recordedAt: at });
      const state = stateChange(before, clientId === undefined ? undefined : books.find(clientId));
      changes.push({
        receiptId,
        ...about,
        receivedAt,
        from: webhook.outcome,
        to: outcome,
        ...said,
        ...state,
      });
    }
    if (run.dryRun) {
      for (const payment of books.changed()) run.imagined.set(payment.clientId, payment);
    } else if (rematched.length > 0) {
      await store.save(tx, { updated: books.changed(), rematched, events });
      onEvents();
    }
    return changes;
  });
}

/** Whether the decision differs from the one on record. What was applied before is stale by now, and stays applied. */
function isChange(
  { outcome }: WebhookRecord,
  decided: Decided,
): decided is Exclude<Decided, { outcome: "duplicate" }> {
  if (decided.outcome === "duplicate") return false;
  return decided.outcome === "applied" || (outcome !== "applied" && outcome !== decided.outcome);
}

function stateChange(
  before: Payment | undefined,
  after: Payment | undefined,
): Pick<ReplayChange, "state"> | undefined {
  if (!before || !after || before.state === after.state) return undefined;
  return { state: { from: before.state, to: after.state } };
}

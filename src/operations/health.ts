import { type Notices } from "../dispatch/notices.js";
import { type PaymentStore, type StoreCounts } from "../store/index.js";

/** What a readiness probe and a person on call need to know. */
export interface Health {
  /**
   * `ok`: webhooks are taken and handlers run. `degraded`: they are taken, and something needs a look: a dead
   * dispatch, an old undone event, webhooks in the spool, a durability warning. `down`: webhooks would be refused.
   */
  status: "ok" | "degraded" | "down";
  /**
   * Whether the store answered in time; whether so many of its commits hang that webhooks no longer wait for it; its
   * durability warnings.
   */
  store: { reachable: boolean; stuck: boolean; warnings: readonly string[] };
  /** Absent where the store does not tell, or did not answer. */
  counts?: StoreCounts;
  /** Webhooks that wait in the local spool for the store; absent where there is none. */
  spool?: SpoolHealth;
  /** Webhooks that this process refused. No judgement of the status: strangers can make them grow. */
  rejections: Rejections;
  /** Webhooks of other shops, by `clientIdPrefix`, that this process recorded since it was put together. */
  foreign: number;
}

/** Refused webhooks of this process, since it was put together. */
export interface Rejections {
  /** How many by code, such as `signature_mismatch`; codes that never came are absent. */
  byCode: Readonly<Record<string, number>>;
  /** How many of them were answered 429, because their address had failed too often. */
  throttled: number;
}

/** The state of the spool. */
export interface SpoolHealth {
  records: number;
  bytes: number;
  /** Records that could not be recorded and were put aside for a person. */
  setAside: number;
  oldestAt?: string;
}

/** What judging the health needs. */
export interface HealthOptions<Tx> {
  store: PaymentStore<Tx>;
  spool: { stats(): Promise<SpoolHealth> } | undefined;
  /** Whether commits hang. */
  isStuck: () => boolean;
  now: () => Date;
  rejections: () => Rejections;
  foreign: () => number;
  /** How long the store may take to answer. */
  timeoutMs: number;
  /** From what age on an undone event is worth a look. */
  lateMs: number;
}

/** Asks the store and the spool. Never rejects. */
export async function checkHealth<Tx>(options: HealthOptions<Tx>): Promise<Health> {
  const { store, spool, now, timeoutMs, lateMs } = options;
  const stuck = options.isStuck();
  const [asked, spooled] = await Promise.all([
    within(timeoutMs, askStore(store)).catch(() => undefined),
    spool?.stats().catch(() => undefined),
  ]);
  const counts = asked?.counts;
  const warnings = asked?.warnings ?? [];
  const oldest = counts?.oldestUndoneAt;
  const isLate = oldest !== undefined && now().getTime() - Date.parse(oldest) > lateMs;
  const isWaiting = spooled !== undefined && (spooled.records > 0 || spooled.setAside > 0);
  const needsLook = !asked || stuck || warnings.length > 0 || (counts?.dead ?? 0) > 0 || isLate || isWaiting;
  const takesWebhooks = (asked !== undefined && !stuck) || spooled !== undefined;
  return {
    status: !takesWebhooks ? "down" : needsLook ? "degraded" : "ok",
    store: { reachable: asked !== undefined, stuck, warnings },
    ...(counts && { counts }),
    ...(spooled && { spool: spooled }),
    rejections: options.rejections(),
    foreign: options.foreign(),
  };
}

/** Counts refused webhooks from now on. */
export function countRejections(listen: Notices["add"]): () => Rejections {
  const byCode = new Map<string, number>();
  let throttled = 0;
  listen("webhook.rejected", ({ code, status }) => {
    byCode.set(code, (byCode.get(code) ?? 0) + 1);
    if (status === 429) throttled += 1;
  });
  return () => ({ byCode: Object.fromEntries(byCode), throttled });
}

async function askStore<Tx>(store: PaymentStore<Tx>) {
  // A clientId that no payment can have: the store answers from its index, and is known to be there.
  await store.find("");
  const [counts, warnings] = await Promise.all([store.counts?.(), store.warnings?.()]);
  return { counts, warnings: warnings ?? [] };
}

function within<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

import { type Notices } from "../dispatch/notices.js";
import { withTimeout } from "../shared/with-timeout.js";
import { type PaymentStore, type StoreCounts } from "../store/index.js";

/** The state of the kit, for a readiness probe and for a person on call. */
export interface Health {
  /**
   * `ok`: webhooks are taken and handlers run. `degraded`: webhooks are taken, and a person should look: a dead dispatch,
   * an old undone event, webhooks in the spool, a durability warning. `down`: webhooks would be refused.
   */
  status: "ok" | "degraded" | "down";
  /**
   * `reachable`: the store answered in time. `stuck`: so many commits hang that webhooks no longer wait for the store.
   * `warnings`: its findings on durability.
   */
  store: { reachable: boolean; stuck: boolean; warnings: readonly string[] };
  /** Absent where the store has no `counts`, or did not answer. */
  counts?: StoreCounts;
  /** Webhooks that wait in the local spool for the store; absent where there is none. */
  spool?: SpoolHealth;
  /** Webhooks that this process refused. They do not change the status, because anyone can send them. */
  rejections: Rejections;
  /** The number of webhooks of other shops, by `clientIdPrefix`, that this process has recorded. */
  foreign: number;
}

/** The webhooks that this process has refused. */
export interface Rejections {
  /** Their number by error code, such as `signature_mismatch`; codes that did not occur are absent. */
  byCode: Readonly<Record<string, number>>;
  /** The number that were answered 429, because their address had failed too often. */
  throttled: number;
}

/** The state of the spool. */
export interface SpoolHealth {
  records: number;
  bytes: number;
  /** The number of webhooks that could not be recorded and were set aside for a person. */
  setAside: number;
  oldestAt?: string;
}

/** What the health depends on. */
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
  /** The age from which an undone event degrades the health. */
  lateMs: number;
}

/** Returns the function behind `payments.health`. Counts refused webhooks from now on. */
export function createHealthCheck<Tx>(
  { store, now, listen }: Pick<HealthOptions<Tx>, "store" | "now"> & { listen: Notices["add"] },
  { spool, isStuck, foreign }: Pick<HealthOptions<Tx>, "spool" | "isStuck" | "foreign">,
): () => Promise<Health> {
  const options = { store, now, spool, isStuck, foreign, rejections: countRejections(listen) };
  return () => checkHealth({ ...options, timeoutMs: 2000, lateMs: 60_000 });
}

/** Asks the store and the spool. Never rejects. */
export async function checkHealth<Tx>(options: HealthOptions<Tx>): Promise<Health> {
  const { store, spool, now, timeoutMs, lateMs } = options;
  const stuck = options.isStuck();
  const [asked, spooled] = await Promise.all([
    withTimeout(askStore(store), timeoutMs).catch(() => undefined),
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

function countRejections(listen: Notices["add"]): () => Rejections {
  const byCode = new Map<string, number>();
  let throttled = 0;
  listen("webhook.rejected", ({ code, status }) => {
    byCode.set(code, (byCode.get(code) ?? 0) + 1);
    if (status === 429) throttled += 1;
  });
  return () => ({ byCode: Object.fromEntries(byCode), throttled });
}

async function askStore<Tx>(store: PaymentStore<Tx>) {
  // No payment has an empty clientId, so this is a cheap read that proves the store reachable.
  await store.find("");
  const [counts, warnings] = await Promise.all([store.counts?.(), store.warnings?.()]);
  return { counts, warnings: warnings ?? [] };
}

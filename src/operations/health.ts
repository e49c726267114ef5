import { countClaims } from "../checkout/payment-claims.js";
import { type HandlerControl, readControls } from "../dispatch/handler-controls.js";
import { type Notices } from "../dispatch/notices.js";
import { loggable } from "../errors/conceal-secrets.js";
import { type AttentionRule } from "../model/attention.js";
import { type EventType } from "../model/event-map.js";
import { type ClockWatch } from "../shared/clock-watch.js";
import { because } from "../shared/because.js";
import { joinCalls } from "../shared/join-calls.js";
import { withTimeout } from "../shared/with-timeout.js";
import { type CountsOptions, type PaymentStore, type StoreCounts } from "../store/index.js";
import { attentionCounts, ruleEnds } from "./attention/rules.js";
import { countRejections, type Rejections } from "./rejections.js";
import { readNothing, writeNothing } from "../webhook/recording/write-nothing.js";
import { type Intake } from "../webhook/intake.js";

/** The codes of all reasons, the most serious first; docs/operations.md explains them. */
export const healthReasonCodes = [
  "webhooks_refused",
  "now_failing",
  "spooling_too_long",
  "store_unreachable",
  "store_not_writable",
  "store_stuck",
  "store_slow",
  "webhook_not_recordable",
  "spool_waiting",
  "spool_unavailable",
  "spool_set_aside",
  "dispatches_dead",
  "events_late",
  "handler_missing",
  "handler_paused",
  "transactions_hanging",
  "sweep_failing",
  "signatures_failing",
  "webhooks_silent",
  "store_went_back",
  "clock_jumped",
  "database_clock_off",
  "durability_warning",
] as const;

/** A reason why the health is not `ok`. */
export interface HealthReason {
  /** The code, which is stable, for machines. */
  code: (typeof healthReasonCodes)[number];
  /** The message, which may change, for people. */
  message: string;
}

/** The state of the kit, for a readiness probe and for a person on call. */
export interface Health {
  /**
   * `ok`: webhooks are accepted and handlers run. `degraded`: webhooks are accepted, but a person should
   * look. `down`: webhooks are refused, or the store has accepted no webhook of the spool for too long.
   */
  status: "ok" | "degraded" | "down";
  /** Every reason why the status is not `ok`, the most serious first. */
  reasons: readonly HealthReason[];
  /**
   * `reachable`: the store answered in time. `stuck`: so many commits hang that webhooks no longer wait for
   * the store. `warnings`: the store's warnings about durability.
   */
  store: { reachable: boolean; stuck: boolean; warnings: readonly string[] };
  /** Counts from the store. Absent if the store did not answer in time. */
  counts?: StoreCounts;
  /**
   * The number of cases of each rule in `payments.attention`: at most 10,000, or 500 of `claimed`. Includes
   * snoozed entries, each webhook and all dead dispatches. Cases of only this process are in `reasons`.
   */
  attention?: { readonly [Rule in AttentionRule]?: number };
  /** The handlers that people have paused or limited. Absent if there are none. */
  handlers?: readonly HandlerControl[];
  /** The webhooks that wait for the store in the local spool. Absent without a spool. */
  spool?: SpoolHealth;
  /** Webhooks that this process refused. The status never becomes `down` because of these webhooks. */
  rejections: Rejections;
  /** The number of webhooks of other shops, by `clientIdPrefix`, that this process has recorded. */
  foreign: number;
}

/** The state of the spool. */
export interface SpoolHealth {
  /** The number of webhooks that wait for the store. */
  records: number;
  /** The size of these webhooks on disk. */
  bytes: number;
  /** The number of webhooks that could not be recorded and were set aside for a person. */
  setAside: number;
  /** The time at which the oldest waiting webhook arrived: ISO 8601 UTC. Absent if none waits. */
  oldestAt?: string;
}

/** The parts and limits that the health depends on. @internal */
export interface HealthParts<Tx> extends Pick<Intake, "foreign"> {
  recorder: Pick<Intake["recorder"], "isStuck">;
  keeper: Pick<Intake["keeper"], "keeping" | "leftBecause" | "retryRefused">;
  store: PaymentStore<Tx>;
  spool: { stats(): Promise<SpoolHealth> } | undefined;
  clock: Pick<ClockWatch, "look">;
  now: () => Date;
  /** Returns a message if the store should be open and is not. */
  unopened: () => string | undefined;
  /** Returns whether this process calls the handler with this name. */
  runs: (handler: string, event?: EventType) => boolean;
  /** Returns the number of handlers' transactions that are open although their runs have ended. */
  hanging: () => number;
  /** Returns the number of sweeps in a row that have failed, and the last error. */
  sweepFailure: () => { count: number; error: unknown } | undefined;
  /** Returns an error if the store became an older copy or another store, and otherwise `undefined`. */
  wentBack: () => Error | undefined;
  /** Returns a message if no webhook comes any more. */
  silence: () => string | undefined;
  rejections: () => Rejections;
  /** Returns the number of wrong signatures since the last verified webhook, and their time span. */
  mismatches: () => { count: number; spanMs: number };
  /** The time in which the store must answer. */
  timeoutMs: number;
  /** The age from which a webhook without its payment needs a person. */
  unmatchedAfterMs: number;
  /** The age from which an event with a dispatch that is not done degrades the health. */
  lateMs: number;
  spoolingDownAfterMs: number;
}

/** The minimum number of wrong signatures for `signatures_failing`. A short attack may cause fewer. */
const minMismatches = 10;
/** The minimum number of failed sweeps in a row for `sweep_failing`. A short outage may cause fewer. */
const minFailedSweeps = 3;

/** Returns `payments.health`. Counts refused webhooks from then on. Joins calls. @internal */
export function createHealthCheck<Tx>(
  core: Pick<HealthParts<Tx>, "store" | "now" | "clock" | "unopened"> & { listen: Notices["add"] },
  intake: Intake,
  options: Pick<
    HealthParts<Tx>,
    "runs" | "hanging" | "sweepFailure" | "wentBack" | "silence" | "spoolingDownAfterMs" | "unmatchedAfterMs"
  >,
): () => Promise<Health> {
  const counted = { ...countRejections(core.listen, intake.keeper), timeoutMs: 2000, lateMs: 60_000 };
  return joinCalls(() => checkHealth({ ...core, ...intake, ...options, ...counted }));
}

/** Returns the health, from the store, the spool and this process. Never rejects. @internal */
export async function checkHealth<Tx>(given: HealthParts<Tx>): Promise<Health> {
  const { time, problem: timeProblem } = readClock(given.now);
  const parts: HealthParts<Tx> = { ...given, now: () => time };
  const { store, keeper, timeoutMs } = parts;
  const stuck = parts.recorder.isStuck();
  const reading = readNothing(store);
  const [answers, asked, writable, { stats: spool, problem: spoolProblem }] = await Promise.all([
    withTimeout(reading, timeoutMs).then(Boolean, () => false),
    withTimeout(
      reading.then(() => askStore(store, ruleEnds(parts))),
      timeoutMs,
    ).catch(() => null),
    withTimeout(writeNothing(store), timeoutMs).then(Boolean, () => false),
    askSpool(parts),
    withTimeout(keeper.retryRefused(), timeoutMs).catch(() => {}),
  ]);
  const { counts, attention, warnings = [], controls = [] } = asked ?? {};
  const isSlow = answers && asked === undefined;
  const unopened = parts.unopened();
  const reachable = answers && asked !== null && unopened === undefined;
  const takes = reachable && writable && !stuck;
  const { refused } = keeper.keeping;
  const isRefused = refused === "store" || (refused !== undefined && !takes);
  const found: Found = {
    webhooks_refused: isRefused && "Neither the store nor a spool could keep the last webhook.",
    now_failing: timeProblem,
    store_unreachable: !reachable && (unopened ?? "The store does not answer."),
    store_not_writable: reachable && !writable && "The store answers reads, but accepts no writes.",
    store_stuck: stuck && "So many commits hang that webhooks do not wait for the store.",
    store_slow: isSlow && "The store answers, but does not count in time what waits.",
    webhook_not_recordable: refused !== undefined && !isRefused && "The store refused the last webhook.",
    durability_warning: warnings.length > 0 && warnings.join("; "),
    ...findInSpool(parts, spool),
    spool_unavailable: spoolProblem ?? false,
    ...findInCounts(parts, counts, controls),
    ...findInProcess(parts),
  };
  const isDown = isRefused || timeProblem || found.spooling_too_long || (!takes && !spool);
  const reasons = healthReasonCodes.flatMap((code) => {
    const message = found[code];
    return message ? [{ code, message }] : [];
  });
  return {
    status: isDown ? "down" : reasons.length > 0 ? "degraded" : "ok",
    reasons,
    store: { reachable, stuck, warnings },
    ...(counts && { counts }),
    ...(attention && { attention }),
    ...(controls.length > 0 && { handlers: controls }),
    ...(spool && { spool }),
    rejections: parts.rejections(),
    foreign: parts.foreign(),
  };
}

/** Returns the application's time. If `now` fails, returns the machine's time and the problem. */
function readClock(now: () => Date): { time: Date; problem?: string } {
  try {
    const time = now();
    time.toISOString();
    return { time };
  } catch (error) {
    return { time: new Date(), problem: `The option now fails, so webhooks are refused${because(error)}` };
  }
}

/** The message of each present reason. */
type Found = Partial<Record<HealthReason["code"], string | false | undefined>>;
function findInSpool<Tx>(
  { keeper: { keeping, leftBecause }, spoolingDownAfterMs }: HealthParts<Tx>,
  { records, setAside }: Pick<SpoolHealth, "records" | "setAside"> = { records: 0, setAside: 0 },
): Found {
  const failingMs = Math.round(performance.now() - (keeping.failingSince ?? Infinity));
  const isTooLong = records > 0 && failingMs > spoolingDownAfterMs;
  const why = leftBecause === undefined ? "." : because(leftBecause);
  return {
    spooling_too_long: isTooLong && `The store has accepted no webhook for ${failingMs} ms.`,
    spool_waiting: records > 0 && `${records} webhooks wait in the spool${why}`,
    spool_set_aside: setAside > 0 && `${setAside} webhooks were set aside.`,
  };
}

function findInCounts<Tx>(
  { now, runs, lateMs }: HealthParts<Tx>,
  counts: StoreCounts | undefined,
  controls: readonly HandlerControl[],
): Found {
  if (!counts) return {};
  const paused = controls.flatMap((one) => (one.paused ? [{ ...one.paused, name: one.name }] : []));
  const { dead, oldestUndoneAt, waiting = [], clock } = counts;
  // A time far in the future is included too, because a wrong clock wrote it.
  const isFar = (time: string, from: number) => Math.abs(from - Date.parse(time)) > lateMs;
  const storeNow = clock === undefined ? now().getTime() : Date.parse(clock);
  const missing = waiting
    .filter(({ handler, event, since }) => !runs(handler, event) && isFar(since, storeNow))
    .filter(({ handler }) => !paused.some(({ name }) => name === handler))
    .map(({ handler, event }) => (event && runs(handler) ? `${handler} for ${event}` : handler));
  return {
    dispatches_dead: dead > 0 && `${dead} dispatches are dead.`,
    events_late:
      oldestUndoneAt &&
      isFar(oldestUndoneAt, now().getTime()) &&
      `An event has waited since ${oldestUndoneAt}.`,
    handler_missing: missing.length > 0 && `Dispatches wait unclaimed for ${missing.join(", ")}.`,
    handler_paused:
      paused.length > 0 &&
      paused.map(({ name, by, at, reason }) => `${name} was paused by ${by} at ${at}: ${reason}`).join("; "),
    database_clock_off: clock && isFar(clock, Date.now()) && `The database's clock says ${clock}.`,
  };
}

function findInProcess<Tx>(parts: HealthParts<Tx>): Found {
  const { clock, hanging, sweepFailure, wentBack, silence, mismatches, lateMs } = parts;
  const { count: sweeps, error } = sweepFailure() ?? { count: 0 };
  const { lastMs } = clock.look();
  const { count, spanMs } = mismatches();
  const isFailing = count >= minMismatches && spanMs > lateMs;
  return {
    transactions_hanging:
      hanging() > 0 && `${hanging()} transactions of handlers have not ended, although the runs have ended.`,
    sweep_failing:
      sweeps >= minFailedSweeps &&
      `The last ${sweeps} sweeps have failed, so some overdue payments may not be raised${because(error)}`,
    signatures_failing:
      isFailing && `None of ${count} webhooks was valid: the secret or clock is wrong, or they are forged.`,
    webhooks_silent: silence() ?? false,
    store_went_back: wentBack()?.message ?? false,
    clock_jumped: lastMs !== 0 && `The machine's clock jumped by ${lastMs} ms, or the machine was suspended.`,
  };
}

/** Asks the spool. Never rejects: for a spool that cannot be used, resolves to its problem. */
function askSpool<Tx>({
  spool,
  timeoutMs,
}: HealthParts<Tx>): Promise<{ stats?: SpoolHealth; problem?: string }> {
  const problemOf = (error: unknown) => ({ problem: loggable(error).message });
  const tooSlow = () => new Error(`The spool's disk did not answer within ${timeoutMs} ms.`);
  const asked = spool && withTimeout(spool.stats(), timeoutMs, tooSlow);
  return asked ? asked.then((stats) => ({ stats }), problemOf) : Promise.resolve({});
}

async function askStore<Tx>(store: PaymentStore<Tx>, before: NonNullable<CountsOptions["before"]>) {
  const controls = (await readControls(store)).filter((one) => (one.paused ?? one.perSecond) !== undefined);
  const except = controls.flatMap(({ name, paused }) => (paused ? [name] : []));
  const [{ needs, ...counts }, warnings, claimed] = await Promise.all([
    store.counts({ except, before }),
    store.warnings(),
    countClaims(store),
  ]);
  return { counts, warnings, controls, ...attentionCounts(needs, claimed, counts.dead, except.length) };
}

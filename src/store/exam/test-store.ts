import { setImmediate as nextIteration } from "node:timers/promises";
import { because } from "../../shared/because.js";
import { optionInvalid } from "../../shared/unknown-names.js";
import { adapterChecks } from "./checks/adapter.js";
import { claimChecks } from "./checks/claims.js";
import { needChecks } from "./checks/needs.js";
import { handlerChecks, noteChecks } from "./checks/notes.js";
import { expansionChecks } from "./checks/expansion.js";
import { deadChecks, historyChecks } from "./checks/history.js";
import { leaseChecks, renewalChecks } from "./checks/leases.js";
import { lockChecks } from "./checks/locks.js";
import { listChecks, lookupDueChecks, overdueChecks } from "./checks/payment-queries.js";
import { attemptChecks, paymentChecks, reportChecks } from "./checks/payments.js";
import { cutChecks, probeChecks, refusedChecks } from "./checks/probe.js";
import { pruneChecks, retireChecks } from "./checks/prune.js";
import { recordChecks } from "./checks/record.js";
import { settlementChecks } from "./checks/settlements.js";
import { type Checks } from "./checks/steps.js";
import { strayChecks } from "./checks/stray.js";
import { identifyChecks, migrateChecks, transactionChecks } from "./checks/transactions.js";
import { rematchableChecks, webhookChecks } from "./checks/webhooks.js";
import { without } from "./contract.js";
import { CallWatch } from "./call-watch.js";
import {
  type CheckResult,
  type ExamMember,
  maxCalls,
  type ProbePart,
  runCheck,
  type StoreFactory,
} from "./run-check.js";

/** The options of the exam of a store. */
export interface StoreExam<Tx> extends StoreFactory<Tx> {
  /**
   * The time, in milliseconds, after which a check has failed if none of its calls ends. `testStore` ignores
   * it, because a test runner has its own limit.
   *
   * @default 180000
   */
  timeoutMs?: number | undefined;
}

/** The options of the exam of a store with a test runner. */
export interface StoreExamOptions<Tx> extends StoreExam<Tx> {
  /**
   * The beginning of each test's name.
   *
   * @default "store"
   */
  name?: string;
  /** Registers one test: jest's `it`, or `test` of node:test. The `skip` of this function is not used. */
  test: {
    (name: string, run: () => Promise<void>): unknown;
    skip?: (name: string, run: () => Promise<void>) => unknown;
  };
}

/** The checks, by the subject that they examine. */
const groups: readonly (readonly [ExamMember, Checks])[] = [
  ["adapter", adapterChecks as unknown as Checks],
  ["transaction", transactionChecks],
  ["probe", probeChecks],
  ["refused", refusedChecks],
  ["cut", cutChecks],
  ["save", { ...paymentChecks, ...reportChecks, ...attemptChecks, ...webhookChecks }],
  ["lock", lockChecks],
  ["registerHandlers", expansionChecks],
  ["claim", { ...claimChecks, ...leaseChecks }],
  ["settle", settlementChecks],
  ["rematchable", rematchableChecks],
  ["stray", strayChecks],
  ["renew", renewalChecks],
  ["due", overdueChecks],
  ["lookupDue", lookupDueChecks],
  ["record", recordChecks],
  ["list", listChecks],
  ["history", historyChecks],
  ["dead", deadChecks],
  ["prune", pruneChecks],
  ["retire", retireChecks],
  ["migrate", migrateChecks],
  ["identify", identifyChecks],
  ["handlers", handlerChecks],
  ["notes", noteChecks],
  ["list", needChecks],
];
const checks = groups.flatMap(([member, group]) =>
  Object.entries(group).map(([sentence, run]) => [sentence, run, member] as const),
);

/**
 * Registers the tests that every {@link PaymentStore} must pass: contract, isolation, uniqueness, leases and
 * races. The tests need no particular test runner. A failed test shows the line of the contract and the last
 * calls. Leases are as short as 50 ms, by the store's own clock. Allow each test ten seconds.
 *
 * @example
 * ```ts
 * testStore({ name: "my store", create: async () => new MyStore(await emptyDatabase()), test: it });
 * ```
 */
export function testStore<Tx>(options: StoreExamOptions<Tx>): void {
  expectCreate("testStore", options);
  const { name = "store", test } = options;
  const told = new Set<string>();
  let adapterFails = false;
  for (const one of checks) {
    const title = `${name}: ${one[0]}`;
    const run = async (...context: unknown[]): Promise<void> => {
      if (adapterFails && one[2] !== "adapter")
        throw new Error("Not examined, because checks of the adapter failed.");
      const result = await runCheck(one, options);
      adapterFails ||= one[2] === "adapter" && result.outcome === "failed";
      if (result.outcome === "failed") throw new Error(describeFailure(result), { cause: result.error });
      if (result.outcome === "left out") leaveOut(result, told, name, context[0]);
    };
    test(title, run);
  }
}

/**
 * Reports a check whose probe is missing. If the test's context has a `skip`, as in node:test, skips the
 * check. Otherwise prints this to the console, once for each missing part.
 */
function leaveOut({ member, reason }: CheckResult, told: Set<string>, name: string, context: unknown): void {
  const said = `The ${member === "probe" ? "exam" : "probe"} has no ${member}: ${reason}`;
  const { skip } = Object(context) as { skip?: (reason: string) => void };
  if (skip) skip.call(context, said);
  else if (member !== "adapter" && told.size < told.add(member).size)
    console.warn(`${name}: left out. ${said}`);
}

/** Returns the sentence that is false, the reason, the line of the contract, and the last calls. */
export function describeFailure({ check, member, reason, contract, calls = [] }: CheckResult): string {
  const lines = [`This does not hold: ${check}.`, `Why: ${reason}`];
  if (contract !== undefined) lines.push(`Contract, ${member}: ${contract}`);
  return [...lines, ...(calls.length > 0 ? ["Calls:"] : []), ...calls.map((call) => `  ${call}`)].join("\n");
}

/** Returns whether the exam examines this subject only with a probe. */
export function isProbePart(member: ExamMember): member is ProbePart {
  return member === "probe" || member === "refused" || member === "cut";
}

const adapterCount = Object.keys(adapterChecks).length;

/**
 * Runs every check without a test runner, one after the other. Calls `onResult` after each, with the number
 * of all checks. Stops if further checks would be meaningless: after failed checks of the adapter, or if no
 * check can begin. Also stops after a check that hangs, because this check could change the tables of the
 * next checks.
 */
export async function examineStore<Tx>(
  exam: StoreExam<Tx>,
  onResult: (result: CheckResult, count: number) => void = () => {},
): Promise<CheckResult[]> {
  expectCreate("examineStore", exam);
  const uncaught: string[] = [];
  const noteRejection = (error: unknown): void => void uncaught.push(unawaited(error));
  const noteError = (error: unknown): void => void uncaught.push(unheard(error));
  // Without a listener, such a rejection or event would end the process without a result.
  process.on("unhandledRejection", noteRejection);
  process.on("uncaughtException", noteError);
  try {
    return await runChecks(exam, onResult, uncaught);
  } finally {
    process.off("unhandledRejection", noteRejection);
    process.off("uncaughtException", noteError);
  }
}

const unawaited = (error: unknown): string =>
  `A promise rejected that nothing awaited${because(error)} Await run(tx) and each statement, before the transaction ends.`;
const unheard = (error: unknown): string =>
  `An error was thrown outside of every call, which ends a process${because(error)} Listen to the event "error" of each pool and each connection.`;

async function runChecks<Tx>(
  exam: StoreExam<Tx>,
  onResult: (result: CheckResult, count: number) => void,
  uncaught: string[],
): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  const lacking = new Set<ExamMember>();
  for (const one of checks) {
    const [check, , member] = one;
    let hangs = false;
    const missing = without[member as keyof typeof without];
    const result: CheckResult = lacking.has(member)
      ? { check, member, outcome: "left out", reason: missing }
      : withUncaught(await runInTime(one, exam, () => (hangs = true)), uncaught.splice(0));
    if (result.outcome === "left out" && (member === "adapter" || isProbePart(member))) lacking.add(member);
    if (member === "adapter" && lacking.has(member)) continue;
    const isDefective = member !== "adapter" && results.some(isAdapterFailed);
    const first = results.length === 1 ? firstFailure(results[0]!) : undefined;
    if (isDefective || (first !== undefined && first === firstFailure(result))) break;
    results.push(result);
    onResult(result, lacking.has("adapter") ? checks.length - adapterCount : checks.length);
    if (hangs) break;
  }
  return results;
}

function expectCreate(name: string, exam: unknown): void {
  const { create } = Object(exam) as { create?: unknown };
  if (typeof create !== "function") throw optionInvalid(name, "takes { create }, which makes a store.");
}

/** Runs one check. If its calls no longer end, it has failed, and continues in the background. */
async function runInTime<Tx>(
  one: (typeof checks)[number],
  { timeoutMs = 180_000, ...factory }: StoreExam<Tx>,
  onHanging: () => void,
): Promise<CheckResult> {
  const [watch, timer] = [new CallWatch(), new AbortController()];
  const hanging = async (): Promise<CheckResult> => {
    await watch.stands(timeoutMs, timer.signal);
    onHanging();
    const [check, , member] = one;
    const reason = `No call ended for ${timeoutMs / 1000} s. ${watch.describe()}`;
    return { check, member, outcome: "failed", reason, calls: watch.calls.slice(-maxCalls) };
  };
  const result = await Promise.race([runCheck(one, factory, watch), hanging()]);
  timer.abort();
  // Node reports a rejection that nothing awaited only when the present iteration ends.
  await nextIteration();
  return result;
}

/** Returns the result as failed if there were errors outside of the calls. Its reason names the first one. */
function withUncaught(result: CheckResult, [first]: readonly string[]): CheckResult {
  if (first === undefined) return result;
  const reason = result.outcome === "failed" ? `${first} ${result.reason}` : first;
  return { ...result, outcome: "failed", reason };
}

const isAdapterFailed = ({ member, outcome }: CheckResult): boolean =>
  member === "adapter" && outcome === "failed";

/** Returns the reason of a check that failed at its first call or before, otherwise `undefined`. */
function firstFailure({ outcome, calls = [], reason }: CheckResult): string | undefined {
  if (outcome !== "failed" || calls.length > 1) return undefined;
  return calls.length === 0 ? reason : calls[0]!.split("→ rejects: ", 2)[1];
}

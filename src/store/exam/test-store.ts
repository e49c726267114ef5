import { setTimeout as delay } from "node:timers/promises";
import { claimChecks } from "./checks/claims.js";
import { expansionChecks } from "./checks/expansion.js";
import { deadChecks, historyChecks } from "./checks/history.js";
import { leaseChecks, renewalChecks } from "./checks/leases.js";
import { lockChecks } from "./checks/locks.js";
import { listChecks, lookupDueChecks, overdueChecks } from "./checks/payment-queries.js";
import { attemptChecks, paymentChecks, reportChecks } from "./checks/payments.js";
import { migrateChecks } from "./checks/migrate.js";
import { pruneChecks, retireChecks } from "./checks/prune.js";
import { recordChecks } from "./checks/record.js";
import { settlementChecks } from "./checks/settlements.js";
import { type Checks } from "./checks/steps.js";
import { strayChecks } from "./checks/stray.js";
import { transactionChecks } from "./checks/transactions.js";
import { parkedChecks, webhookChecks } from "./checks/webhooks.js";
import { importantMembers, withoutMember } from "../optional-members.js";
import { type CheckResult, type ExamMember, runCheck, type StoreFactory } from "./run-check.js";

/** The members that a store may leave out, and `reports`. Each is examined unless it is `false` here. */
export type StoreCapabilities = Partial<Record<keyof typeof withoutMember, boolean>>;

/** What the exam needs to know of a store. */
export interface StoreExam<Tx> extends StoreFactory<Tx> {
  /** @default every member that the store has is examined */
  capabilities?: StoreCapabilities | undefined;
}

/** What the exam needs to know of a store and of the test runner. */
export interface StoreExamOptions<Tx> extends StoreExam<Tx> {
  /**
   * Put in front of each test's name.
   *
   * @default "store"
   */
  name?: string;
  /** Registers one test with the runner: jest's `it`, or `test` of node:test. Its `skip` registers what is left out. */
  test: {
    (name: string, run: () => Promise<void>): unknown;
    skip?: (name: string, run: () => Promise<void>) => unknown;
  };
}

/** The checks by the member of the contract that they are about. */
const groups: readonly (readonly [ExamMember, Checks])[] = [
  ["transaction", transactionChecks],
  ["save", { ...paymentChecks, ...attemptChecks, ...webhookChecks }],
  ["lock", lockChecks],
  ["registerHandlers", expansionChecks],
  ["claim", { ...claimChecks, ...leaseChecks }],
  ["settle", settlementChecks],
  ["reports", reportChecks],
  ["parked", parkedChecks],
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
];
const checks = groups.flatMap(([member, group]) =>
  Object.entries(group).map(([sentence, run]) => [sentence, run, member] as const),
);

/**
 * Registers the tests that every {@link PaymentStore} must pass: contract, isolation, uniqueness, leases and races. They
 * need no particular test runner. A failed test has the line of the contract and the calls that led there. Leases are as short as 50 ms, by the store's own clock;
 * allow each test ten seconds.
 *
 * @example
 * ```ts
 * testStore({ name: "my store", create: async () => new MyStore(await emptyDatabase()), test: it });
 * ```
 */
export function testStore<Tx>(options: StoreExamOptions<Tx>): void {
  const { name = "store", test, capabilities } = options;
  const told = new Set<string>();
  for (const one of checks) {
    const title = `${name}: ${one[0]}`;
    const run = async (...context: unknown[]): Promise<void> => {
      const result = await runCheck(one, options);
      if (result.outcome === "failed") throw new Error(describeFailure(result), { cause: result.error });
      if (result.outcome === "left out") leaveOut(result, told, name, context[0]);
    };
    if (isLeftOut(one[2], capabilities)) test.skip?.(title, run);
    else test(title, run);
  }
}

/** Reports a missing member: as skipped where the runner gives its tests a `skip`, as node:test does, otherwise once on the console. */
function leaveOut({ member, reason }: CheckResult, told: Set<string>, name: string, context: unknown): void {
  const said = `The store has no ${member}: ${reason}`;
  if (importantMembers.some((one) => one === member))
    throw new Error(`${said} Write it, or give capabilities: { ${member}: false }.`);
  const { skip } = Object(context) as { skip?: (reason: string) => void };
  if (skip) skip.call(context, said);
  else if (told.size < told.add(member).size) console.warn(`${name}: left out. ${said}`);
}

function isLeftOut(member: ExamMember, capabilities: StoreCapabilities = {}): boolean {
  return (capabilities as Partial<Record<string, boolean>>)[member] === false;
}

/** Returns the sentence that does not hold, why, the line of the contract, and the calls that led there. */
export function describeFailure({ check, member, reason, contract, calls = [] }: CheckResult): string {
  const lines = [`This does not hold: ${check}.`, `Why: ${reason}`];
  if (contract !== undefined) lines.push(`Contract, ${member}: ${contract}`);
  return [...lines, ...(calls.length > 0 ? ["Calls:"] : []), ...calls.map((call) => `  ${call}`)].join("\n");
}

const timeoutMs = 20_000;

/** Runs every check outside of a test runner, one after the other. Calls `onResult` after each, with the number of all. */
export async function examineStore<Tx>(
  exam: StoreExam<Tx>,
  onResult: (result: CheckResult, count: number) => void = () => {},
): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for (const one of checks) {
    const [check, , member] = one;
    const timer = new AbortController();
    const late: CheckResult = {
      check,
      member,
      outcome: "failed",
      reason: `It took longer than ${timeoutMs / 1000} s.`,
    };
    const missing = withoutMember[member as keyof typeof withoutMember];
    const result = isLeftOut(member, exam.capabilities)
      ? ({ check, member, outcome: "left out", reason: missing } satisfies CheckResult)
      : await Promise.race([runCheck(one, exam), delay(timeoutMs, late, timer).catch(() => late)]);
    timer.abort();
    results.push(result);
    onResult(result, checks.length);
  }
  return results;
}

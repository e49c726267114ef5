import { type StoreCapabilities } from "./capabilities.js";
import { type PaymentStore } from "../payment-store.js";
import { claimChecks } from "./checks/claims.js";
import { dueChecks } from "./checks/due.js";
import { deadChecks } from "./checks/dead.js";
import { type Exam } from "./checks/exam.js";
import { expansionChecks } from "./checks/expansion.js";
import { findManyChecks } from "./checks/find-many.js";
import { historyChecks } from "./checks/history.js";
import { keepingChecks } from "./checks/keeping.js";
import { leaseChecks } from "./checks/leases.js";
import { listChecks } from "./checks/list.js";
import { lockChecks } from "./checks/locks.js";
import { paymentChecks } from "./checks/payments.js";
import { recordChecks } from "./checks/record.js";
import { settleChecks } from "./checks/settlements.js";
import { strayChecks } from "./checks/stray.js";
import { transactionChecks } from "./checks/transactions.js";
import { webhookChecks } from "./checks/webhooks.js";

/** What the exam needs to know of a store and of the test runner. */
export interface StoreExamOptions<Tx> {
  /**
   * Put in front of each test's name.
   *
   * @default "store"
   */
  name?: string;
  /** Makes a store over an empty database of its own. Called once per test. */
  create: () => Promise<PaymentStore<Tx>>;
  /**
   * A second store over the data of the first, as another process would have it. Left out, one store plays both parts, which
   * proves less.
   */
  reopen?: (store: PaymentStore<Tx>) => Promise<PaymentStore<Tx>>;
  /** Called after each test, when its stores are closed, to remove the database. */
  remove?: (store: PaymentStore<Tx>) => Promise<void>;
  /** Registers one test with the runner: jest's `it`, or `test` of node:test. */
  test: (name: string, run: () => Promise<void>) => void;
  capabilities?: StoreCapabilities;
}

/**
 * The exam that every {@link PaymentStore} must pass: contract, isolation, uniqueness, leases and races. It asserts with
 * `node:assert` and needs no particular test runner. Leases are as short as 100 ms, by the store's own clock; allow
 * each test five seconds.
 *
 * @example
 * ```ts
 * testStore({ name: "my store", create: async () => new MyStore(await emptyDatabase()), test: it });
 * ```
 */
export function testStore<Tx>(options: StoreExamOptions<Tx>): void {
  const exam = examOf(options);
  transactionChecks(exam);
  paymentChecks(exam);
  webhookChecks(exam);
  lockChecks(exam);
  recordChecks(exam);
  expansionChecks(exam);
  claimChecks(exam);
  leaseChecks(exam);
  settleChecks(exam);
  dueChecks(exam);
  keepingChecks(exam);
  strayChecks(exam);
  findManyChecks(exam);
  listChecks(exam);
  historyChecks(exam);
  deadChecks(exam);
}

function examOf<Tx>(options: StoreExamOptions<Tx>): Exam<Tx> {
  const { name = "store", create, reopen, remove, test, capabilities = {} } = options;
  return {
    has: (capability) => capabilities[capability] ?? true,
    check: (sentence, run) =>
      test(`${name}: ${sentence}`, async () => {
        const store = await create();
        const another = reopen ? await reopen(store) : store;
        try {
          await run(store, another);
        } finally {
          if (another !== store) await another.close?.();
          await store.close?.();
          await remove?.(store);
        }
      }),
  };
}

import { type PaymentStore } from "../store/payment-store.js";
import { claimChecks } from "./exam/claims.js";
import { dueChecks } from "./exam/due.js";
import { deadChecks } from "./exam/dead.js";
import { type Exam } from "./exam/exam.js";
import { expansionChecks } from "./exam/expansion.js";
import { findManyChecks } from "./exam/find-many.js";
import { historyChecks } from "./exam/history.js";
import { keepingChecks } from "./exam/keeping.js";
import { leaseChecks } from "./exam/leases.js";
import { listChecks } from "./exam/list.js";
import { lockChecks } from "./exam/locks.js";
import { paymentChecks } from "./exam/payments.js";
import { recordChecks } from "./exam/record.js";
import { settleChecks } from "./exam/settlements.js";
import { strayChecks } from "./exam/stray.js";
import { transactionChecks } from "./exam/transactions.js";
import { webhookChecks } from "./exam/webhooks.js";

/** The recommended parts of the contract; each is examined unless it is switched off here. */
export interface StoreCapabilities {
  /** @default true */
  parked?: boolean;
  /** @default true */
  renew?: boolean;
  /** @default true */
  due?: boolean;
  /** @default true */
  stray?: boolean;
  /** @default true */
  lookupDue?: boolean;
}

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

import { type PaymentStore, type RecommendedStore } from "../payment-store.js";
import { claimChecks } from "./checks/claims.js";
import { expansionChecks } from "./checks/expansion.js";
import { deadChecks, historyChecks } from "./checks/history.js";
import { leaseChecks, renewalChecks } from "./checks/leases.js";
import { lockChecks } from "./checks/locks.js";
import { listChecks, lookupDueChecks, overdueChecks } from "./checks/payment-queries.js";
import { attemptChecks, paymentChecks } from "./checks/payments.js";
import { pruneChecks, retireChecks } from "./checks/prune.js";
import { recordChecks } from "./checks/record.js";
import { settlementChecks } from "./checks/settlements.js";
import { type Checks } from "./checks/steps.js";
import { strayChecks } from "./checks/stray.js";
import { transactionChecks } from "./checks/transactions.js";
import { parkedChecks, webhookChecks } from "./checks/webhooks.js";

/** The recommended members of the contract. Each is examined unless it is `false` here. */
export type StoreCapabilities = Partial<Record<keyof RecommendedStore, boolean>>;

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
   * Makes a second store over the data of the first, as another process would have it. Without it one store plays both
   * parts, which proves less.
   */
  reopen?: (store: PaymentStore<Tx>) => Promise<PaymentStore<Tx>>;
  /** Removes the database. Called after each test, when its stores are closed. */
  remove?: (store: PaymentStore<Tx>) => Promise<void>;
  /** Registers one test with the runner: jest's `it`, or `test` of node:test. */
  test: (name: string, run: () => Promise<void>) => void;
  /** @default every recommended member is examined */
  capabilities?: StoreCapabilities;
}

const required: readonly Checks[] = [
  transactionChecks,
  paymentChecks,
  attemptChecks,
  webhookChecks,
  lockChecks,
  expansionChecks,
  claimChecks,
  leaseChecks,
  settlementChecks,
];

const recommended: Readonly<Record<keyof RecommendedStore, Checks>> = {
  parked: parkedChecks,
  stray: strayChecks,
  renew: renewalChecks,
  due: overdueChecks,
  lookupDue: lookupDueChecks,
};

/** Each of these checks passes where the store lacks the member. */
const optional: readonly Checks[] = [
  recordChecks,
  listChecks,
  historyChecks,
  deadChecks,
  pruneChecks,
  retireChecks,
];

/**
 * Registers the tests that every {@link PaymentStore} must pass: contract, isolation, uniqueness, leases and races. They
 * assert with `node:assert` and need no particular test runner. Leases are as short as 50 ms, by the store's own clock;
 * allow each test ten seconds.
 *
 * @example
 * ```ts
 * testStore({ name: "my store", create: async () => new MyStore(await emptyDatabase()), test: it });
 * ```
 */
export function testStore<Tx>(options: StoreExamOptions<Tx>): void {
  const { name = "store", create, reopen, remove, test, capabilities = {} } = options;
  const members = Object.keys(recommended) as (keyof RecommendedStore)[];
  const wanted = members.filter((member) => capabilities[member] ?? true);
  const checks = [...required, ...wanted.map((member) => recommended[member]), ...optional];
  for (const [sentence, run] of checks.flatMap(Object.entries<Checks[string]>)) {
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
    });
  }
}

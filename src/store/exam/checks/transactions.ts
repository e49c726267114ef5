import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { type Payment } from "../../../model/payment.js";
import { type PaymentStore } from "../../contract.js";
import { payment } from "./fixtures.js";
import {
  type Checks,
  concurrently,
  deferred,
  expectAllMade,
  expectRolledBack,
  same,
  saved,
} from "./steps.js";

/** Checks of commits, rollbacks and locks of transactions, and of `find`. */
export const transactionChecks: Checks = {
  async "a transaction returns the result of its run, and others see its writes"(store, another) {
    const result = await store.transaction(async (tx) => {
      await store.save(tx, { created: [payment("p1")] });
      return 42;
    });
    assert.equal(result, 42);
    same(await another.find("p1"), payment("p1"));
  },

  async "a transaction that throws is rolled back and rejects with the same error"(store, another) {
    const error = new Error("no");
    const run = store.transaction(async (tx) => {
      await store.save(tx, { created: [payment("p1")] });
      throw error;
    });
    await assert.rejects(run, (got) => got === error);
    assert.equal(await another.find("p1"), undefined);
    same(await saved(store, { created: [payment("p1")] }), { takenClientIds: [], takenEventKeys: [] });
  },

  async "find does not see what is not committed, and does not wait for it"(store, another) {
    await saved(store, { created: [payment("p1")] });
    await store.transaction(async (tx) => {
      await store.lock(tx, { clientIds: ["p1"] });
      await store.save(tx, { updated: [payment("p1", { status: "submitted" })], created: [payment("p2")] });
      same(await another.find("p1"), payment("p1"));
      assert.equal(await another.find("p2"), undefined);
      same(await store.find("p1"), payment("p1"));
    });
    assert.equal((await store.find("p1"))?.status, "submitted");
  },

  async "find returns undefined for a payment that is not stored"(store) {
    assert.equal(await store.find("p1"), undefined);
  },

  async "concurrent changes of one payment lose nothing"(store, another) {
    await saved(store, { created: [payment("p1", { status: "0" })] });
    await concurrently(20, [store, another], (mine) =>
      mine.transaction(async (tx) => {
        const { payments } = await mine.lock(tx, { clientIds: ["p1"] });
        const found = payments[0]!;
        await mine.save(tx, { updated: [{ ...found, status: String(Number(found.status) + 1) }] });
      }),
    );
    expectAllMade((await store.find("p1"))?.status, 20);
  },

  async "of several changes of one payment in one transaction the last one counts, and a rollback undoes all"(
    store,
    another,
  ) {
    const [first, second, third] = ["first", "second", "third"].map((status) => payment("p1", { status }));
    await saved(store, { created: [first!] });
    const change = (steps: readonly Payment[], fail = async () => {}) =>
      store.transaction(async (tx) => {
        await store.lock(tx, { clientIds: ["p1"] });
        for (const updated of steps) await store.save(tx, { updated: [updated] });
        await fail();
      });
    await change([second!, first!]);
    same(await another.find("p1"), first);
    await change([second!, third!]);
    same(await another.find("p1"), third);
    await expectRolledBack(change([second!, first!], () => Promise.reject(new Error("no"))));
    same(await another.find("p1"), third);
  },

  async "two transactions that change one payment run one after the other, or as if they did"(
    store,
    another,
  ) {
    await saved(store, { created: [payment("p1", { status: "" })] });
    const locked = deferred();
    const released = deferred();
    const change = (mine: PaymentStore, by: string, meanwhile: () => Promise<void>) =>
      mine.transaction(async (tx) => {
        const { payments } = await mine.lock(tx, { references: ["order-of-p1"] });
        await meanwhile();
        await mine.save(tx, { updated: [payment("p1", { status: `${payments[0]!.status} ${by}` })] });
      });
    const first = change(store, "first", async () => {
      locked.resolve();
      await released.promise;
    });
    await locked.promise;
    const second = change(another, "second", async () => {});
    // The delay gives the second transaction time to do something wrong.
    await delay(50);
    released.resolve();
    await Promise.all([first, second]);
    const status = (await store.find("p1"))?.status ?? "";
    assert.ok([" first second", " second first"].includes(status), `a change was lost:${status}`);
  },
};

/** Checks of `migrate`. */
export const migrateChecks: Checks = {
  async "migrate makes the tables once, when several processes call it at the same time and again"(
    store,
    another,
  ) {
    await Promise.all([store, another, store, another].map((each) => each.migrate()));
    await saved(store, { created: [payment("p1")] });
    await another.migrate();
    same(await another.find("p1"), payment("p1"));
  },
};

/** Checks of `identify`. */
export const identifyChecks: Checks = {
  async "identify returns one id, and keeps it, for every process"(store, another) {
    const [first, second] = await Promise.all([store.identify("id-1"), another.identify("id-2")]);
    assert.ok(typeof first === "string" && first !== "", "identify returned no id");
    same([second, await store.identify("id-3"), await another.identify("id-4")], [first, first, first]);
  },
};

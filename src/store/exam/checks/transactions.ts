import assert from "node:assert/strict";
import { aWhile, type Exam, saved, signal } from "./exam.js";
import { payment } from "./fixtures.js";
import { same } from "./same.js";

export function transactionChecks<Tx>({ check }: Exam<Tx>): void {
  check("a transaction answers what it ran, and its writes are there for others", async (store, another) => {
    const answer = await store.transaction(async (tx) => {
      await store.save(tx, { created: [payment("p1")] });
      return 42;
    });
    assert.equal(answer, 42);
    same(await another.find("p1"), payment("p1"));
  });

  check(
    "a transaction that throws is rolled back and rejects with the same error",
    async (store, another) => {
      const error = new Error("no");
      const run = store.transaction(async (tx) => {
        await store.save(tx, { created: [payment("p1")] });
        throw error;
      });
      await assert.rejects(run, (got) => got === error);
      assert.equal(await another.find("p1"), undefined);
      same(await saved(store, { created: [payment("p1")] }), {
        takenClientIds: [],
        takenEventKeys: [],
      });
    },
  );

  check("find does not see what is not committed, and does not wait for it", async (store, another) => {
    await saved(store, { created: [payment("p1")] });
    await store.transaction(async (tx) => {
      await store.lock(tx, { clientIds: ["p1"] });
      await store.save(tx, { updated: [payment("p1", { status: "submitted" })], created: [payment("p2")] });
      same(await another.find("p1"), payment("p1"));
      assert.equal(await another.find("p2"), undefined);
      same(await store.find("p1"), payment("p1"));
    });
    assert.equal((await store.find("p1"))?.status, "submitted");
  });

  check("find answers undefined for a payment that is not there", async (store) => {
    assert.equal(await store.find("p1"), undefined);
  });

  check("concurrent changes of one payment lose nothing", async (store, another) => {
    await saved(store, { created: [payment("p1", { status: "0" })] });
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => {
        const mine = index % 2 === 0 ? store : another;
        return mine.transaction(async (tx) => {
          const { payments } = await mine.lock(tx, { clientIds: ["p1"] });
          const found = payments[0]!;
          await mine.save(tx, { updated: [{ ...found, status: String(Number(found.status) + 1) }] });
        });
      }),
    );
    assert.equal((await store.find("p1"))?.status, "20");
  });

  check("two transactions that lock one payment run one after the other", async (store, another) => {
    await saved(store, { created: [payment("p1")] });
    const locked = signal();
    const release = signal();
    const order: string[] = [];
    const first = store.transaction(async (tx) => {
      await store.lock(tx, { clientIds: ["p1"] });
      locked.give();
      await release.given;
      order.push("first");
      await store.save(tx, { updated: [payment("p1", { status: "by first" })] });
    });
    await locked.given;
    const second = another.transaction(async (tx) => {
      const { payments } = await another.lock(tx, { references: ["order-of-p1"] });
      order.push("second");
      return payments[0]?.status;
    });
    await aWhile();
    release.give();
    await first;
    assert.equal(await second, "by first");
    same(order, ["first", "second"]);
  });
}

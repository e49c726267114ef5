import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { event, payment } from "./fixtures.js";
import { type Checks, same, saved } from "./steps.js";

/** The application's own writes, which the store cannot see. */
export const probeChecks: Checks = {
  async "a write of the application commits with its transaction"(store, _, probe) {
    const [key, alone] = [randomUUID(), randomUUID()];
    assert.equal(await probe.has(key), false);
    await store.transaction(async (tx) => {
      await store.save(tx, { created: [payment("p1")] });
      await probe.write(tx, key);
    });
    await store.transaction(async (tx) => void (await probe.write(tx, alone)));
    same([await probe.has(key), await probe.has(alone)], [true, true]);
  },

  async "a write of the application is rolled back where its transaction rejects"(store, _, probe) {
    await saved(store, { events: [event("e1")] });
    const keys = [randomUUID(), randomUUID()] as const;
    const thrown = store.transaction(async (tx) => {
      await store.save(tx, { created: [payment("p1")] });
      await probe.write(tx, keys[0]);
      throw new Error("no");
    });
    await assert.rejects(thrown, /no/);
    const refused = store.transaction(async (tx) => {
      await probe.write(tx, keys[1]);
      await store.save(tx, { events: [event("e1")] });
    });
    await assert.rejects(refused, { code: "store_conflict" });
    same(await Promise.all(keys.map((key) => probe.has(key))), [false, false]);
  },

  async "a run that meets a conflict rolls back the application's write"(store, another, probe) {
    await saved(store, { created: [payment("p1")] });
    const keys: string[] = [];
    let changing: Promise<unknown> | undefined;
    await store.transaction(async (tx) => {
      keys.push(randomUUID());
      await store.lock(tx, { clientIds: ["p1"] });
      await probe.write(tx, keys.at(-1)!);
      changing ??= another.transaction(async (other) => {
        await another.lock(other, { clientIds: ["p1"] });
        await another.save(other, { updated: [payment("p1", { status: "changed" })] });
      });
      // A store that locks lets the other one wait.
      await Promise.race([changing, delay(100)]);
      await store.save(tx, { updated: [payment("p1", { status: "completed" })] });
    });
    await changing;
    const committed = await Promise.all(keys.map((key) => probe.has(key)));
    same(committed.indexOf(true), keys.length - 1);
  },
};

import assert from "node:assert/strict";
import { type WebhookRecord } from "../../contract.js";
import { payment, webhook } from "./fixtures.js";
import { type Checks, concurrently, recorded, rolledBack, same, saved, savedInPieces } from "./steps.js";

/** The maximum number of webhooks that the kit stores in one call. */
const maxGroup = 100;

/** Checks of webhooks, each of which is stored once. */
export const webhookChecks: Checks = {
  async "an eventKey is stored once; the clash is reported and its neighbours are stored"(store, another) {
    await saved(store, { webhooks: [webhook("k2")] });
    const { takenEventKeys } = await saved(another, {
      webhooks: [webhook("k1"), webhook("k2", { receiptId: "other" }), webhook("k3")],
    });
    same(takenEventKeys, ["k2"]);
    same(await recorded(store, ["k1", "k2", "k3", "k4"]), ["k1", "k2", "k3"]);
  },

  async "a second record of one arrival stores nothing and is reported"(store) {
    await saved(store, { webhooks: [webhook("k1", { receiptId: "r1" })] });
    const again = await saved(store, { webhooks: [webhook("k1", { receiptId: "r1" })] });
    same(again.takenEventKeys, ["k1"]);
    const otherKey = await saved(store, { webhooks: [webhook("k2", { receiptId: "r1" })] });
    same(otherKey.takenEventKeys, ["k2"]);
    same(await recorded(store, ["k1", "k2"]), ["k1"]);
  },

  async "two copies in one call store one"(store) {
    const { takenEventKeys } = await saved(store, {
      webhooks: [webhook("k1", { receiptId: "r1" }), webhook("k1", { receiptId: "r2" })],
    });
    same(takenEventKeys, ["k1"]);
  },

  async "of a hundred concurrent copies one is stored, and every other one is reported"(store, another) {
    const answers = await concurrently(100, [store, another], (mine, index) =>
      saved(mine, { webhooks: [webhook("k1", { receiptId: `r${index}` })] }),
    );
    assert.equal(answers.filter(({ takenEventKeys }) => takenEventKeys.length === 0).length, 1);
    assert.equal(answers.filter(({ takenEventKeys }) => takenEventKeys[0] === "k1").length, 99);
  },

  async "a webhook that is rolled back is not stored, and can be saved again"(store) {
    await rolledBack(store, { webhooks: [webhook("k1")] });
    same(await recorded(store, ["k1"]), []);
    same((await saved(store, { webhooks: [webhook("k1")] })).takenEventKeys, []);
  },

  async "copies of known and of unknown webhooks are counted without an error"(store) {
    await saved(store, { webhooks: [webhook("k1"), webhook("k2")] });
    const copies = [
      { eventKey: "k1", count: 3 },
      { eventKey: "k2", count: 1 },
      { eventKey: "k1", count: 2 },
      { eventKey: "never seen", count: 1 },
    ];
    same(await saved(store, { copies }), { takenClientIds: [], takenEventKeys: [] });
    same(await recorded(store, ["k1", "never seen"]), ["k1"]);
  },

  async "a large group of webhooks is stored in one call"(store) {
    const keys = Array.from(
      { length: Math.min(store.maxGroup ?? maxGroup, maxGroup) },
      (_, index) => `k${index}`,
    );
    const known = [keys[0]!, keys.at(-1)!].toSorted();
    await savedInPieces(
      store,
      "webhooks",
      known.map((key) => webhook(key)),
    );
    const { takenEventKeys } = await saved(store, {
      webhooks: keys.map((key) => webhook(key, { receiptId: `second-${key}` })),
    });
    same(takenEventKeys.toSorted(), known);
    assert.equal((await recorded(store, keys)).length, keys.length);
  },
};

/** Checks of `rematchable`. */
export const rematchableChecks: Checks = {
  async "parked webhooks are found by clientId, oldest first, with their exact bytes"(store) {
    const everyByte = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    const first = parked("k2", "p1", {
      rawBody: everyByte,
      covers: ["id", "total.value", "status"],
      status: "completed",
      reason: "no such payment: é",
    });
    const second = parked("k1", "p1", { outcome: "foreign", rawBody: Buffer.alloc(64 * 1024, 0xff) });
    await saved(store, { webhooks: [first] });
    await saved(store, { webhooks: [parked("k3", "p2"), webhook("k4", { clientId: "p1" })] });
    await saved(store, { webhooks: [second, parked("k5", "P1")] });
    const found = await store.transaction((tx) => store.rematchable(tx, ["p1", "nobody"]));
    same(found, [first, second]);
    assert.ok(found.every(({ rawBody }) => Buffer.isBuffer(rawBody)));
    same(await store.transaction((tx) => store.rematchable(tx, [])), []);
  },

  async "a rematched webhook is no longer parked"(store) {
    const keysParked = async (tx: unknown): Promise<string[]> =>
      (await store.rematchable(tx, ["p1"])).map(({ eventKey }) => eventKey);
    await saved(store, { created: [payment("p1")], webhooks: [parked("k1", "p1"), parked("k2", "p1")] });
    await store.transaction(async (tx) => {
      const [one] = await store.rematchable(tx, ["p1"]);
      await store.save(tx, { rematched: [{ receiptId: one!.receiptId, outcome: "applied" }] });
      same(await keysParked(tx), ["k2"]);
    });
    same(await store.transaction(keysParked), ["k2"]);
    await saved(store, {
      rematched: [
        { receiptId: "receipt-of-k2", outcome: "stale", reason: "completed before" },
        { receiptId: "never seen", outcome: "applied" },
      ],
    });
    same(await store.transaction(keysParked), []);
    same(await recorded(store, ["k1", "k2"]), ["k1", "k2"]);
  },
};

function parked(eventKey: string, clientId: string, over: Partial<WebhookRecord> = {}): WebhookRecord {
  return webhook(eventKey, { outcome: "unmatched", clientId, ...over });
}

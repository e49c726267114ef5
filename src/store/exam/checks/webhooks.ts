import assert from "node:assert/strict";
import { type WebhookRecord } from "../../payment-store.js";
import { type Exam, saved } from "./exam.js";
import { payment, webhook } from "./fixtures.js";
import { same } from "./same.js";

export function webhookChecks<Tx>({ check, has }: Exam<Tx>): void {
  check(
    "an eventKey is stored once; the clash is reported while its neighbours stay",
    async (store, another) => {
      await saved(store, { webhooks: [webhook("k2")] });
      const answer = await saved(another, {
        webhooks: [webhook("k1"), webhook("k2", { receiptId: "other" }), webhook("k3")],
      });
      same(answer.takenEventKeys, ["k2"]);
      same(await recorded(store, ["k1", "k2", "k3", "k4"]), ["k1", "k2", "k3"]);
    },
  );

  check("a second record of one arrival stores nothing and is reported", async (store) => {
    await saved(store, { webhooks: [webhook("k1", { receiptId: "r1" })] });
    const again = await saved(store, { webhooks: [webhook("k1", { receiptId: "r1" })] });
    same(again.takenEventKeys, ["k1"]);
    const otherKey = await saved(store, { webhooks: [webhook("k2", { receiptId: "r1" })] });
    same(otherKey.takenEventKeys, ["k2"]);
    same(await recorded(store, ["k1", "k2"]), ["k1"]);
  });

  check("two copies in one call store one", async (store) => {
    const { takenEventKeys } = await saved(store, {
      webhooks: [webhook("k1", { receiptId: "r1" }), webhook("k1", { receiptId: "r2" })],
    });
    same(takenEventKeys, ["k1"]);
  });

  check("a hundred copies at once: one is stored, and every other one is told so", async (store, another) => {
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        saved(index % 2 === 0 ? store : another, {
          webhooks: [webhook("k1", { receiptId: `r${index}` })],
        }),
      ),
    );
    assert.equal(answers.filter(({ takenEventKeys }) => takenEventKeys.length === 0).length, 1);
    assert.equal(answers.filter(({ takenEventKeys }) => takenEventKeys[0] === "k1").length, 99);
  });

  check("a webhook rolled back is as if it never came", async (store) => {
    const run = store.transaction(async (tx) => {
      await store.save(tx, { webhooks: [webhook("k1")] });
      throw new Error("no");
    });
    await assert.rejects(run, /no/);
    same(await recorded(store, ["k1"]), []);
    same((await saved(store, { webhooks: [webhook("k1")] })).takenEventKeys, []);
  });

  check("copies are counted without complaint, known or not", async (store) => {
    await saved(store, { webhooks: [webhook("k1"), webhook("k2")] });
    const copies = [
      { eventKey: "k1", count: 3 },
      { eventKey: "k2", count: 1 },
      { eventKey: "k1", count: 2 },
      { eventKey: "never seen", count: 1 },
    ];
    const answer = await saved(store, { copies });
    same(answer, { takenClientIds: [], takenEventKeys: [] });
    same(await recorded(store, ["k1", "never seen"]), ["k1"]);
  });

  check("a large group of webhooks is stored in one call", async (store) => {
    const keys = Array.from({ length: 250 }, (_, index) => `k${index}`);
    await saved(store, { webhooks: [webhook("k7"), webhook("k249")] });
    const { takenEventKeys } = await saved(store, {
      webhooks: keys.map((key) => webhook(key, { receiptId: `second-${key}` })),
    });
    same(takenEventKeys.toSorted(), ["k249", "k7"]);
    assert.equal((await recorded(store, keys)).length, 250);
  });

  if (!has("parked")) return;

  check("parked webhooks come back for their payments, oldest first and byte for byte", async (store) => {
    const everyByte = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    const first = parked("k2", "p1", {
      rawBody: everyByte,
      covers: ["id", "total.value", "status"],
      status: "completed",
      reason: "no such payment: é",
    });
    const second = parked("k1", "p1", { rawBody: Buffer.alloc(64 * 1024, 0xff) });
    await saved(store, { webhooks: [first] });
    await saved(store, { webhooks: [parked("k3", "p2"), webhook("k4", { clientId: "p1" })] });
    await saved(store, { webhooks: [second, parked("k5", "P1")] });
    const found = await store.transaction((tx) => store.parked!(tx, ["p1", "nobody"]));
    same(found, [first, second]);
    assert.ok(found.every(({ rawBody }) => Buffer.isBuffer(rawBody)));
    same(await store.transaction((tx) => store.parked!(tx, [])), []);
  });

  check("a rematched webhook is no longer parked", async (store) => {
    await saved(store, { created: [payment("p1")], webhooks: [parked("k1", "p1"), parked("k2", "p1")] });
    await store.transaction(async (tx) => {
      const found = await store.parked!(tx, ["p1"]);
      const [one] = found;
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

    async function keysParked(tx: Tx): Promise<string[]> {
      return (await store.parked!(tx, ["p1"])).map(({ eventKey }) => eventKey);
    }
  });
}

function parked(eventKey: string, clientId: string, over: Partial<WebhookRecord> = {}): WebhookRecord {
  return webhook(eventKey, { outcome: "unmatched", clientId, ...over });
}

async function recorded<Tx>(
  store: Parameters<Parameters<Exam<Tx>["check"]>[1]>[0],
  eventKeys: string[],
): Promise<string[]> {
  const locked = await store.transaction((tx) => store.lock(tx, { eventKeys }));
  return locked.eventKeys.toSorted();
}

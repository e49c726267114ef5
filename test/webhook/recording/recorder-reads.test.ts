import { MemoryStore, type MemoryTx } from "tillkit";
import { indispensableFields } from "../../../src/model/signed-fields.js";
import { readLookup } from "../../../src/webhook/message/read-lookup.js";
import { readMessage } from "../../../src/webhook/message/read-message.js";
import { type Arrival } from "../../../src/webhook/recording/arrival.js";
import { completedBody, pendingPayment } from "../../support/webhooks.js";
import { arrivalOf, ChangedRecord, outcomesOf, recorderOf, seeded } from "./recorders.js";

/** A store in memory that lists how it is read besides its record. */
class CountedStore extends MemoryStore {
  readonly reads: string[] = [];

  override findMany(page: Parameters<MemoryStore["findMany"]>[0]) {
    this.reads.push(`findMany ${String(page.clientIds)}`);
    return super.findMany(page);
  }

  override find(clientId: string) {
    this.reads.push(`find ${clientId}`);
    return super.find(clientId);
  }

  override rematchable(tx: MemoryTx, clientIds: readonly string[]) {
    this.reads.push(`parked ${String(clientIds)}`);
    return super.rematchable(tx, clientIds);
  }
}

/** Returns the answer to a lookup, read as far as the fields are signed. */
function answerOf(data: object = {}, receiptId = "r-9"): Arrival {
  const covers = indispensableFields;
  const rawBody = Buffer.from(JSON.stringify({ ...completedBody().data, ...data }));
  const receivedAt = "2026-11-20T10:00:09.000Z";
  const message = readLookup({ rawBody, covers, clientId: "c-1", receivedAt });
  return { receiptId, rawBody, covers, receivedAt, message, kind: "lookup" };
}

/** Returns a completion of which only the indispensable fields are signed. */
function unconfirmedOf(receiptId = "r-1"): Arrival {
  const covers = indispensableFields;
  const { rawBody, ...arrival } = arrivalOf({}, receiptId);
  return { ...arrival, rawBody, covers, message: readMessage({ rawBody, covers }) };
}

describe("a recorder reads nothing more than the record needs", () => {
  it.each([
    ["where every webhook is this shop's", undefined],
    ["where other shops have other prefixes", "c-"],
  ])("for webhooks of the own shop and their copies, %s", async (_, clientIdPrefix) => {
    const store = await seeded(new CountedStore(), pendingPayment());
    const { recorder } = recorderOf(store, { clientIdPrefix });
    await recorder.record(arrivalOf());
    await recorder.record(arrivalOf({}, "r-2"));
    await recorder.recordAll([arrivalOf({}, "r-3")]);
    await recorder.matched();
    expect(store.reads).toEqual([]);
  });

  it("for a webhook with another prefix whose payment it found, or that names no payment", async () => {
    const store = await seeded(new CountedStore(), pendingPayment());
    const { recorder } = recorderOf(store, { clientIdPrefix: "shop-" });
    expect(await recorder.record(arrivalOf())).toMatchObject({ outcome: "applied" });
    const rawBody = Buffer.from("{");
    const message = readMessage({ rawBody, covers: "body" });
    for (const receiptId of ["r-2", "r-3"])
      await recorder.record({ ...arrivalOf(), receiptId, rawBody, message });
    expect(await outcomesOf(store)).toEqual(["r-1 applied", "r-2 inadmissible"]);
    expect(store.reads).toEqual([]);
  });

  it("than one look for the payment of foreign webhooks, however many name it, and none for what waits", async () => {
    const store = await seeded(new CountedStore());
    const { recorder } = recorderOf(store, { clientIdPrefix: "shop-" });
    await recorder.recordAll([arrivalOf(), arrivalOf({}, "r-2")]);
    expect(store.reads).toEqual(["findMany c-1"]);
  });

  it("for an answer to a lookup that names no payment", async () => {
    const store = await seeded(new CountedStore(), pendingPayment());
    const { recorder } = recorderOf(store, { confirms: true });
    expect(await recorder.record(answerOf({ status: 7 }))).toMatchObject({ outcome: "inadmissible" });
    await recorder.matched();
    expect(store.reads).toEqual([]);
  });
});

describe("a recorded answer to a lookup", () => {
  it("decides the webhook that waits for it, also where another webhook is recorded with it", async () => {
    const store = await seeded(new MemoryStore(), pendingPayment());
    const { recorder } = recorderOf(store, { confirms: true });
    await recorder.record(unconfirmedOf());
    const other = arrivalOf({ clientId: "c-2", id: "s-2" }, "r-2");
    const receipts = await recorder.recordAll([other, answerOf()]);
    expect(receipts).toMatchObject([{ outcome: "unmatched" }, { outcome: "applied" }]);
    await recorder.matched();
    expect((await store.history("c-1")).webhooks).toMatchObject([
      { receiptId: "r-1", outcome: "applied", reason: "confirmed by a lookup", copies: 1 },
    ]);
  });

  it("looks for the webhook that waits for it under the lock, because another process may just record it", async () => {
    const store = await seeded(new CountedStore(), pendingPayment());
    const { recorder } = recorderOf(store, { confirms: true });
    await recorder.record(unconfirmedOf());
    await recorder.matched();
    store.reads.length = 0;
    const lock = store.lock.bind(store);
    store.lock = async (...given) => {
      const locked = await lock(...given);
      store.reads.push("locked");
      return locked;
    };
    expect(await recorder.record(answerOf())).toMatchObject({ outcome: "applied" });
    expect(store.reads.slice(0, 2)).toEqual(["locked", "parked c-1"]);
  });

  it("is a copy of a webhook that waited for its payment only: the completion stays the webhook's", async () => {
    const store = await seeded(new MemoryStore());
    const { recorder } = recorderOf(store);
    await recorder.record(unconfirmedOf());
    await recorder.matched();
    await seeded(store, pendingPayment());
    expect(await recorder.record(answerOf())).toMatchObject({ outcome: "duplicate" });
    await recorder.matched();
    const { webhooks, events } = await store.history("c-1");
    expect(webhooks).toMatchObject([{ receiptId: "r-1", outcome: "applied", copies: 1 }]);
    expect(events).toMatchObject([{ type: "payment.completed", payload: { reportedBy: "webhook" } }]);
  });
});

describe("webhooks that come again within a few iterations of the event loop", () => {
  it.each([
    ["share a commit where a commit waits for the disk", true],
    ["share none in memory, where waiting costs more than a commit", undefined],
  ])("%s", async (_, durable) => {
    const store = Object.assign(new ChangedRecord(), { durable });
    const sizes: number[] = [];
    const record = store.record.bind(store);
    store.record = (keys, decide) => (sizes.push(keys.eventKeys!.length), record(keys, decide));
    const { recorder } = recorderOf(store);
    const comeAgain = async (__: unknown, client: number) => {
      for (let round = 0; round < 3; round++) {
        const name = `${client}-${round}`;
        await recorder.record(arrivalOf({ clientId: `c-${name}` }, `r-${name}`));
        for (let waited = 0; waited < client; waited++) await new Promise(setImmediate);
      }
    };
    await Promise.all(Array.from({ length: 3 }, comeAgain));
    await recorder.matched();
    expect(sizes.slice(1).every((size) => size === 3)).toBe(durable === true);
  });
});

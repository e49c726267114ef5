import { setImmediate as nextIteration } from "node:timers/promises";
import { MemoryStore } from "tillkit";
import { indispensableFields } from "../../../src/model/signed-fields.js";
import { readMessage } from "../../../src/webhook/message/read-message.js";
import { Recorder } from "../../../src/webhook/recording/recorder.js";
import { rematch } from "../../../src/webhook/recording/rematch.js";
import { pendingPayment } from "../../support/webhooks.js";
import { gate } from "../spool/hooked-file-system.js";
import { arrivalOf, ChangedRecord, outcomesOf, recorderOf, seeded } from "./recorders.js";

type Given = ReturnType<typeof recorderOf>["recorder"];

describe("a recorder", () => {
  it("resolves after the commit, with the outcome, and announces the events", async () => {
    const store = await seeded(new MemoryStore(), pendingPayment());
    const { recorder, announced, receipts } = recorderOf(store);
    const receipt = await recorder.record(arrivalOf());
    expect(receipt).toEqual({ receiptId: "r-1", outcome: "applied", clientId: "c-1" });
    expect(await outcomesOf(store)).toEqual(["r-1 applied"]);
    expect([announced, receipts]).toEqual([["events"], [receipt]]);
  });

  it("writes nothing before the store is open", async () => {
    const store = await seeded(new ChangedRecord(), pendingPayment());
    const { opened, open } = gate();
    const { parts } = recorderOf(store);
    const recorder = new Recorder({ ...parts, ready: () => opened }, 5000, () => undefined);
    const recording = recorder.record(arrivalOf());
    for (let iteration = 0; iteration < 5; iteration++) await nextIteration();
    expect(store.calls).toBe(0);
    open();
    expect(await recording).toMatchObject({ outcome: "applied" });
  });

  it("announces no events where there are none", async () => {
    const store = new MemoryStore();
    const { recorder, announced } = recorderOf(store);
    expect(await recorder.record(arrivalOf())).toMatchObject({ outcome: "unmatched" });
    await recorder.matched();
    expect(announced).toEqual([]);
  });

  it("plans again where the store has committed nothing, and then finds the webhook of the other process", async () => {
    const store = await seeded(new ChangedRecord(), pendingPayment());
    const { recorder } = recorderOf(store);
    store.change = async (call, plain) => {
      if (call > 1) return plain();
      // Another process records the same event first.
      await recorderOf(store).recorder.recordAll([arrivalOf({}, "r-other")]);
      return false;
    };
    expect(await recorder.record(arrivalOf())).toMatchObject({ outcome: "duplicate" });
    expect(await outcomesOf(store)).toEqual(["r-other applied"]);
  });

  it("rejects where the store commits nothing again and again, instead of answering for what is not stored", async () => {
    const store = await seeded(new ChangedRecord(), pendingPayment());
    store.change = () => Promise.resolve(false);
    const { recorder, announced, receipts } = recorderOf(store);
    await expect(recorder.record(arrivalOf())).rejects.toBeInstanceOf(Error);
    expect(store.calls).toBe(3);
    expect([announced, receipts, await outcomesOf(store)]).toEqual([[], [], []]);
  });

  it("rejects where the store's record rejects after the decision, and keeps nothing", async () => {
    const store = await seeded(new ChangedRecord(), pendingPayment());
    store.change = async (_, plain) => {
      await plain();
      throw new Error("the connection was lost during the commit");
    };
    const { recorder, announced, receipts } = recorderOf(store);
    await expect(recorder.record(arrivalOf())).rejects.toThrow("lost during the commit");
    expect([announced, receipts, store.calls]).toEqual([[], [], 1]);
  });

  it("plans again where the save of a lookup, which is in steps, left out its answer", async () => {
    const store = await seeded(new MemoryStore(), pendingPayment());
    const { recorder } = recorderOf(store);
    const lock = store.lock.bind(store);
    let locks = 0;
    store.lock = async (tx, keys) => {
      const locked = await lock(tx, keys);
      // Another process stores the event after the lock had looked.
      if (++locks === 1)
        await store.save(tx, {
          webhooks: [
            {
              receiptId: "r-other",
              eventKey: keys.eventKeys![0]!,
              outcome: "applied",
              rawBody: Buffer.from("{}"),
              covers: "body",
              receivedAt: "2026-11-20T10:00:04.000Z",
            },
          ],
        });
      return locked;
    };
    await recorder.record({ ...arrivalOf(), kind: "lookup" });
    expect(locks).toBe(2);
  });

  it("recognises a copy in the same group, and keeps only the first", async () => {
    const store = await seeded(new MemoryStore(), pendingPayment());
    const { recorder } = recorderOf(store);
    const receipts = await recorder.recordAll([arrivalOf(), arrivalOf({}, "r-2"), arrivalOf({}, "r-3")]);
    expect(receipts.map(({ outcome }) => outcome)).toEqual(["applied", "duplicate", "duplicate"]);
    expect((await store.history("c-1")).webhooks).toMatchObject([{ receiptId: "r-1", copies: 2 }]);
  });

  it("binds a service id to one payment only, where two webhooks of a group show it", async () => {
    const { serviceId: _, ...unbound } = pendingPayment();
    const store = await seeded(new MemoryStore(), unbound, {
      ...unbound,
      clientId: "c-2",
      reference: "order-2",
    });
    const { recorder } = recorderOf(store);
    const receipts = await recorder.recordAll([arrivalOf(), arrivalOf({ clientId: "c-2" }, "r-2")]);
    expect(receipts.map(({ outcome }) => outcome)).toEqual(["applied", "mismatch"]);
    expect(await store.find("c-2")).not.toHaveProperty("serviceId");
  });

  it("matches after the commit a webhook whose payment was stored between the decision and the commit", async () => {
    const store = new ChangedRecord();
    store.change = async (_, plain) => {
      const isRecorded = await plain();
      // The creation looked for webhooks before this one was visible.
      await seeded(store, pendingPayment());
      return isRecorded;
    };
    const { recorder, announced } = recorderOf(store);
    expect(await recorder.record(arrivalOf())).toMatchObject({ outcome: "unmatched" });
    await recorder.matched();
    expect(await outcomesOf(store)).toEqual(["r-1 applied"]);
    expect(await store.find("c-1")).toMatchObject({ state: "completed" });
    expect(announced).toEqual(["events"]);
  });

  it("matches a foreign webhook only where its payment was adopted meanwhile", async () => {
    const store = new ChangedRecord();
    const policy = { clientIdPrefix: "shop-" };
    const { recorder } = recorderOf(store, policy);
    store.change = async (_, plain) => {
      const isRecorded = await plain();
      await seeded(store, pendingPayment());
      return isRecorded;
    };
    const other = arrivalOf({ clientId: "c-2", id: "another" }, "r-2");
    const receipts = await recorder.recordAll([arrivalOf(), other]);
    expect(receipts.map(({ outcome }) => outcome)).toEqual(["foreign", "foreign"]);
    // Before the answer: no sweep looks at a foreign webhook if the process ends now.
    expect((await outcomesOf(store)).toSorted()).toEqual(["r-1 applied", "r-2 foreign"]);
  });

  it("matches a foreign webhook with its copy where the process had ended right after the first commit", async () => {
    const store = await seeded(new MemoryStore());
    const { recorder } = recorderOf(store, { clientIdPrefix: "shop-" });
    await recorder.record(arrivalOf());
    await seeded(store, pendingPayment());
    expect(await outcomesOf(store)).toEqual(["r-1 foreign"]);
    expect(await recorder.record(arrivalOf({}, "r-2"))).toMatchObject({ outcome: "duplicate" });
    expect(await outcomesOf(store)).toEqual(["r-1 applied"]);
  });

  it.each([
    ["one webhook", (recorder: Given) => recorder.record(arrivalOf())],
    ["several webhooks", (recorder: Given) => recorder.recordAll([arrivalOf(), arrivalOf({}, "r-2")])],
  ])(
    "matches %s whose commit came too late with the payment that was adopted meanwhile",
    async (_, record) => {
      const store = new ChangedRecord();
      const { recorder } = recorderOf(store, { clientIdPrefix: "shop-" }, 500);
      let commit!: () => void;
      const committed = new Promise<void>((resolve) => (commit = resolve));
      store.change = async (_call, plain) => {
        const isRecorded = await plain();
        await committed;
        return isRecorded;
      };
      await expect(record(recorder)).rejects.toMatchObject({ code: "store_unavailable" });
      await seeded(store, pendingPayment());
      commit();
      await nextIteration();
      await recorder.matched();
      expect(await outcomesOf(store)).toEqual(["r-1 applied"]);
    },
  );

  it("answers the neighbours of a foreign webhook where the look for its payment fails, and repairs that with its copy", async () => {
    const payment = pendingPayment({ clientId: "shop-1", reference: "order-9", serviceId: "s-1" });
    const store = await seeded(new MemoryStore(), payment);
    const { recorder, receipts } = recorderOf(store, { clientIdPrefix: "shop-" });
    const [findMany, find] = [store.findMany.bind(store), store.find.bind(store)];
    const failing = () => Promise.reject(new Error("the read failed"));
    Object.assign(store, { findMany: failing, find: failing });
    const late = arrivalOf({ clientId: "shop-2", id: "s-2" }, "r-2");
    const own = arrivalOf({ clientId: "shop-1", id: "s-1" }, "r-3");
    const answers = await Promise.allSettled(
      [arrivalOf(), late, own].map((arrival) => recorder.record(arrival)),
    );
    expect(answers).toMatchObject([
      { reason: { message: "the read failed" } },
      { value: { outcome: "unmatched" } },
      { value: { outcome: "applied" } },
    ]);
    expect(receipts.map(({ outcome }) => outcome)).toEqual(["foreign", "unmatched", "applied"]);

    Object.assign(store, { findMany, find });
    await seeded(store, pendingPayment());
    expect(await recorder.record(arrivalOf({}, "r-4"))).toMatchObject({ outcome: "duplicate" });
    expect(await find("c-1")).toMatchObject({ state: "completed" });
  });

  it("answers the neighbours of a foreign webhook before its payment is looked for", async () => {
    const store = await seeded(new MemoryStore(), pendingPayment({ clientId: "shop-1" }));
    const { recorder } = recorderOf(store, { clientIdPrefix: "shop-" });
    let read!: () => void;
    const held = new Promise<void>((resolve) => (read = resolve));
    store.findMany = () => held.then(() => []);
    store.find = () => held.then(() => undefined);
    const foreign = recorder.record(arrivalOf({ clientId: "c-9", id: "s-9" }, "r-9"));
    const own = await recorder.record(arrivalOf({ clientId: "shop-1" }));
    expect(own).toMatchObject({ outcome: "applied" });
    read();
    expect(await foreign).toMatchObject({ outcome: "foreign" });
  });

  it("looks for the payments of all foreign webhooks of a group in one read", async () => {
    const store = new MemoryStore();
    const { recorder } = recorderOf(store, { clientIdPrefix: "shop-" });
    const reads: (readonly string[])[] = [];
    store.findMany = ({ clientIds = [] }) => (reads.push(clientIds), Promise.resolve([]));
    const other = arrivalOf({ clientId: "c-2", id: "s-2" }, "r-2");
    await Promise.all([arrivalOf(), other].map((arrival) => recorder.record(arrival)));
    expect(reads).toEqual([["c-1", "c-2"]]);
  });

  it("decides after a lookup what waits for it and says something else", async () => {
    const store = await seeded(new MemoryStore(), pendingPayment());
    const { recorder } = recorderOf(store, { confirms: true });
    const covers = indispensableFields;
    const { rawBody } = arrivalOf();
    const message = readMessage({ rawBody, covers });
    const receipt = await recorder.record({ ...arrivalOf(), covers, message });
    expect(receipt).toMatchObject({ outcome: "unconfirmed" });

    const lookup = arrivalOf({ submittedAt: "2026-11-20T10:00:01.000Z" }, "r-2");
    expect(await recorder.record({ ...lookup, kind: "lookup" })).toMatchObject({ outcome: "applied" });
    await recorder.matched();
    expect((await outcomesOf(store)).toSorted()).toEqual(["r-1 stale", "r-2 applied"]);
  });

  it("lets a sweep wait for 10 s for a match that never ends", async () => {
    const store = new ChangedRecord();
    store.change = async (_, plain) => {
      const isRecorded = await plain();
      store.transaction = () => new Promise(() => {});
      return isRecorded;
    };
    const { recorder } = recorderOf(store);
    jest.useFakeTimers({ doNotFake: ["nextTick", "performance", "queueMicrotask", "setImmediate"] });
    await recorder.record(arrivalOf());
    const matched = recorder.matched();
    jest.advanceTimersByTime(10_000);
    jest.useRealTimers();
    await expect(matched).resolves.toBeUndefined();
  });

  it("leaves a parked webhook as it is where another process matched it before the lock of its payment", async () => {
    const store = new MemoryStore();
    const { recorder, parts, announced } = recorderOf(store);
    await recorder.record(arrivalOf());
    await recorder.matched();
    await seeded(store, pendingPayment());
    const lock = store.lock.bind(store);
    store.lock = async (tx, keys) => {
      await store.save(tx, { rematched: [{ receiptId: "r-1", outcome: "stale" }] });
      return lock(tx, keys);
    };
    await rematch(parts, ["c-1"]);
    expect(await outcomesOf(store)).toEqual(["r-1 stale"]);
    expect(await store.find("c-1")).toMatchObject({ state: "pending" });
    expect(announced).toEqual([]);
  });
});

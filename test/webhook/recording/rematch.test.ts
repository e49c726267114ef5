import { MemoryStore } from "tillkit";
import { indispensableFields } from "../../../src/model/signed-fields.js";
import { readLookup } from "../../../src/webhook/message/read-lookup.js";
import { readMessage } from "../../../src/webhook/message/read-message.js";
import { rematch, rematchIn } from "../../../src/webhook/recording/rematch.js";
import { closeAll, testKit } from "../../support/kit.js";
import { completedBody, pendingPayment, signed, statusBody } from "../../support/webhooks.js";
import { arrivalOf, outcomesOf, recorderOf, seeded } from "./recorders.js";

afterEach(closeAll);

describe("webhooks that arrive before their payment", () => {
  it("are each decided once, also where several are about one payment", async () => {
    const store = new MemoryStore();
    let now = new Date("2026-11-20T10:00:00.000Z");
    const payments = testKit({ store, now: () => now, dispatch: false });
    await payments.start({ keepAlive: false });
    const bodies = [statusBody("failed"), statusBody("completed")];
    for (const body of bodies) {
      await payments.receiveWebhook(signed(body));
      now = new Date(now.getTime() + 1);
    }
    // The process that created it ended before it matched webhooks that had arrived.
    await store.transaction((tx) => store.save(tx, { created: [pendingPayment()] }));
    now = new Date("2026-11-21T10:00:00.000Z");
    await payments.sweep();

    const { webhooks } = await store.history("c-1");
    expect(webhooks.map(({ status, outcome }) => ({ status, outcome }))).toEqual([
      { status: "failed", outcome: "applied" },
      { status: "completed", outcome: "applied" },
    ]);
  });

  it("are mismatches where their service id belongs to another payment", async () => {
    const store = new MemoryStore();
    let now = new Date("2026-11-20T10:00:00.000Z");
    const payments = testKit({ store, now: () => now, dispatch: false });
    await payments.receiveWebhook(signed(statusBody("completed")));
    const { serviceId: _, ...unbound } = pendingPayment();
    const holder = pendingPayment({ clientId: "c-2", reference: "order-2" });
    await store.transaction((tx) => store.save(tx, { created: [unbound, holder] }));
    now = new Date("2026-11-20T10:10:00.000Z");
    await payments.sweep();
    expect((await store.history("c-1")).webhooks).toMatchObject([{ outcome: "mismatch" }]);
    expect(await store.find("c-1")).toMatchObject({ state: "pending" });
  });
});

/** A store in memory that limits the rows of one transaction, as a merchant's store may. */
async function limited(maxGroup: number, ...arrivals: ReturnType<typeof arrivalOf>[]) {
  const store = Object.assign(new MemoryStore(), { maxGroup });
  const made = recorderOf(store);
  for (const arrival of arrivals) await made.recorder.record(arrival);
  await made.recorder.matched();
  return { store, ...made };
}

/** Returns a webhook of this status, which arrived at this second. */
function statusOf(status: string, receiptId: string, second: number, data: object = {}) {
  const rawBody = Buffer.from(JSON.stringify(statusBody(status, { ...data })));
  const receivedAt = `2026-11-20T10:00:0${second}.000Z`;
  const message = readMessage({ rawBody, covers: "body" });
  return { receiptId, rawBody, covers: "body" as const, receivedAt, message };
}

/** Lists how many webhooks each save decides again. */
function savesOf(store: MemoryStore): number[] {
  const saves: number[] = [];
  const save = store.save.bind(store);
  store.save = (tx, changes) => (saves.push(changes.rematched?.length ?? 0), save(tx, changes));
  return saves;
}

const three = () => [
  statusOf("submitted", "r-1", 1),
  statusOf("captured", "r-2", 2),
  statusOf("completed", "r-3", 3),
];

describe("a look for the payment of webhooks that wait", () => {
  it("decides them in one transaction, also those of several payments, and announces their events once", async () => {
    const store = new MemoryStore();
    const { recorder, parts, announced } = recorderOf(store);
    const other = statusOf("completed", "r-4", 4, { clientId: "c-2", id: "s-2" });
    for (const arrival of [...three(), other]) await recorder.record(arrival);
    await recorder.matched();
    await seeded(
      store,
      pendingPayment(),
      pendingPayment({ clientId: "c-2", serviceId: "s-2", reference: "order-2" }),
    );
    const saves = savesOf(store);
    await rematch(parts, ["c-1", "c-2", "c-1"]);
    expect(saves).toEqual([4]);
    expect(announced).toEqual(["events"]);
    const { webhooks, events } = await store.history("c-1");
    expect(webhooks).toMatchObject(
      three().map(({ receiptId }) => ({
        receiptId,
        outcome: "applied",
        decidedAt: "2026-11-20T10:00:06.000Z",
      })),
    );
    expect(events).toMatchObject([
      { type: "payment.updated", recordedAt: "2026-11-20T10:00:06.000Z", clientId: "c-1" },
      { type: "payment.updated" },
      { type: "payment.completed" },
    ]);
  });

  it("decides as many in one transaction as the store takes, and all of them one transaction after the other", async () => {
    const { store, parts, announced } = await limited(2, ...three());
    await seeded(store, pendingPayment());
    await rematch(parts, ["c-1"]);
    expect(await outcomesOf(store)).toEqual(["r-1 applied", "r-2 applied", "r-3 applied"]);
    expect(announced).toHaveLength(2);
    expect((await store.history("c-1")).webhooks.map(({ reason }) => reason)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("decides fewer in one transaction where the database refuses more than one", async () => {
    const { store, parts } = await limited(4, ...three());
    await seeded(store, pendingPayment());
    const save = store.save.bind(store);
    store.save = (tx, changes) =>
      // The mark of the rest has no time of a decision.
      changes.rematched!.filter(({ decidedAt }) => decidedAt !== undefined).length > 1
        ? Promise.reject(new Error("the transaction is too large"))
        : save(tx, changes);
    await rematch(parts, ["c-1"]);
    expect(await store.find("c-1")).toMatchObject({ state: "completed" });
    expect((await store.history("c-1")).webhooks.map(({ outcome }) => outcome)).not.toContain("unmatched");
  });

  it("gives the store the reason where there is one, and no empty field where there is none", async () => {
    const store = new MemoryStore();
    const { recorder, parts } = recorderOf(store);
    const wrong = statusOf("completed", "r-1", 1, { total: { value: "1470", currency: "KMF" } });
    for (const arrival of [wrong, statusOf("completed", "r-2", 2)]) await recorder.record(arrival);
    await recorder.matched();
    await seeded(store, pendingPayment());
    const saved: unknown[] = [];
    const save = store.save.bind(store);
    store.save = (tx, changes) => (saved.push(changes.rematched), save(tx, changes));
    await rematch(parts, ["c-1"]);
    const decidedAt = "2026-11-20T10:00:06.000Z";
    const reason = "total.value: expected 1475, got 1470";
    expect(saved).toStrictEqual([
      [
        { receiptId: "r-1", outcome: "mismatch", reason, decidedAt },
        { receiptId: "r-2", outcome: "applied", decidedAt },
      ],
    ]);
  });

  it("takes the payments one by one where the store limits its transactions", async () => {
    const other = statusOf("completed", "r-4", 4, { clientId: "c-2", id: "s-2" });
    const { store, parts } = await limited(2, statusOf("completed", "r-1", 1), other);
    await seeded(
      store,
      pendingPayment(),
      pendingPayment({ clientId: "c-2", serviceId: "s-2", reference: "order-2" }),
    );
    const saves = savesOf(store);
    await rematch(parts, ["c-1", "c-2"]);
    expect(saves).toEqual([1, 1]);
  });

  it("leaves the rest to the sweep where the process ends in the middle, also what the sweep had raised", async () => {
    const { store, parts } = await limited(1, ...three());
    const raised = ["r-1", "r-2", "r-3"];
    await store.transaction((tx) => store.save(tx, { raised }));
    await seeded(store, pendingPayment());
    const transaction = store.transaction.bind(store);
    let transactions = 0;
    store.transaction = (run) =>
      ++transactions > 1 ? Promise.reject(new Error("the process ended")) : transaction(run);
    await expect(rematch(parts, ["c-1"])).rejects.toThrow("ended");
    const found = await transaction((tx) =>
      store.stray(tx, { before: "2026-11-21T00:00:00.000Z", limit: 10 }),
    );
    expect(found).toMatchObject([{ receiptId: "r-3", outcome: "unmatched" }]);
  });

  it("leaves to the sweep what another process recorded after the first look, where the process ends then", async () => {
    const [first, , last] = three();
    const { store, parts } = await limited(Infinity, first!);
    await seeded(store, pendingPayment());
    const { message: _, ...rest } = last!;
    const webhook = { ...rest, outcome: "foreign", eventKey: "k-3", clientId: "c-1" } as const;
    const lock = store.lock.bind(store);
    store.lock = async (tx, keys) => {
      store.lock = lock;
      await store.save(tx, { webhooks: [webhook] });
      return lock(tx, keys);
    };
    const part = await store.transaction((tx) => rematchIn(tx, parts, ["c-1"]));
    expect(part).toEqual({ matched: 1, receiptIds: ["r-1"], isMore: true });
    const found = await store.transaction((tx) =>
      store.stray(tx, { before: "2026-11-21T00:00:00.000Z", limit: 10 }),
    );
    expect(found).toMatchObject([{ receiptId: "r-3", outcome: "unmatched" }]);
  });

  it("leaves what was recorded after the first look as it is where its payment is not locked", async () => {
    const { store, parts } = await limited(Infinity, three()[0]!);
    await seeded(store, pendingPayment());
    const webhook = (clientId: string, second: number) => {
      const { message: _, ...rest } = statusOf("completed", `r-${second}`, second, { clientId });
      return { ...rest, outcome: "foreign", eventKey: `k-${second}`, clientId } as const;
    };
    const lock = store.lock.bind(store);
    store.lock = async (tx, keys) => {
      store.lock = lock;
      const locked = await lock(tx, keys);
      await store.save(tx, { webhooks: [webhook("c-1", 2), webhook("c-2", 3)] });
      return locked;
    };
    const part = await store.transaction((tx) => rematchIn(tx, parts, ["c-1", "c-2"]));
    expect(part).toEqual({ matched: 1, receiptIds: ["r-1"], isMore: true });
    expect((await store.history("c-2")).webhooks).toMatchObject([{ receiptId: "r-3", outcome: "foreign" }]);
    const stray = { before: "2026-11-21T00:00:00.000Z", limit: 10 };
    const found = await store.transaction((tx) => store.stray(tx, stray));
    expect(found).toMatchObject([{ receiptId: "r-2", outcome: "unmatched" }]);
  });

  it("goes on after webhooks that still wait, and ends", async () => {
    const { store, parts, announced } = await limited(1, ...three());
    const saves = savesOf(store);
    await rematch(parts, ["c-1"]);
    expect(await outcomesOf(store)).toEqual(["r-1 unmatched", "r-2 unmatched", "r-3 unmatched"]);
    // What matches nothing writes nothing.
    expect([saves, announced]).toEqual([[], []]);
  });

  it("leaves webhooks that wait for a lookup as they are, and decides those after them", async () => {
    const store = Object.assign(await seeded(new MemoryStore(), pendingPayment()), { maxGroup: 1 });
    const { recorder, parts } = recorderOf(store, { confirms: true });
    const unconfirmed = (receiptId: string, submittedAt: string) => {
      const covers = [...indispensableFields, "submittedAt"] as const;
      const { rawBody, ...arrival } = arrivalOf({ submittedAt }, receiptId);
      return { ...arrival, rawBody, covers, message: readMessage({ rawBody, covers }) };
    };
    await recorder.record(unconfirmed("r-1", "2026-11-20T10:00:00.000Z"));
    const { message: _, ...rest } = statusOf("submitted", "r-2", 2);
    const webhook = { ...rest, outcome: "unmatched", eventKey: "k-2", clientId: "c-1" } as const;
    await store.transaction((tx) => store.save(tx, { webhooks: [webhook] }));
    await recorder.record(unconfirmed("r-3", "2026-11-20T10:00:01.000Z"));
    await rematch(parts, ["c-1"]);
    expect((await outcomesOf(store)).toSorted()).toEqual([
      "r-1 unconfirmed",
      "r-2 applied",
      "r-3 unconfirmed",
    ]);
    const last = (await store.history("c-1")).webhooks.find(({ receiptId }) => receiptId === "r-3");
    expect(last).not.toHaveProperty("decidedAt");
  });

  it("leaves what another process has decided meanwhile, also where the store takes few in one transaction", async () => {
    const { store, parts } = await limited(1, ...three());
    await seeded(store, pendingPayment());
    const lock = store.lock.bind(store);
    store.lock = async (tx, keys) => {
      store.lock = lock;
      await store.save(tx, { rematched: [{ receiptId: "r-3", outcome: "stale" }] });
      return lock(tx, keys);
    };
    await rematch(parts, ["c-1"]);
    expect(await outcomesOf(store)).toEqual(["r-1 applied", "r-2 applied", "r-3 stale"]);
    expect(await store.find("c-1")).toMatchObject({ status: "captured" });
  });

  it("leaves a webhook without a payment as it is, also where the prefix has changed since", async () => {
    const store = new MemoryStore();
    const { recorder } = recorderOf(store);
    await recorder.record(arrivalOf());
    await recorder.matched();
    const { parts } = recorderOf(store, { clientIdPrefix: "shop-" });
    await rematch(parts, ["c-1"]);
    expect(await outcomesOf(store)).toEqual(["r-1 unmatched"]);
  });

  it("leaves a webhook of another shop as it is where its bytes were deleted", async () => {
    const store = new MemoryStore();
    const { recorder, parts } = recorderOf(store, { clientIdPrefix: "shop-" });
    await recorder.record(arrivalOf());
    await store.prune({ before: "2026-11-21T00:00:00.000Z", limit: 10 });
    await seeded(store, pendingPayment());
    await rematch(parts, ["c-1"]);
    expect(await outcomesOf(store)).toEqual(["r-1 foreign"]);
  });

  it("reads an answer to a lookup as it was read on arrival", async () => {
    const store = new MemoryStore();
    const { recorder, parts } = recorderOf(store);
    const rawBody = Buffer.from(JSON.stringify(completedBody().data));
    const given = {
      rawBody,
      covers: "body",
      clientId: "c-1",
      receivedAt: "2026-11-20T10:00:09.000Z",
    } as const;
    const message = readLookup(given);
    await recorder.record({ ...given, receiptId: "r-1", message, kind: "lookup" });
    await recorder.matched();
    await seeded(store, pendingPayment());
    await rematch(parts, ["c-1"]);
    expect(await outcomesOf(store)).toEqual(["r-1 applied"]);
    expect((await store.history("c-1")).events).toMatchObject([{ payload: { reportedBy: "lookup" } }]);
  });

  it("begins no transaction where nothing is asked for", async () => {
    const store = new MemoryStore();
    const { parts } = recorderOf(store);
    let transactions = 0;
    const transaction = store.transaction.bind(store);
    store.transaction = (run) => ((transactions += 1), transaction(run));
    await rematch(parts, []);
    expect(transactions).toBe(0);
    // A creation asks in its own transaction.
    const nothing = { matched: 0, receiptIds: [], isMore: false };
    expect(await store.transaction((tx) => rematchIn(tx, parts, ["c-1"]))).toEqual(nothing);
  });
});

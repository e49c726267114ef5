import { payment } from "../../../../src/store/exam/checks/fixtures.js";
import { clientIds, saved } from "../../../../src/store/exam/checks/steps.js";
import { postgresDialect } from "../../../../src/store/sql/postgres/postgres-dialect.js";
import { lockKeys } from "../../../../src/store/sql/tables/lock-payments.js";
import { tablesUnder } from "../../../../src/store/sql/tables/names.js";
import { type Transaction } from "../../../../src/store/sql/transaction/transaction.js";
import { onEachServer, openPlace, type Place } from "../../../promises/processes/databases.js";
import { openPatientStore, untilWaiting } from "../support/waiting-for-locks.js";

// SQLite has one writer, so that no transaction reads while another one writes.
onEachServer("locks", (kind) => {
  let place: Place;
  beforeEach(async () => {
    place = await openPlace(kind);
  });
  afterEach(() => place.remove());

  type Read = (store: Place["store"]) => Promise<string[]>;
  const inSteps: Read = (store) =>
    store.transaction(async (tx) => clientIds((await store.lock(tx, { clientIds: ["p2"] })).payments));
  const inOneCall: Read = async (store) => {
    let found: string[] = [];
    await store.record({ clientIds: ["p2"] }, ({ payments }) => {
      found = clientIds(payments);
      return {};
    });
    return found;
  };

  it.each([
    ["lock", inSteps],
    ["record", inOneCall],
  ])("%s sees the attempt that was added while it waited for the order", async (_, read) => {
    const other = openPatientStore(place.address);
    await saved(place.store, { created: [payment("p2", { reference: "order-1" })] });
    // Opens its pipelined connection, which the first call of a process may not wait for.
    await inOneCall(other);
    let reading: Promise<string[]> | undefined;
    await place.store.transaction(async (tx) => {
      await place.store.lock(tx, { clientIds: ["p2"] });
      reading = read(other);
      await untilWaiting(place);
      await place.store.save(tx, {
        updated: [payment("p2", { reference: "order-1", open: false })],
        created: [payment("p1", { reference: "order-1" })],
      });
    });
    expect((await reading)?.toSorted()).toEqual(["p1", "p2"]);
    await other.close();
  });

  it("record holds the locks of its second look, too", async () => {
    const other = openPatientStore(place.address);
    await saved(place.store, { created: [payment("p2", { reference: "order-1" })] });
    await inOneCall(other);
    let recording: Promise<boolean> | undefined;
    await place.store.transaction(async (tx) => {
      await place.store.lock(tx, { clientIds: ["p2"] });
      recording = other.record({ clientIds: ["p2"] }, ({ payments }) => ({
        updated: payments.map((found) => ({ ...found, failure: `seen in ${found.state}` })),
      }));
      await untilWaiting(place);
      await place.store.save(tx, {
        updated: [payment("p2", { reference: "order-1", open: false, state: "failed" })],
        created: [payment("p1", { reference: "order-1", state: "completed", open: false })],
      });
    });
    expect(await recording).toBe(true);
    expect(await place.store.find("p1")).toMatchObject({ failure: "seen in completed" });
    expect(await place.store.find("p2")).toMatchObject({ failure: "seen in failed" });
    await other.close();
  });

  it("payments are returned in clientId order, in which they are locked", async () => {
    // The order of the rows on disk is another one.
    for (const id of ["p3", "p1", "p2"]) await saved(place.store, { created: [payment(id)] });
    for (const id of ["p1", "p3"]) await saved(place.store, { updated: [payment(id, { failure: "again" })] });
    const locked = await place.store.transaction((tx) =>
      place.store.lock(tx, { serviceIds: [], clientIds: ["p3", "p2", "p1"] }),
    );
    expect(clientIds(locked.payments)).toEqual(["p1", "p2", "p3"]);
  });
});

it("reject with the deadlock of the locks, and not with what a pipeline refuses after it", async () => {
  const [deadlock, refused] = [new Error("deadlock detected"), new Error("current transaction is aborted")];
  const run = (sql: string) => Promise.reject(sql.includes("for update") ? deadlock : refused);
  const tx = { isPipelined: true, run } as unknown as Transaction;
  const db = { dialect: postgresDialect, tables: tablesUnder("t_") };
  await expect(lockKeys(tx, db, { clientIds: ["c-1"], eventKeys: ["k"] })).rejects.toBe(deadlock);
});

onEachServer("a transaction of the kit that a deadlock ended", (kind) => {
  it("runs again", async () => {
    const place = await openPlace(kind);
    await saved(place.store, { created: [payment("p1"), payment("p2", { reference: "o2" })] });
    const order = ["p1", "p2"];
    let first = 0;
    let bothHold!: () => void;
    const both = new Promise<void>((resolve) => (bothHold = resolve));
    const lockBoth = (ids: readonly string[]) =>
      place.store.transaction(async (tx) => {
        await place.store.lock(tx, { clientIds: [ids[0]!] });
        if (++first === 2) bothHold();
        await both;
        return clientIds((await place.store.lock(tx, { clientIds: [ids[1]!] })).payments);
      });
    const ended = await Promise.all([lockBoth(order), lockBoth(order.toReversed())]);
    expect(ended).toEqual([["p2"], ["p1"]]);
    expect(first).toBe(3);
    await place.remove();
  });
});

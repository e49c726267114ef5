import { MemoryStore } from "tillkit";
import { payment } from "../../../src/store/exam/checks/fixtures.js";
import { clientIds, rolledBack, saved } from "../../../src/store/exam/checks/steps.js";

const reference = "order-1";
let store: MemoryStore;
beforeEach(() => (store = new MemoryStore()));

const locked = (keys: Parameters<MemoryStore["lock"]>[1]) =>
  store.transaction(async (tx) => clientIds((await store.lock(tx, keys)).payments));

describe("payments in memory", () => {
  it("are found by their reference, and block it, after a second attempt was rolled back", async () => {
    await saved(store, { created: [payment("p1", { reference })] });
    await rolledBack(store, { created: [payment("p2", { reference, open: false })] });
    expect(await locked({ references: [reference] })).toEqual(["p1"]);
    const { takenClientIds } = await saved(store, { created: [payment("p3", { reference })] });
    expect(takenClientIds).toEqual(["p3"]);
  });

  it("can take back a service id that they gave up in the same transaction", async () => {
    await saved(store, { created: [payment("p1", { serviceId: "s1" })] });
    await store.transaction(async (tx) => {
      await store.save(tx, { updated: [payment("p1", { serviceId: "s2" })] });
      expect(clientIds((await store.lock(tx, { serviceIds: ["s1"] })).payments)).toEqual([]);
      await store.save(tx, { updated: [payment("p1", { serviceId: "s1" })] });
    });
    expect(await locked({ serviceIds: ["s1"] })).toEqual(["p1"]);
    expect(await locked({ serviceIds: ["s2"] })).toEqual([]);
  });

  it("keep a service id that another payment took from them in a transaction that was rolled back", async () => {
    await saved(store, { created: [payment("p1", { serviceId: "s1" }), payment("p2")] });
    await rolledBack(store, { updated: [payment("p1"), payment("p2", { serviceId: "s1" })] });
    expect(await locked({ serviceIds: ["s1"] })).toEqual(["p1"]);
  });

  it("can all be without a service id, also those that had one", async () => {
    const ids = ["p1", "p2"];
    await saved(store, { created: ids.map((id) => payment(id, { serviceId: `s-${id}` })) });
    await saved(store, { updated: ids.map((id) => payment(id)) });
    expect(await store.findMany({ clientIds: ids })).toEqual(ids.map((id) => payment(id)));
    expect(await store.findMany({ serviceIds: ["s-p1"] })).toEqual([]);
  });

  it("are found from outside by the service id that a transaction takes from them", async () => {
    const first = payment("p1", { serviceId: "s1" });
    await saved(store, { created: [first] });
    await store.transaction(async (tx) => {
      await store.save(tx, { updated: [payment("p1", { serviceId: "s2" })] });
      expect(await store.findMany({ serviceIds: ["s1"] })).toEqual([first]);
      expect(await store.findMany({ serviceIds: ["s2"] })).toEqual([]);
    });
  });

  it("are read from outside as they were committed, while a transaction writes", async () => {
    const first = payment("p1", { reference });
    await saved(store, { created: [first] });
    const second = payment("p2", { reference, open: false, serviceId: "s2" });
    await store.transaction(async (tx) => {
      await store.save(tx, { updated: [{ ...first, serviceId: "s1" }], created: [second] });
      expect(await store.findMany({ clientIds: ["p1"] })).toEqual([first]);
      expect(await store.findMany({ serviceIds: ["s1", "s2"] })).toEqual([]);
      expect(await store.list({ newestFirst: false, limit: 10 })).toEqual([first]);
    });
    expect(await locked({ serviceIds: ["s1"] })).toEqual(["p1", "p2"]);
  });
});

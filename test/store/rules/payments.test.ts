import { at, payment } from "../../../src/store/exam/checks/fixtures.js";
import { clientIds, saved } from "../../../src/store/exam/checks/steps.js";
import { keptInMemory } from "./kept-in-memory.js";

describe.each(keptInMemory)("the payments of %s", (_, open) => {
  it("are listed from the first time to before the second one, in both orders", async () => {
    const store = open();
    await saved(store, { created: [1, 2, 3].map((n) => payment(`p${n}`, { createdAt: at(n) })) });
    const list = async (page: Omit<Parameters<typeof store.list>[0], "limit">) =>
      clientIds(await store.list({ ...page, limit: 10 }));
    expect(await list({ from: at(1), to: at(3), newestFirst: false })).toEqual(["p1", "p2"]);
    const after = { createdAt: at(2), clientId: "p2" };
    expect(await list({ after, newestFirst: false })).toEqual(["p3"]);
    expect(await list({ after, newestFirst: true })).toEqual(["p1"]);
  });

  it("are due while they wait, and until they are overdue", async () => {
    const store = open();
    const overdue = payment("p2", { overdueAt: at(2) });
    const completed = payment("p3", { state: "completed", open: false });
    await saved(store, { created: [payment("p1"), overdue, completed] });
    expect(clientIds(await store.due({ before: at(59), limit: 10 }))).toEqual(["p1"]);
  });

  it("have one open attempt of a reference, also after an update", async () => {
    const store = open();
    const closed = payment("p2", { reference: "order-1", open: false });
    await saved(store, { created: [payment("p1", { reference: "order-1" }), closed] });
    const third = payment("p3", { reference: "order-1" });
    expect(await saved(store, { created: [third] })).toMatchObject({ takenClientIds: ["p3"] });
    await expect(saved(store, { updated: [{ ...closed, open: true }] })).rejects.toMatchObject({
      code: "store_conflict",
    });
    expect(await store.find("p2")).toMatchObject({ open: false });
  });

  it("have service ids of their own, when they are created and when they are updated", async () => {
    const store = open();
    await saved(store, { created: [payment("p1", { serviceId: "s-1" }), payment("p2")] });
    const conflict = { code: "store_conflict" };
    const bound = { serviceId: "s-1" };
    await expect(saved(store, { created: [payment("p3", bound)] })).rejects.toMatchObject(conflict);
    await expect(saved(store, { updated: [payment("p2", bound)] })).rejects.toMatchObject(conflict);
    expect(clientIds(await store.findMany({ serviceIds: ["s-1"] }))).toEqual(["p1"]);
  });
});

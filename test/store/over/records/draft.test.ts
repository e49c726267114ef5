import { storeOver, type RecordChange, type StoredRecord } from "tillkit";
import { payment, webhook } from "../../../../src/store/exam/checks/fixtures.js";
import { saved } from "../../../../src/store/exam/checks/steps.js";
import { memoryAdapter } from "../memory-adapter.js";

describe("the records of a transaction", () => {
  it("are read with at most 100 keys at a time", async () => {
    const adapter = memoryAdapter();
    const read = jest.spyOn(adapter, "read");
    const store = storeOver(adapter);
    await saved(store, { created: [payment("c-205")] });
    const clientIds = Array.from({ length: 250 }, (_, n) => `c-${n}`);
    read.mockClear();
    expect(await store.findMany({ clientIds })).toEqual([payment("c-205")]);
    const counts = read.mock.calls.map(([keys]) => keys.length);
    expect(Math.max(...counts)).toBe(100);
  });

  it("are written in the order of their keys, so that two transactions lock rows in one order", async () => {
    const written: string[][] = [];
    const adapter = memoryAdapter();
    const store = storeOver({
      ...adapter,
      async write(changes, tx) {
        written.push(changes.map(({ key }) => key));
        return adapter.write(changes, tx);
      },
    });
    const created = ["p2", "p1"].map((id) => payment(id, { serviceId: `s-${id}` }));
    await saved(store, { created, webhooks: [webhook("k2"), webhook("k1")] });
    await store.transaction(async (tx) => {
      await store.lock(tx, { clientIds: ["p1", "p2"] });
      await store.save(tx, { updated: [payment("p2", { serviceId: "s-0" })] });
    });
    expect(written).toHaveLength(2);
    for (const keys of written) expect(keys).toEqual(keys.toSorted());
  });

  it("are checked at the commit also where they were only locked", async () => {
    const records = new Map<string, StoredRecord>();
    const [store, another] = [storeOver(memoryAdapter(records)), storeOver(memoryAdapter(records))];
    await saved(store, { created: [payment("p1", { metadata: { seen: 1 } }), payment("p2")] });
    const seen: unknown[] = [];
    await store.transaction(async (tx) => {
      const { payments } = await store.lock(tx, { clientIds: ["p1", "p2"] });
      const metadata = payments.find(({ clientId }) => clientId === "p1")!.metadata!;
      seen.push(metadata);
      if (seen.length === 1) await saved(another, { updated: [payment("p1", { metadata: { seen: 2 } })] });
      await store.save(tx, { updated: [payment("p2", { metadata })] });
    });
    expect(seen).toEqual([{ seen: 1 }, { seen: 2 }]);
    expect((await store.findMany({ clientIds: ["p2"] }))[0]).toMatchObject({ metadata: { seen: 2 } });
  });

  it("are gone where one is changed and then deleted", async () => {
    const store = storeOver(memoryAdapter());
    const note = (version: number, value: object | null) => ({
      notes: [{ kind: "handler", id: "a", version, value: value as Record<string, unknown> | null }],
    });
    await saved(store, note(0, { by: "Amina" }));
    await store.transaction(async (tx) => {
      await store.save(tx, note(1, { by: "Said" }));
      await store.save(tx, note(2, null));
    });
    expect(await store.notes({ kind: "handler" })).toEqual([]);
  });

  it("are free for others where a payment gave its service id up", async () => {
    const records = new Map<string, StoredRecord>();
    const changes: RecordChange[] = [];
    const adapter = memoryAdapter(records);
    const store = storeOver({
      ...adapter,
      async write(all, tx) {
        changes.push(...all);
        return adapter.write(all, tx);
      },
    });
    await saved(store, { created: [payment("p1", { serviceId: "s1" }), payment("p2")] });
    await saved(store, { updated: [payment("p1", { serviceId: "s2" })] });
    await saved(store, { updated: [payment("p2", { serviceId: "s1" })] });
    const found = await store.findMany({ serviceIds: ["s1"] });
    expect(found.map(({ clientId }) => clientId)).toEqual(["p2"]);
  });
});

import { saved } from "../../../src/store/exam/checks/steps.js";
import { keptInMemory } from "./kept-in-memory.js";

describe.each(keptInMemory)("the notes of %s", (_, open) => {
  it("are read page by page in the order of their ids, without the notes of other kinds", async () => {
    const store = open();
    const note = (kind: string, id: string) => ({ kind, id, version: 0, value: { about: id } });
    await saved(store, { notes: [note("a", "3"), note("a", "1"), note("b", "2"), note("a", "2")] });
    const idsOf = async (page: { after?: string; limit?: number }) =>
      (await store.notes({ kind: "a", ...page })).map(({ id }) => id);
    expect(await idsOf({ limit: 2 })).toEqual(["1", "2"]);
    expect(await idsOf({ limit: 2, after: "2" })).toEqual(["3"]);
    expect(await idsOf({})).toEqual(["1", "2", "3"]);
  });

  it("are copies, so that a change of one changes nothing in the store", async () => {
    const store = open();
    const value = { names: ["Amina"] };
    await saved(store, { notes: [{ kind: "a", id: "1", version: 0, value }] });
    value.names.push("Said");
    const [read] = await store.notes({ kind: "a" });
    (read!.value["names"] as string[]).push("Ali");
    expect(await store.notes({ kind: "a" })).toEqual([
      { kind: "a", id: "1", version: 1, value: { names: ["Amina"] } },
    ]);
  });

  it("change only from the version that the change names", async () => {
    const store = open();
    const change = (version: number, value: object | null) =>
      saved(store, { notes: [{ kind: "a", id: "1", version, value: value as never }] });
    await change(0, { step: 1 });
    await expect(change(0, { step: 2 })).rejects.toMatchObject({ code: "store_conflict" });
    await change(1, { step: 2 });
    await expect(change(1, null)).rejects.toMatchObject({ code: "store_conflict" });
    expect(await store.notes({ kind: "a" })).toMatchObject([{ version: 2, value: { step: 2 } }]);
    await change(2, null);
    expect(await store.notes({ kind: "a" })).toEqual([]);
  });
});

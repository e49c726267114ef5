import assert from "node:assert/strict";
import { type Exam, saved } from "./exam.js";
import { payment } from "./fixtures.js";
import { same } from "./same.js";

/** Finding many at once is optional: a store that has it must have it right. */
export function findManyChecks<Tx>({ check }: Exam<Tx>): void {
  check("findMany answers what any key names, with its siblings, each once", async (store) => {
    if (!store.findMany) return;
    const found = async (clientIds: string[], serviceIds: string[] = []): Promise<string[]> =>
      (await store.findMany!({ clientIds, serviceIds })).map(({ clientId }) => clientId).toSorted();
    await saved(store, {
      created: [
        payment("a1", { reference: "a", serviceId: "s-a1", state: "completed", open: false }),
        payment("a2", { reference: "a" }),
        payment("b", { serviceId: "s-b" }),
        payment("c"),
        payment("B"),
      ],
    });
    same(await found([]), []);
    same(await found(["nobody"], ["s-nobody"]), []);
    same(await found(["c", "c"]), ["c"]);
    same(await found(["a2", "a1", "nobody", "b"]), ["a1", "a2", "b"]);
    same(await found(["b"], ["s-a1", "s-b"]), ["a1", "a2", "b"]);
    same(await found([], ["s-b"]), ["b"]);
    same(await store.findMany({ clientIds: ["b"] }), [await store.find("b")]);
  });

  check("findMany takes five hundred keys, and sees only what is committed", async (store, another) => {
    if (!another.findMany) return;
    const ids = Array.from({ length: 500 }, (_, index) => `p${index}`);
    await saved(store, { created: ids.slice(0, 300).map((id) => payment(id)) });
    await store.transaction(async (tx) => {
      await store.lock(tx, { clientIds: ids.slice(0, 10) });
      await store.save(tx, { updated: [payment("p0", { status: "not yet" })] });
      const found = await another.findMany!({ clientIds: ids });
      assert.equal(found.length, 300);
      assert.ok(found.every(({ status }) => status === undefined));
    });
  });
}

import assert from "node:assert/strict";
import { payment } from "./fixtures.js";
import { type Checks, same, saved } from "./steps.js";

/** Checks of `migrate`. */
export const migrateChecks: Checks = {
  async "migrate makes the tables once, when several processes call it at the same time and again"(
    store,
    another,
  ) {
    await Promise.all([store, another, store, another].map((each) => each.migrate()));
    await saved(store, { created: [payment("p1")] });
    await another.migrate();
    same(await another.find("p1"), payment("p1"));
  },
};

/** Checks of `identify`. */
export const identifyChecks: Checks = {
  async "identify returns one id, and keeps it, for every process"(store, another) {
    const [first, second] = await Promise.all([store.identify("id-1"), another.identify("id-2")]);
    assert.ok(typeof first === "string" && first !== "", "identify returned no id");
    same([second, await store.identify("id-3"), await another.identify("id-4")], [first, first, first]);
  },
};

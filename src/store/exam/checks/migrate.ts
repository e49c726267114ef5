import { payment } from "./fixtures.js";
import { type Checks, same, saved } from "./steps.js";

/** `migrate`, where the store has it. */
export const migrateChecks: Checks = {
  async "migrate makes the tables once, when several processes call it at the same time and again"(
    store,
    another,
  ) {
    if (!store.migrate) return;
    await Promise.all([store, another, store, another].map((each) => each.migrate!()));
    await saved(store, { created: [payment("p1")] });
    await another.migrate!();
    same(await another.find("p1"), payment("p1"));
  },
};

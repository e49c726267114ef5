import assert from "node:assert/strict";
import { hasCode } from "../../../errors/index.js";
import { auditor, event, ledger, mailer } from "./fixtures.js";
import {
  type Checks,
  claimed,
  concurrently,
  pairs,
  rolledBack,
  same,
  saved,
  settled,
  withEvents,
} from "./steps.js";

const note = (id: string, version: number, value: object | null = { by: "Amina" }) => ({
  kind: "handler",
  id,
  version,
  value: value as Record<string, unknown> | null,
});
const isConflict = (error: unknown): boolean => hasCode(error, "store_conflict");

/** Checks of `notes`, and of notes in `save`. */
export const noteChecks: Checks = {
  async "notes returns what save wrote, by kind and id, each with its version"(store, another) {
    const value = { deep: { list: [1, "é"] }, none: undefined };
    await saved(store, { notes: [note("b", 0), note("a é", 0, value)] });
    await saved(store, { notes: [{ ...note("b", 0), kind: "attention" }] });
    await saved(store, { notes: [note("b", 1, { by: "Said" })] });
    const [a, b] = [note("a é", 1, { deep: { list: [1, "é"] } }), note("b", 2, { by: "Said" })];
    same(await another.notes({ kind: "handler" }), [a, b]);
    same(await another.notes({ kind: "handler", ids: ["b", "none"] }), [b]);
    same(await another.notes({ kind: "handler", ids: [] }), []);
    same(await another.notes({ kind: "none" }), []);
  },

  async "save refuses a note of another version, with everything else, and a deleted note is gone"(store) {
    await saved(store, { notes: [note("a", 0)] });
    for (const wrong of [note("a", 0), note("a", 2), note("a", 2, null), note("b", 1)])
      await assert.rejects(saved(store, { notes: [note("c", 0), wrong], events: [event("e1")] }), isConflict);
    await rolledBack(store, { notes: [note("c", 0)] });
    same(await store.notes({ kind: "handler" }), [note("a", 1)]);
    await saved(store, { notes: [note("a", 1, null)] });
    same(await store.notes({ kind: "handler" }), []);
    await saved(store, { notes: [note("a", 0)] });
    same(await store.notes({ kind: "handler" }), [note("a", 1)]);
  },

  async "of many processes that change one version of a note, one does"(store, another) {
    await saved(store, { notes: [note("a", 0)] });
    const results = await concurrently(6, [store, another], (mine, index) =>
      saved(mine, { notes: [note("a", 1, { index })] }).then(
        () => [index],
        (error: unknown) => {
          assert.ok(isConflict(error), String(error));
          return [];
        },
      ),
    );
    const [winner, ...others] = results.flat();
    same(others, []);
    same(await store.notes({ kind: "handler" }), [note("a", 2, { index: winner })]);
  },
};

/** Checks of `handlers`, and of the handlers that `counts` leaves out. */
export const handlerChecks: Checks = {
  async "handlers returns each name with its events, and counts what waits and what is dead"(store, another) {
    same(await store.handlers(), []);
    await withEvents(store, [ledger, { event: "payment.overdue", name: "ledger" }, auditor], 3);
    const events = { ledger: ["payment.completed", "payment.overdue"], auditor: ["*"] };
    const of = (name: keyof typeof events, waiting: number, dead: number) => ({
      name,
      events: events[name],
      waiting,
      dead,
    });
    // No claim has made the dispatches yet.
    same(await another.handlers(), [of("auditor", 3, 0), of("ledger", 3, 0)]);
    const [first, second] = await claimed(store, [ledger]);
    await settled(store, first!, { state: "done" });
    await settled(store, second!, { state: "dead", error: "no" });
    same(await another.handlers(), [of("auditor", 3, 0), of("ledger", 1, 1)]);
  },

  async "handlers that several processes register at the same time are all listed, each once"(
    store,
    another,
  ) {
    await concurrently(6, [store, another], (mine, index) =>
      mine.registerHandlers([ledger, index < 3 ? mailer : auditor]),
    );
    await saved(store, { events: [event("e1")] });
    const listed = (await another.handlers()).map(({ name, waiting }) => `${name} ${waiting}`);
    same(listed, ["auditor 1", "ledger 1", "mailer 1"]);
    const claims = await claimed(another, [ledger, mailer, auditor]);
    same(pairs(claims), ["e1 auditor", "e1 ledger", "e1 mailer"]);
  },

  async "counts leaves the events out for which only excepted handlers wait"(store) {
    await store.registerHandlers([ledger, mailer]);
    await saved(store, { events: [event("e1", { recordedAt: "2024-05-01T10:00:00.000Z" })] });
    same((await store.counts({ except: ["ledger", "mailer"] })).oldestUndoneAt, undefined);
    const [mail] = await claimed(store, [mailer]);
    same((await store.counts({ except: ["ledger"] })).oldestUndoneAt, "2024-05-01T10:00:00.000Z");
    await settled(store, mail!, { state: "done" });
    same((await store.counts({ except: ["ledger"] })).oldestUndoneAt, undefined);
    same((await store.counts()).oldestUndoneAt, "2024-05-01T10:00:00.000Z");
  },
};

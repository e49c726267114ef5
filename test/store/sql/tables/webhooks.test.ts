import { event, ledger, payment, webhook } from "../../../../src/store/exam/checks/fixtures.js";
import { claimed, recorded, saved, settled } from "../../../../src/store/exam/checks/steps.js";
import { mysqlDialect } from "../../../../src/store/sql/mysql/mysql-dialect.js";
import { tablesUnder } from "../../../../src/store/sql/tables/names.js";
import { copiesStatements } from "../../../../src/store/sql/tables/webhooks.js";
import { onEachDatabase, onEachServer, openPlace, openStore } from "../../../promises/processes/databases.js";

const later = "2099-01-01T00:00:00.000Z";

// SQLite has one writer.
onEachServer("webhooks that another transaction has locked", (kind) => {
  it("are left out by a sweep and by a prune, which do not wait for them", async () => {
    const place = await openPlace(kind);
    const { store } = place;
    const other = openStore({ ...place.address, options: { busyTimeoutMs: 1000 } });
    await store.registerHandlers([ledger]);
    await saved(store, {
      webhooks: [
        ...["s1", "s2"].map((key) => webhook(key, { outcome: "unmatched" })),
        ...["d1", "d2"].map((key) => webhook(key)),
      ],
      events: [event("e1"), event("e2")],
    });
    for (const claim of await claimed(store, [ledger])) await settled(store, claim, { state: "done" });
    const strays = () =>
      other.transaction(async (tx) => {
        const found = await other.stray(tx, { before: later, limit: 9 });
        return found.map(({ eventKey }) => eventKey);
      });
    await store.transaction(async (tx) => {
      const [first] = await store.stray(tx, { before: later, limit: 1 });
      expect(await strays()).toEqual(["s1", "s2"].filter((key) => key !== first!.eventKey));
      await tx.query(`select 1 from ${place.address.prefix}webhooks where event_key = 'd1' for update`);
      await tx.query(`select 1 from ${place.address.prefix}events where id = 'e1' for update`);
      expect(await other.prune({ before: later, limit: 9 })).toMatchObject({ webhooks: 1, events: 1 });
    });
    expect(await strays()).toEqual(["s1", "s2"]);
    expect(await other.prune({ before: later, limit: 9 })).toMatchObject({ webhooks: 1, events: 1 });
    await other.close();
    await place.remove();
  });
});

onEachDatabase("many webhooks in one change", (kind) => {
  it.each([1, 2, 70])("are stored without the taken one among %d others, as are payments", async (count) => {
    const place = await openPlace(kind);
    const { store } = place;
    const names = Array.from({ length: count }, (_, n) => `n${String(n).padStart(2, "0")}`);
    const first = { created: [payment("taken", { failure: "first" })], webhooks: [webhook("taken")] };
    await saved(store, first);
    const group = [...names.slice(0, count / 2), "taken", ...names.slice(count / 2)];
    const both = await saved(store, {
      created: group.map((name, n) => payment(name, n % 3 === 0 ? { metadata: { n } } : {})),
      webhooks: group.map((name, n) =>
        webhook(name, { clientId: name, ...(n % 3 === 0 && { reason: name }) }),
      ),
    });
    expect(both).toEqual({ takenClientIds: ["taken"], takenEventKeys: ["taken"] });
    const stored = await store.webhooks({ limit: 100 });
    const expected = group.map(
      (name, n) => [name, name !== "taken" && n % 3 === 0 ? name : undefined] as const,
    );
    expect(new Map(stored.map(({ eventKey, reason }) => [eventKey, reason]))).toEqual(new Map(expected));
    const payments = await store.list({ newestFirst: false, limit: 100 });
    expect(payments.find(({ clientId }) => clientId === "taken")).toEqual(first.created[0]);
    expect(payments.filter(({ metadata }) => metadata).length).toBe(
      group.filter((name, n) => name !== "taken" && n % 3 === 0).length,
    );
    await place.remove();
  });

  it("are counted, decided again, raised, dismissed and resolved, each of them", async () => {
    const place = await openPlace(kind);
    const { store } = place;
    const keys = Array.from({ length: 130 }, (_, n) => `k${String(n).padStart(3, "0")}`);
    const receiptIds = keys.map((key) => webhook(key).receiptId);
    const read = (need: "mismatched" | "unmatched") => store.webhooks({ need, limit: 200 });
    await saved(store, { webhooks: keys.map((key) => webhook(key, { outcome: "unmatched" })) });
    expect(await recorded(store, keys)).toEqual(keys);

    await saved(store, { copies: keys.map((eventKey, n) => ({ eventKey, count: n + 1 })) });
    const found = await read("unmatched");
    expect(found.map(({ eventKey, copies }) => [eventKey, copies])).toEqual(
      keys.map((key, n) => [key, n + 1]),
    );
    await saved(store, { raised: receiptIds });
    expect(await store.transaction((tx) => store.stray(tx, { before: later, limit: 200 }))).toEqual([]);
    expect(await read("unmatched")).toHaveLength(130);
    await saved(store, { dismissed: receiptIds });
    expect(await read("unmatched")).toEqual([]);

    const decidedAt = "2026-11-21T10:00:00.000Z";
    const rematched = receiptIds.map((receiptId, n) => ({
      receiptId,
      outcome: n % 2 === 0 ? ("mismatch" as const) : ("applied" as const),
      ...(n % 3 === 0 && { reason: `reason ${n}` }),
      decidedAt,
    }));
    await saved(store, { rematched });
    const mismatched = await read("mismatched");
    expect(mismatched.map(({ receiptId, reason }) => [receiptId, reason])).toEqual(
      rematched.flatMap(({ receiptId, outcome, reason }) =>
        outcome === "mismatch" ? [[receiptId, reason]] : [],
      ),
    );
    const resolutions = receiptIds.map((receiptId, n) => ({
      id: `r${n}`,
      clientId: "p1",
      action: "dismissed" as const,
      receiptId,
      reason: "a test",
      by: "Amina",
      at: decidedAt,
    }));
    await saved(store, { resolutions });
    expect(await read("mismatched")).toEqual([]);
    await place.remove();
  });
});

it("copies are counted in the order of their eventKeys, so that two transactions cannot deadlock", () => {
  const copies = ["b", "c", "a", "b"].map((eventKey) => ({ eventKey, count: 1 }));
  const [statement] = copiesStatements({ dialect: mysqlDialect, tables: tablesUnder("shop_") }, copies);
  expect(statement!.params.slice(0, 6)).toEqual(["a", 1, "b", 2, "c", 1]);
});

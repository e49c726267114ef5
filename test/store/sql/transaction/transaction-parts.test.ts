import { type SqliteDatabase, type SqlTx } from "tillkit/sql";
import { event, payment } from "../../../../src/store/exam/checks/fixtures.js";
import { clientIds, saved } from "../../../../src/store/exam/checks/steps.js";
import { resolveSqlStoreOptions } from "../../../../src/store/sql/options.js";
import { SqlStore } from "../../../../src/store/sql/sql-store.js";
import { SqliteDriver } from "../../../../src/store/sql/sqlite/sqlite-driver.js";
import { tablesUnder } from "../../../../src/store/sql/tables/names.js";
import { temporaryFiles } from "../support/temporary-files.js";

type Tx = SqlTx<SqliteDatabase>;

const nextFile = temporaryFiles();

/** Opens a store on SQLite with a table of notes, and counts the announcements of events. */
async function openNotes() {
  const tables = tablesUnder("shop_");
  let announced = 0;
  const driver = Object.assign(new SqliteDriver(nextFile(), tables, resolveSqlStoreOptions()), {
    announce: () => void announced++,
  });
  const store = new SqlStore(driver, tables);
  await store.transaction((tx) => tx.query("create table notes (text text unique)"));
  const write = (text: string) => (tx: Tx) => tx.query("insert into notes values (?)", [text]);
  const kept = async () => {
    const { rows } = await store.query<{ text: string }>("select text from notes order by text");
    return rows.map(({ text }) => text);
  };
  return { store, write, kept, announced: () => announced };
}

describe("a part of a shared transaction", () => {
  it.each([
    "commit",
    "rollback",
    "drop table notes",
    "insert into notes values ('a'); commit",
    "/* select */ vacuum",
    "-- select\n savepoint a",
  ])("cannot run %j, which could end the runs of other events", async (sql) => {
    const { store, write, kept } = await openNotes();
    await store.runShared(async (part) => {
      await part(write("before"));
      const refused = { code: "transaction_control_refused" };
      for (const _try of ["first", "second"])
        await expect(part((tx) => tx.query(sql))).rejects.toMatchObject(refused);
      await expect(part((tx) => tx.raw)).rejects.toMatchObject(refused);
      return [];
    });
    expect(await kept()).toEqual(["before"]);
    await store.close();
  });

  it.each([
    "insert into notes values ('a; commit')",
    "  with one as (select 'b' as text) insert into notes select text from one;",
    "/* a reason; */ replace into notes values ('c')",
    "update notes set text = 'd' -- ; rollback",
  ])("can run %j", async (sql) => {
    const { store } = await openNotes();
    const running = store.runShared(async (part) => {
      await part((tx) => tx.query(sql));
      return [];
    });
    await expect(running).resolves.toBeUndefined();
    await store.close();
  });

  it("that cannot be rolled back separately ends the transaction, and no later part runs", async () => {
    const { store, write, kept } = await openNotes();
    await store.transaction(write("taken"));
    const ran: string[] = [];
    const working = store.runShared(async (part) => {
      await part(write("first"));
      // SQLite rolls the whole transaction back.
      const broken = part((tx) => tx.query("insert or rollback into notes values ('taken')"));
      await expect(broken).rejects.toThrow("UNIQUE");
      const late = part(async (tx) => {
        ran.push("late");
        await write("late")(tx);
      });
      await expect(late).rejects.toMatchObject({ code: "transaction_closed" });
      return [];
    });
    await expect(working).rejects.toBeInstanceOf(Error);
    expect([await kept(), ran]).toEqual([["taken"], []]);
    await store.transaction(write("next"));
    expect(await kept()).toEqual(["next", "taken"]);
    await store.close();
  });

  it("writes nothing after its end, also where its first statement comes so late", async () => {
    const { store, write, kept } = await openNotes();
    await store.runShared(async (part) => {
      const ended: Tx[] = [];
      await part(async (tx) => {
        await write("used")(tx);
        ended.push(tx);
      });
      await part(async (tx) => void ended.push(tx));
      for (const tx of ended)
        await expect(write("late")(tx)).rejects.toMatchObject({ code: "transaction_closed" });
      await part(write("after"));
      return [];
    });
    expect(await kept()).toEqual(["after", "used"]);
    await store.close();
  });

  it("announces its events after the commit, unless it was rolled back", async () => {
    const { store, announced } = await openNotes();
    const save = (id: string) => (tx: Tx) => store.save(tx, { events: [event(id)] });
    await store.runShared(async (part) => {
      const failing = part(async (tx) => {
        await save("e1")(tx);
        throw new Error("no");
      });
      await expect(failing).rejects.toThrow("no");
      return [];
    });
    expect(announced()).toBe(0);
    await store.runShared(async (part) => {
      await part(save("e2"));
      await part(async () => {});
      expect(announced()).toBe(0);
      return [];
    });
    expect(announced()).toBe(1);
    await store.close();
  });

  it("sees what the parts before it wrote, and nothing of those that were rolled back", async () => {
    const { store } = await openNotes();
    await saved(store, { created: ["p1", "p2"].map((id) => payment(id)) });
    const seen: (string | undefined)[] = [];
    await store.runShared(async (part) => {
      const change = (id: string, isFailing: boolean) => async (tx: Tx) => {
        await store.save(tx, { updated: [payment(id, { failure: `of ${id}` })] });
        if (isFailing) throw new Error("no");
      };
      await part(change("p1", false));
      await expect(part(change("p2", true))).rejects.toThrow("no");
      await part(async (tx) => {
        const { payments } = await store.lock(tx, { clientIds: ["p1", "p2"] });
        expect(clientIds(payments)).toEqual(["p1", "p2"]);
        seen.push(...payments.map(({ failure }) => failure));
      });
      return [];
    });
    expect(seen).toEqual(["of p1", undefined]);
    await store.close();
  });
});

import { randomBytes } from "node:crypto";
import { type Socket } from "node:net";
import { because } from "../../shared/because.js";
import { type StoreExam, type StoreExamOptions } from "../../store/exam/index.js";
import { type SqlPaymentStore, sqlStore, type SqlTx } from "../../store/sql/index.js";
import { openDriver } from "../../store/sql/open-store.js";
import { optionError } from "../terminal/arguments.js";
import { type Output } from "../terminal/output.js";

/** Runs statements outside of the stores. It needs no tables of the kit, which the server may refuse. */
type ExamDriver = ReturnType<typeof openDriver>["driver"];

/** The exam of a server, whose stores have tables of their own. */
export interface DatabaseExam extends StoreExam<SqlTx> {
  /** Closes all stores, and removes all tables of the exam. */
  end: () => Promise<void>;
}

/**
 * Prepares the exam of a PostgreSQL or MySQL server. The names of all its tables begin with a prefix that
 * contains random characters, so that no other table has such a name. Prints this prefix. When `signal` is
 * aborted, the open stores are closed, and no further check begins.
 *
 * Rejects as a store does at its first use.
 *
 * @throws TillkitError `command_option_invalid` for a file, and ConfigurationError `option_invalid`
 */
export async function prepareDatabaseExam(
  database: string,
  output: Output,
  signal: AbortSignal | undefined,
): Promise<DatabaseExam> {
  const { kind, driver } = openDriver(database);
  if (kind === "sqlite")
    throw optionError(
      "--store names a file. The exam of a database needs the address of a server.",
      "To examine SQLite, use a module with sqliteStore of tillkit/sql. Export create = async () => sqliteStore(file), with the name of a new file for each call.",
    );
  const prefix = `tillkit_exam_${randomBytes(4).toString("hex")}_`;
  output.print(`The exam makes tables whose names begin with ${prefix}, and removes them at its end.\n`);
  const open = new Set<SqlPaymentStore>();
  const closeAll = () => Promise.allSettled([...open].map((store) => store.close()));
  const openStore = (tablePrefix: string): SqlPaymentStore => {
    const store = sqlStore(database, { tablePrefix });
    open.add(store);
    return store;
  };
  const end = async (): Promise<void> => {
    await closeAll();
    try {
      await dropTables(driver, kind, prefix);
    } catch (error) {
      output.log(`The tables whose names begin with ${prefix} were not removed${because(error)}`);
    } finally {
      await driver.close();
    }
  };
  try {
    await driver.readVersion();
  } catch (error) {
    await driver.close();
    throw error;
  }
  const writes = `${prefix}writes`;
  const makeWrites = () => driver.query(`create table ${writes} (id varchar(64) not null primary key)`, []);
  try {
    await makeWrites();
    // A user without the right to remove tables would leave the tables of every check.
    await dropTables(driver, kind, writes);
    await makeWrites();
    // A server that refuses the kit's tables would fail every check, and may make some of the tables.
    const first = openStore(`${prefix}0_`);
    await first.migrate();
    await first.close();
  } catch (error) {
    await end();
    throw error;
  }
  let count = 0;
  const create = async () => {
    signal?.throwIfAborted();
    const tablePrefix = `${prefix}${(count += 1)}_`;
    const remove = async (): Promise<void> => {
      open.clear();
      await dropTables(driver, kind, tablePrefix);
    };
    return { store: openStore(tablePrefix), reopen: async () => openStore(tablePrefix), remove };
  };
  signal?.addEventListener("abort", () => void closeAll());
  return { create, probe: probeOf(driver, writes, kind === "postgres" ? "$1" : "?"), end };
}

/** Drops the tables whose names begin with this prefix. */
async function dropTables(driver: ExamDriver, kind: "postgres" | "mysql", prefix: string): Promise<void> {
  const schema = kind === "postgres" ? "current_schema()" : "database()";
  const { rows } = await driver.query(
    `select table_name as name from information_schema.tables
      where table_schema = ${schema} and table_name like '${prefix}%'`,
    [],
  );
  // In a pattern, an underscore matches every character.
  const names = rows.map(({ name }) => String(name)).filter((name) => name.startsWith(prefix));
  // A check that hung may end later, and remove its tables at the same time.
  if (names.length > 0) await driver.query(`drop table if exists ${names.join(", ")}`, []);
}

/** Returns the application's writes of the exam: rows of this table. */
function probeOf(driver: ExamDriver, table: string, first: string): StoreExamOptions<SqlTx>["probe"] {
  return {
    write: (tx, key) => tx.query(`insert into ${table} (id) values (${first})`, [key]),
    has: async (key) => {
      const { rows } = await driver.query(`select id from ${table} where id = ${first}`, [key]);
      return rows.length > 0;
    },
    refused: (tx) => tx.query(`insert into ${table} (id) values (null)`),
    async cut(tx) {
      // Not every server has a statement that ends a connection. Both drivers have these fields.
      const { connection } = (await tx.raw) as { connection: { stream: Socket } };
      connection.stream.destroy();
    },
  };
}

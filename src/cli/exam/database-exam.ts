import { randomBytes } from "node:crypto";
import { type Socket } from "node:net";
import { hasCode } from "../../errors/index.js";
import { because } from "../../shared/because.js";
import { readDatabase } from "../../shared/database-address.js";
import { type StoreExam, type StoreExamOptions } from "../../store/exam/index.js";
import { type SqlPaymentStore, sqlStore, type SqlTx } from "../../store/sql/index.js";
import { optionError } from "../terminal/arguments.js";
import { type Output } from "../terminal/output.js";

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
  const { kind } = readDatabase(database);
  if (kind === "sqlite")
    throw optionError("--store names a file. The exam of a database needs the address of a server.");
  const prefix = `tillkit_exam_${randomBytes(4).toString("hex")}_`;
  output.print(`The exam makes tables whose names begin with ${prefix}, and removes them at its end.\n`);
  const open = new Set<SqlPaymentStore>();
  const closeAll = () => Promise.allSettled([...open].map((store) => store.close()));
  const openStore = (tablePrefix: string): SqlPaymentStore => {
    const store = sqlStore(database, { tablePrefix });
    open.add(store);
    return store;
  };
  // This store has its own tables, and reads and removes the tables of the other stores.
  const keeper = sqlStore(database, { tablePrefix: `${prefix}0_` });
  const end = async (): Promise<void> => {
    await closeAll();
    try {
      await dropTables(keeper, kind, prefix);
    } catch (error) {
      output.log(`The tables whose names begin with ${prefix} were not removed${because(error)}`);
    } finally {
      await keeper.close();
    }
  };
  const writes = `${prefix}writes`;
  try {
    await keeper.query(`create table ${writes} (id varchar(64) not null primary key)`);
  } catch (error) {
    // A product that refuses the tables may already have made some of them.
    await (hasCode(error, "database_unexamined") ? end() : keeper.close());
    throw error;
  }
  let count = 0;
  const create = async () => {
    signal?.throwIfAborted();
    const tablePrefix = `${prefix}${(count += 1)}_`;
    const remove = async (): Promise<void> => {
      open.clear();
      await dropTables(keeper, kind, tablePrefix);
    };
    return { store: openStore(tablePrefix), reopen: async () => openStore(tablePrefix), remove };
  };
  signal?.addEventListener("abort", () => void closeAll());
  return { create, probe: probeOf(keeper, writes, kind === "postgres" ? "$1" : "?"), end };
}

/** Drops the tables whose names begin with this prefix. */
async function dropTables(store: SqlPaymentStore, kind: "postgres" | "mysql", prefix: string): Promise<void> {
  const schema = kind === "postgres" ? "current_schema()" : "database()";
  const { rows } = await store.query<{ name: string }>(
    `select table_name as name from information_schema.tables
      where table_schema = ${schema} and table_name like '${prefix}%'`,
  );
  // In a pattern, an underscore matches every character.
  const names = rows.map(({ name }) => name).filter((name) => name.startsWith(prefix));
  if (names.length > 0) await store.query(`drop table ${names.join(", ")}`);
}

/** Returns the application's writes of the exam: rows of this table. */
function probeOf(keeper: SqlPaymentStore, table: string, first: string): StoreExamOptions<SqlTx>["probe"] {
  return {
    write: (tx, key) => tx.query(`insert into ${table} (id) values (${first})`, [key]),
    has: async (key) => {
      const { rows } = await keeper.query(`select id from ${table} where id = ${first}`, [key]);
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

import { ConfigurationError } from "../../errors/index.js";
import { mysqlStore } from "./mysql/mysql-store.js";
import { type SqlStoreOptions } from "./options.js";
import { postgresStore } from "./postgres/postgres-store.js";
import { type SqlPaymentStore } from "./sql-store.js";
import { sqliteStore } from "./sqlite/sqlite-store.js";

/** A database as one text names it: an address, or a file. */
export interface NamedDatabase {
  kind: "sqlite" | "postgres" | "mysql";
  /** The address, or the path of the file. */
  at: string;
}

/**
 * Reads such a text as the kit does.
 *
 * @throws ConfigurationError `option_invalid` for an address of another kind. The text is never repeated: it may hold a
 * password.
 */
export function readDatabase(database: string): NamedDatabase {
  if (/^postgres(ql)?:\/\//i.test(database)) return { kind: "postgres", at: database };
  if (/^(mysql|mariadb):\/\//i.test(database)) return { kind: "mysql", at: database };
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(database) && !/^(sqlite|file):/i.test(database)) {
    const message = "names a kind of database that is not known; use a file, postgres:// or mysql://.";
    throw new ConfigurationError([{ code: "option_invalid", option: "store", message }]);
  }
  return { kind: "sqlite", at: database.replace(/^(sqlite|file):(\/\/)?/i, "") };
}

/**
 * The store for a database that one text names, as in `TILLKIT_DATABASE`: `postgres://…`, `mysql://…`, `mariadb://…`,
 * or a SQLite file (`shop.db`, `sqlite:shop.db`). Opens nothing before its first use.
 *
 * @throws ConfigurationError `option_invalid`
 */
export function sqlStore(database: string, options?: SqlStoreOptions): SqlPaymentStore {
  const { kind, at } = readDatabase(database);
  if (kind === "postgres") return postgresStore(at, options);
  if (kind === "mysql") return mysqlStore(at, options);
  return sqliteStore(at, options);
}

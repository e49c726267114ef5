/**
 * Stores over SQLite, PostgreSQL and MySQL.
 *
 * @module tillkit/sql
 */

export { asPool } from "./orm/as-pool.js";
export { mysqlStore, postgresStore, schemaState, sqliteStore, sqlStore } from "./open-store.js";
export type { SchemaState } from "./open-store.js";
export type { SqlPaymentStore } from "./sql-store.js";
export type { SqlResult, SqlTx } from "./driver/sql-tx.js";
export type { SqlStoreOptions } from "./options.js";
export type { SqliteDatabase, SqliteStatement } from "./sqlite/database.js";
export type { PostgresAnswer, PostgresClient, PostgresPool } from "./postgres/pool.js";
export type { AnyMysqlPool, MysqlConnection, MysqlPool } from "./mysql/pool.js";

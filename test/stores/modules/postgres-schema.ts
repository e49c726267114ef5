import { Client } from "pg";
import { type LedgerRow } from "./store-module.js";

/** A schema of one test, with the merchant's table and a ledger. The adapters name their tables without it. */
export function postgresSchema(prefix: string) {
  const schema = `${prefix}shop`;
  const url = process.env["TILLKIT_TEST_POSTGRES_URL"] ?? "postgres://postgres@127.0.0.1:5432/test";
  // A role or a database may have another isolation level than an adapter needs.
  const options = `-c search_path=${schema} -c default_transaction_isolation=serializable`;
  const connection = { connectionString: url, options };
  const query = async (sql: string): Promise<unknown[]> => {
    const client = new Client(connection);
    await client.connect();
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  };
  return {
    schema,
    connection,
    prepare: async (): Promise<void> => {
      await query(
        `create schema ${schema};
         create table payment_records (key text collate "C" primary key, value text not null, version integer not null);
         create table ledger (client_id text, reference text, event_id text, idempotency_key text, attempt integer)`,
      );
    },
    rows: () => query("select * from ledger") as Promise<LedgerRow[]>,
    remove: async (): Promise<void> => {
      await query(`drop schema ${schema} cascade`);
    },
  };
}

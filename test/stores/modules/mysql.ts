import { createConnection, createPool } from "mysql2/promise";
import { mysqlAdapter, type MysqlTx } from "../../../examples/stores/mysql.js";
import { type LedgerRow, type StoreModule } from "./store-module.js";

/** Makes the store of the MySQL example, in a database of its own on the server at TILLKIT_TEST_MYSQL_URL. */
export const create: StoreModule<MysqlTx>["create"] = ({ prefix }, { storeOver }) => {
  const url = new URL(process.env["TILLKIT_TEST_MYSQL_URL"]!);
  const ask = async (sql: string): Promise<unknown> => {
    const connection = await createConnection({ uri: url.href, multipleStatements: true });
    try {
      return (await connection.query(sql))[0];
    } finally {
      await connection.end();
    }
  };
  const database = `${prefix}shop`;
  const uri = Object.assign(new URL(url), { pathname: `/${database}` }).href;
  return {
    store: storeOver(mysqlAdapter(createPool({ uri, connectionLimit: 20 }) as never)),
    write: (tx, row) => tx.query("insert into ledger set ?", [row]),
    prepare: async () =>
      void (await ask(
        `create database ${database}; use ${database};
         create table payment_records
           (id varbinary(500) primary key, version int not null, value longtext character set utf8mb4 not null);
         create table ledger (client_id text, reference text, event_id text, idempotency_key text, attempt int)`,
      )),
    rows: () => ask(`select * from ${database}.ledger`) as Promise<LedgerRow[]>,
    remove: async () => void (await ask(`drop database ${database}`)),
  };
};

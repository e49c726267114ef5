// Opens the kit's stores, each with a table of orders that the handler writes to.
import { mysqlDatabase, postgresDatabase, sqliteFile } from "./database.mjs";
import { kit } from "./kit.mjs";

const records = ["payments", "webhooks", "events", "dispatches"].map((name) => `tillkit_${name}`);
const makeOrders = "create table orders (id varchar(64) primary key, paid integer not null)";

/** @param shared the database of another process, as its store's `name` tells */
export async function openStore(name, { shared, maxConnections } = {}) {
  switch (name) {
    case "memory":
      return inMemory();
    case "sqlite": {
      const database = sqliteFile(shared);
      return overSql(kit.sqliteStore(database.file), database, shared);
    }
    case "postgres": {
      const database = await postgresDatabase(shared);
      return overSql(kit.postgresStore(database.url, { maxConnections }), database, shared);
    }
    case "mysql": {
      const database = await mysqlDatabase(shared);
      return overSql(kit.mysqlStore(database.url, { maxConnections }), database, shared);
    }
    default:
      throw new Error(`There is no store ${name}.`);
  }
}

function inMemory() {
  const store = new kit.MemoryStore();
  const paid = new Map();
  return {
    store,
    orders: {
      insert: async (tx, created) => {
        for (const { reference } of created) paid.set(reference, false);
      },
      pay: async (tx, reference) => tx.onCommit(() => paid.set(reference, true)),
    },
    analyse: async () => {},
    completed: async () => (await store.list({ state: "completed", limit: Infinity })).length,
  };
}

async function overSql(store, { name, drop, cpuUs, figures }, shared) {
  await store.migrate();
  if (!shared) await store.transaction((tx) => tx.query(makeOrders));
  return {
    name,
    store,
    orders: {
      async insert(tx, created) {
        // The benchmark makes the references, so they need no escaping.
        const rows = created.map(({ reference }) => `('${reference}', 0)`).join(", ");
        await tx.query(`insert into orders (id, paid) values ${rows}`);
      },
      async countPaid() {
        const sql = "select count(*) as count from orders where paid = 1";
        const { rows } = await store.transaction((tx) => tx.query(sql));
        return Number(rows[0].count);
      },
      pay: (tx, reference) =>
        tx.query(`update orders set paid = 1 where id = ${tx.dialect === "postgres" ? "$1" : "?"}`, [
          reference,
        ]),
    },
    // PostgreSQL plans by the size of the tables, which it does not know before the first analysis.
    async analyse() {
      await store.transaction(async (tx) => tx.dialect === "postgres" && (await tx.query("analyze")));
    },
    async completed() {
      const sql = "select count(*) as count from tillkit_payments where state = 'completed'";
      const { rows } = await store.transaction((tx) => tx.query(sql));
      return Number(rows[0].count);
    },
    /** Deletes everything but the handlers' names. */
    async empty() {
      for (const table of ["orders", ...records]) {
        await store.transaction((tx) =>
          tx.query(tx.dialect === "sqlite" ? `delete from ${table}` : `truncate table ${table}`),
        );
      }
    },
    drop,
    cpuUs,
    figures,
  };
}

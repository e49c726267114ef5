// The kit's stores, each with a table of orders beside it for the handler to write to.
import { postgresDatabase, sqliteFile } from "./database.mjs";
import { kit } from "./kit.mjs";

const makeOrders = "create table orders (id varchar(64) primary key, paid integer not null)";

export async function openStore(name) {
  switch (name) {
    case "memory":
      return inMemory();
    case "sqlite": {
      const { file, drop } = sqliteFile();
      return overSql(kit.sqliteStore(file), { drop });
    }
    case "postgres": {
      const database = await postgresDatabase();
      return overSql(kit.postgresStore(database.url), database);
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

async function overSql(store, { drop, cpuUs }) {
  await store.migrate();
  await store.transaction((tx) => tx.query(makeOrders));
  return {
    store,
    orders: {
      async insert(tx, created) {
        // References are the bench's own.
        const rows = created.map(({ reference }) => `('${reference}', 0)`).join(", ");
        await tx.query(`insert into orders (id, paid) values ${rows}`);
      },
      pay: (tx, reference) =>
        tx.query(`update orders set paid = 1 where id = ${tx.dialect === "postgres" ? "$1" : "?"}`, [
          reference,
        ]),
    },
    // PostgreSQL plans by how large its tables are; a shop's knows, and this one was filled a moment ago.
    async analyse() {
      await store.transaction(async (tx) => tx.dialect === "postgres" && (await tx.query("analyze")));
    },
    async completed() {
      const sql = "select count(*) as count from tillkit_payments where state = 'completed'";
      const { rows } = await store.transaction((tx) => tx.query(sql));
      return Number(rows[0].count);
    },
    drop,
    cpuUs,
  };
}

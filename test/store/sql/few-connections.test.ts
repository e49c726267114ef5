import { createPool } from "mysql2/promise";
import { Pool } from "pg";
import { mysqlStore, postgresStore, type SqlPaymentStore } from "tillkit/sql";
import { serverUrl } from "../../promises/processes/databases.js";
import { closeAll, testKit } from "../../support/kit.js";
import { completedBody, signed } from "../../support/webhooks.js";
import { tablePrefixes } from "./support/table-prefixes.js";

/** The number of connections that the server grants. One records, and one listens on PostgreSQL. */
const granted = 3;

/** The time after which `health` no longer waits for the store. */
const healthTimeoutMs = 2000;

interface Server {
  run(sql: string): Promise<unknown>;
  open(url: string, tablePrefix: string): SqlPaymentStore;
  /** Makes a user with so few connections, and removes it. */
  create: string[];
  drop: string[];
  end(): Promise<unknown>;
}

function postgres(url: string): Server {
  const pool = new Pool({ connectionString: url });
  return {
    run: (sql) => pool.query(sql),
    open: (limited, tablePrefix) => postgresStore(limited, { tablePrefix }),
    create: [
      `create role few login password 'few' connection limit ${granted}`,
      "grant all on schema public to few",
    ],
    drop: ["drop owned by few", "drop role few"],
    end: () => pool.end(),
  };
}

function mysql(url: string): Server {
  const pool = createPool({ uri: url });
  return {
    run: (sql) => pool.query(sql),
    open: (limited, tablePrefix) => mysqlStore(limited, { tablePrefix }),
    create: [
      `create user few@'%' identified by 'few' with max_user_connections ${granted}`,
      `grant all on ${new URL(url).pathname.slice(1)}.* to few@'%'`,
    ],
    drop: ["drop user few@'%'"],
    end: () => pool.end(),
  };
}

describe.each([
  ["PostgreSQL", serverUrl("postgres"), postgres],
  ["MySQL", serverUrl("mysql"), mysql],
] as const)("where %s grants fewer connections than the pool may have", (_, url, connect) => {
  if (url === undefined) {
    it("is left out, because no server is named", () => expect(url).toBeUndefined());
    return;
  }

  it("the kit waits for the open ones: webhooks are taken, and the health is ok", async () => {
    const server = connect(url);
    const tables = tablePrefixes((sql) => server.run(sql));
    const limited = new URL(url);
    limited.username = limited.password = "few";
    for (const sql of server.create) await server.run(sql);
    try {
      const payments = testKit({ store: server.open(limited.href, tables.next()), spool: false });
      payments.onPaymentCompleted(async () => {});
      await payments.start();
      for (let [round, checked] = [1, 0]; checked < 20; round++) {
        const webhooks = [1, 2, 3].map((n) =>
          completedBody({ clientId: `c-${round}-${n}`, id: `s-${round}-${n}` }),
        );
        const startedAt = performance.now();
        const [health, ...receipts] = await Promise.all([
          payments.health(),
          ...webhooks.map((body) => payments.receiveWebhook(signed(body))),
        ]);
        expect(receipts.map(({ outcome }) => outcome)).toEqual(["unmatched", "unmatched", "unmatched"]);
        // On a machine that stops for seconds, the health rightly says that the store is slow.
        if (performance.now() - startedAt > healthTimeoutMs) continue;
        checked += 1;
        expect(health.reasons.filter(({ code }) => /^(store|webhooks)_/.test(code))).toEqual([]);
      }
    } finally {
      await closeAll();
      await tables.dropAll();
      for (const sql of server.drop) await server.run(sql);
      await server.end();
    }
  });
});

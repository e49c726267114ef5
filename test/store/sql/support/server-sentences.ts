import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { type SqlPaymentStore } from "tillkit/sql";
import { testStore } from "tillkit/testing";
import { tableProbe } from "./application-writes.js";
import { startUpSentences } from "./start-up-sentences.js";
import { tablePrefixes } from "./table-prefixes.js";
import { transactionSentences } from "./transaction-sentences.js";

interface Server<Pool, OtherPool> {
  name: string;
  url: string;
  pool: Pool;
  /** A pool for the statements of the application, where the driver has another kind of pool. */
  otherPool?: OtherPool;
  create: (source: string | Pool | OtherPool, options?: { tablePrefix: string }) => SqlPaymentStore;
  /** The first placeholder of this database. */
  first: "?" | "$1";
  /** An address at which no server is. */
  nowhere: string;
}

/** Tests that hold for a store on every server. Returns a prefix of tables, and the name of a table of the application. */
export function serverSentences<
  Pool extends { query(sql: string): Promise<unknown>; end(): Promise<unknown> },
  OtherPool,
>({
  name,
  url,
  pool,
  otherPool,
  create,
  first,
  nowhere,
}: Server<Pool, OtherPool>): { tablePrefix: string; table: string } {
  const tables = tablePrefixes((sql) => pool.query(sql));
  const prefixes = new WeakMap<object, string>();
  const tablePrefix = tables.next();
  const table = `${tablePrefix}orders`;
  const probed = `${tablePrefix}probed`;
  const cut = first === "$1" ? "select pg_terminate_backend(pg_backend_pid())" : "kill connection_id()";

  beforeAll(() => pool.query(`create table ${probed} (id varchar(50) primary key)`));
  afterAll(async () => {
    await pool.query(`drop table if exists ${table}, ${probed}`);
    await tables.dropAll();
    await pool.end();
  });

  // With its own pool the kit sends some statements in fewer round trips.
  const pools = [
    [`${name} with the application's pool`, pool, url],
    [`${name} with a pool of its own`, url, pool],
  ] as const;
  for (const [title, source, again] of pools)
    testStore({
      name: title,
      create: async () => {
        const prefix = tables.next();
        const store = create(source, { tablePrefix: prefix });
        prefixes.set(store, prefix);
        return { store, probe: tableProbe(store, { table: probed, first, cut }) };
      },
      reopen: async (store) => create(again, { tablePrefix: prefixes.get(store)! }),
      remove: (store) => tables.drop(prefixes.get(store)!),
      test: it,
    });

  transactionSentences({ create: () => create(otherPool ?? pool, { tablePrefix }), first, table });

  const empty = tables.next();
  startUpSentences(() => create(url, { tablePrefix: empty }), `${empty}meta`);

  it("rejects with store_unavailable when the database cannot be reached, and says where and why", async () => {
    const store = create(nowhere.replace("nobody@", "nobody:a-password@"));
    await expect(store.find("p1")).rejects.toMatchObject({
      code: "store_unavailable",
      message: expect.stringMatching(
        /^(PostgreSQL|MySQL) cannot be reached at 127\.0\.0\.1:1: ECONNREFUSED\.$/,
      ),
    });
    await store.close();
  });

  it("names the host that does not answer, without the password of its address", async () => {
    const silent = createServer().listen(0, "127.0.0.1");
    await once(silent, "listening");
    const at = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const store = create(nowhere.replace("nobody@127.0.0.1:1", `nobody:a-password@${at}`));
    const { message } = (await store.find("p1").catch((error: Error) => error)) as Error;
    expect(message).toContain(` cannot be reached at ${at}: `);
    expect(message).not.toContain("a-password");
    await store.close();
    silent.close();
  });

  return { tablePrefix, table };
}

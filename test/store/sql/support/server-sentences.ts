import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { setImmediate as nextIteration } from "node:timers/promises";
import { type SqlPaymentStore, type SqlTx } from "tillkit/sql";
import { testStore } from "tillkit/testing";
import { tableProbe } from "./application-writes.js";
import { type DatabaseProxy, proxyTo } from "./database-proxy.js";
import { startUpSentences } from "./start-up-sentences.js";
import { tablePrefixes } from "./table-prefixes.js";
import { transactionSentences } from "./transaction-sentences.js";

interface Server<Pool, OtherPool> {
  name: string;
  url: string;
  pool: Pool;
  /** A pool for the statements of the application, where the driver has another kind of pool. */
  otherPool?: OtherPool;
  create: (
    source: string | Pool | OtherPool,
    options?: { tablePrefix: string; maxConnections?: number },
  ) => SqlPaymentStore;
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

  connectionSentences((at, options) => create(at, { tablePrefix, ...options }), url, first);
  return { tablePrefix, table };
}

/** Resolves when no connection is open any more. */
export async function untilNoneIsOpen(proxy: DatabaseProxy): Promise<number> {
  while (proxy.connections() > 0) await nextIteration();
  return proxy.connections();
}

const statements = {
  $1: {
    begin: { sent: "begin isolation", by: "start isolation" },
    session: "select pg_backend_pid() as id",
    isReadOnly: "do $$ begin raise exception using errcode = '25006'; end $$",
  },
  "?": {
    begin: { sent: "start transaction", by: "start_transaction" },
    session: "select connection_id() as id",
    isReadOnly: "signal sqlstate 'HY000' set mysql_errno = 1836",
  },
} as const;

/** Tests of the connections of a store's own pool. */
function connectionSentences(
  open: (url: string, options?: { maxConnections: number }) => SqlPaymentStore,
  url: string,
  first: "?" | "$1",
): void {
  const { begin, session, isReadOnly } = statements[first];

  it("a connection keeps the process alive while it is used, and no longer", async () => {
    const store = open(url);
    let handle: { hasRef(): boolean } | undefined;
    await store.transaction(async (tx) => {
      const { connection } = (await tx.raw) as { connection: { stream: Record<string, typeof handle> } };
      handle = connection.stream["_handle"];
      expect(handle!.hasRef()).toBe(true);
    });
    expect(handle!.hasRef()).toBe(false);
    await store.find("nobody");
    expect(handle!.hasRef()).toBe(false);
    await store.transaction(async (tx) => {
      await tx.query("select 1");
      expect(handle!.hasRef()).toBe(true);
    });
    await store.close();
  });

  it("gives each connection back whose begin or statement failed, however often", async () => {
    const proxy = await proxyTo(url);
    const store = open(proxy.url, { maxConnections: 5 });
    await store.migrate();
    proxy.replace(begin.sent, begin.by);
    for (let n = 0; n < 6; n++) await expect(store.transaction(async () => {})).rejects.toBeInstanceOf(Error);
    proxy.replace("", "");
    for (let n = 0; n < 6; n++)
      await expect(store.query("select * from no_such_table")).rejects.toThrow("no_such_table");
    expect((await store.transaction((tx) => tx.query("select 1 as one"))).rows).toEqual([{ one: 1 }]);
    await store.close();
    proxy.close();
  });

  it("uses no connection any more that was open when the server said that it is read-only now", async () => {
    const store = open(url);
    const sessionOf = async (tx: SqlTx) => (await tx.query<{ id: number }>(session)).rows[0]!.id;
    const twoSessions = () =>
      store.transaction(async (tx) => [await sessionOf(tx), await store.transaction(sessionOf)]);
    const before = await twoSessions();
    await expect(store.query(isReadOnly)).rejects.toBeInstanceOf(Error);
    const after = await twoSessions();
    expect(after.filter((id) => before.includes(id))).toEqual([]);
    await store.close();
  });

  it("opens at most maxConnections connections, the one that records included", async () => {
    const proxy = await proxyTo(url);
    const store = open(proxy.url, { maxConnections: 5 });
    await store.migrate();
    await Promise.all(
      Array.from({ length: 12 }, () => store.transaction((tx) => tx.query("select 1 as one"))),
    );
    const pooled = proxy.connections();
    while (proxy.connections() === pooled) await store.record({ eventKeys: ["k"] }, () => ({}));
    expect(proxy.connections()).toBe(5);
    await store.close();
    expect(await untilNoneIsOpen(proxy)).toBe(0);
    proxy.close();
  });

  it("has no backup of its own, and names the tools for it", async () => {
    const store = open(url);
    const refused = {
      code: "backup_refused",
      message: expect.stringMatching(/pg_dump.*mysqldump/) as string,
    };
    await expect(store.backup("shop.db")).rejects.toMatchObject(refused);
    await store.close();
  });
}

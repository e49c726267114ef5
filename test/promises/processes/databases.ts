import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import {
  mysqlStore,
  postgresStore,
  sqliteStore,
  type SqlPaymentStore,
  type SqlStoreOptions,
  type SqlTx,
} from "tillkit/sql";

/** The database of one test. Child processes get it too. */
export interface Address {
  kind: "sqlite" | "postgres" | "mysql";
  /** A URL, or the file for SQLite. */
  url: string;
  prefix: string;
  /** Further options of the store. */
  options?: SqlStoreOptions;
}

/** One committed run of a handler. The handlers of these tests write these rows. */
export interface LedgerRow {
  name: string;
  client_id: string;
  event_id: string;
  attempt: number;
  idempotency_key: string;
}

const servers = {
  PostgreSQL: { kind: "postgres", variable: "TILLKIT_TEST_POSTGRES_URL" },
  MySQL: { kind: "mysql", variable: "TILLKIT_TEST_MYSQL_URL" },
} as const;

/** Defines tests for each database of this machine. For the others a test says that they are left out. */
export function onEachDatabase(about: string, define: (kind: Address["kind"]) => void): void {
  describe("on SQLite", () => define("sqlite"));
  onEachServer(about, define);
}

/** Defines tests like {@link onEachDatabase}, but without SQLite. */
export function onEachServer(about: string, define: (kind: "postgres" | "mysql") => void): void {
  for (const [name, { kind, variable }] of Object.entries(servers)) {
    if (serverUrl(kind) !== undefined) describe(`on ${name}`, () => define(kind));
    else
      it(`leaves ${about} on ${name} out, because ${variable} names no server`, () =>
        expect([undefined, "none"]).toContain(process.env[variable]));
  }
}

export function serverUrl(kind: "postgres" | "mysql"): string | undefined {
  const { variable } = Object.values(servers).find((server) => server.kind === kind)!;
  const url = process.env[variable];
  return url === "none" ? undefined : url;
}

export function openStore({ kind, url, prefix, options: more }: Address): SqlPaymentStore {
  const options = { tablePrefix: prefix, ...more };
  if (kind === "sqlite") return sqliteStore(url, options);
  return kind === "postgres" ? postgresStore(url, options) : mysqlStore(url, options);
}

/** The tables of one test, with a ledger for its handlers, and the test's own `store`. */
export interface Place {
  address: Address;
  folder: string;
  store: SqlPaymentStore;
  select<Row = Record<string, unknown>>(sql: string): Promise<Row[]>;
  ledger(): Promise<LedgerRow[]>;
  remove(): Promise<void>;
}

/** @param server - The URL of another server than that of all tests. */
export async function openPlace(kind: Address["kind"], server?: string): Promise<Place> {
  const folder = mkdtempSync(path.join(tmpdir(), "tillkit-place-"));
  const prefix = `t${randomBytes(6).toString("hex")}_`;
  const url = server ?? (kind === "sqlite" ? path.join(folder, "shop.db") : serverUrl(kind)!);
  const address = { kind, url, prefix };
  const store = openStore(address);
  const select = async <Row>(sql: string): Promise<Row[]> => {
    const { rows } = await store.transaction((tx) => tx.query<Row>(sql.replaceAll("@", prefix)));
    return rows.map((row) => ({ ...row }));
  };
  await store.transaction((tx) =>
    tx.query(`create table ${prefix}ledger (name varchar(64), client_id varchar(64), event_id varchar(64),
      attempt integer, idempotency_key varchar(200))`),
  );
  return {
    address,
    folder,
    store,
    select,
    ledger: () => select<LedgerRow>("select * from @ledger order by client_id, name"),
    async remove() {
      const tables = [
        "ledger",
        "payments",
        "webhooks",
        "events",
        "handlers",
        "dispatches",
        "resolutions",
        "notes",
        "meta",
      ];
      const drop = () =>
        store.transaction(async (tx) => {
          for (const table of tables) await tx.query(`drop table if exists ${prefix}${table}`);
        });
      try {
        if (kind !== "sqlite") await drop();
      } catch (error) {
        // The server may still run a statement of the test that was abandoned, and ends one of both.
        if (!/deadlock/i.test(String(error))) throw error;
        await drop();
      }
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Returns `$1, $2, …` or `?, ?, …`. */
export function placeholders({ dialect }: Pick<SqlTx, "dialect">, count: number): string {
  return Array.from({ length: count }, (_, index) => (dialect === "postgres" ? `$${index + 1}` : "?")).join();
}

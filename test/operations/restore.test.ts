import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { copyFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { createPool } from "mysql2/promise";
import { Pool } from "pg";
import { completionOf, seedPayments } from "../promises/faults/shop.js";
import {
  type Address,
  openPlace,
  openStore,
  type Place,
  serverUrl,
} from "../promises/processes/databases.js";
import { type Member, members, until } from "../promises/processes/members.js";
import { temporaryFiles } from "../store/sql/support/temporary-files.js";

jest.setTimeout(120_000);

const run = promisify(execFile);
const processes = members();
const nextFile = temporaryFiles();
const count = 60;
const each = { completed: count, fulfilled: count };

/** How one database is backed up and restored, with the commands of docs/backup.md. */
interface Way {
  /** Creates an empty database. Returns its address. */
  create(): Promise<string>;
  backUp(place: Place): Promise<void>;
  /** Restores the backup of `place` into an empty database. */
  restore(place: Place, url: string): Promise<void>;
  drop(url: string): Promise<void>;
}

/** Receives webhooks, backs up meanwhile, goes on, and is killed. Then the backup is restored and everything is sent again. */
async function loseAndRestore(kind: Address["kind"], way: Way): Promise<object> {
  const url = await way.create();
  const place = await openPlace(kind, url);
  const newUrl = await way.create();
  try {
    await seedPayments(place, count);
    const settings = { web: true, names: ["books"], dispatch: { leaseMs: 400, pollMs: 20 } };
    const first = await processes.start({ ...settings, address: place.address });
    let sent = 0;
    const send = async (to: Member): Promise<void> => {
      while (sent < count) expect(await to.post(completionOf(sent++))).toBe(200);
    };
    const sending = Promise.all([send(first), send(first)]);
    await until(async () => sent > 10, "the first webhooks");
    await way.backUp(place);
    await sending;
    await first.next("ended");
    first.signal("SIGKILL");
    await first.exited;

    await way.restore(place, newUrl);
    const address = { ...place.address, url: newUrl };
    const restored = openStore(address);
    const next = await processes.start({ ...settings, address });
    sent = 0;
    await send(next);
    const ledger = async (): Promise<string[]> => {
      const { rows } = await restored.transaction((tx) =>
        tx.query<{ client_id: string }>(`select client_id from ${address.prefix}ledger`),
      );
      return rows.map((row) => row.client_id);
    };
    const isDone = async (): Promise<boolean> =>
      new Set(await ledger()).size === count && (await restored.counts()).oldestUndoneAt === undefined;
    await until(isDone, "each payment is fulfilled");
    next.signal("SIGTERM");
    await next.exited;

    const completed = await restored.list({ state: "completed", newestFirst: false, limit: 1000 });
    const fulfilled = await ledger();
    await restored.close();
    return { completed: completed.length, fulfilled: fulfilled.length };
  } finally {
    await place.remove();
    for (const one of [url, newUrl]) await way.drop(one);
  }
}

describe("a backup of SQLite", () => {
  it("goes on after it was restored, and fulfils nothing twice, although webhooks arrived meanwhile", async () => {
    const copyOf = (place: Place): string => `${place.address.url}.backup`;
    const ended = await loseAndRestore("sqlite", {
      create: async () => nextFile(),
      backUp: async (place) => void (await place.store.backup(copyOf(place))),
      restore: (place, url) => copyFile(copyOf(place), url),
      drop: async () => {},
    });
    expect(ended).toEqual(each);
  });
});

interface Server {
  name: string;
  kind: "postgres" | "mysql";
  /** The programs of docs/backup.md. */
  programs: string[];
  query(sql: string): Promise<unknown>;
  end(): Promise<void>;
  backUp(url: URL, file: string): [string, string[]];
  restore(url: URL, file: string): [string, string[]];
}

/** Returns the arguments by which the programs of MariaDB find a server. */
const clientOf = (url: URL): string[] => [
  `--host=${url.hostname}`,
  `--port=${url.port || "3306"}`,
  `--user=${decodeURIComponent(url.username)}`,
  ...(url.password ? [`--password=${decodeURIComponent(url.password)}`] : []),
];

const servers: ((url: string) => Server)[] = [
  (address) => {
    const pool = new Pool({ connectionString: address });
    return {
      name: "PostgreSQL",
      kind: "postgres",
      programs: ["pg_dump", "pg_restore"],
      query: (sql) => pool.query(sql),
      end: () => pool.end(),
      backUp: (url, file) => ["pg_dump", ["--format=custom", `--file=${file}`, url.href]],
      restore: (url, file) => ["pg_restore", ["--no-owner", `--dbname=${url.href}`, file]],
    };
  },
  (address) => {
    const pool = createPool(address);
    return {
      name: "MySQL",
      kind: "mysql",
      programs: ["mariadb-dump", "mariadb"],
      query: (sql) => pool.query(sql),
      end: () => pool.end(),
      backUp: (url, file) => [
        "mariadb-dump",
        [...clientOf(url), "--single-transaction", `--result-file=${file}`, url.pathname.slice(1)],
      ],
      restore: (url, file) => [
        "mariadb",
        [...clientOf(url), `--execute=source ${file}`, url.pathname.slice(1)],
      ],
    };
  },
];

describe.each(["postgres", "mysql"] as const)("a backup of %s", (kind) => {
  let server: Server | undefined;
  afterAll(() => server?.end());

  it("goes on after it was restored, and fulfils nothing twice, although webhooks arrived meanwhile", async () => {
    const address = serverUrl(kind);
    if (address === undefined) return console.info(`Left out on ${kind}: no server is named.`);
    server = servers[kind === "postgres" ? 0 : 1]!(address);
    try {
      for (const program of server.programs) await run(program, ["--version"]);
      // It refuses a server that is newer than itself.
      if (kind === "postgres") await run("pg_dump", ["--schema-only", `--dbname=${address}`]);
    } catch {
      return console.info(
        `Left out on ${kind}: ${server.programs.join(" and ")} are not on this machine, or too old for the server.`,
      );
    }
    const fileOf = (place: Place): string => path.join(place.folder, "shop.dump");
    const nameOf = (url: string): string => new URL(url).pathname.slice(1);
    const ended = await loseAndRestore(kind, {
      async create() {
        const url = new URL(address);
        url.pathname = `restore_${randomBytes(6).toString("hex")}`;
        await server!.query(`create database ${nameOf(url.href)}`);
        return url.href;
      },
      backUp: async (place) => void (await run(...server!.backUp(new URL(place.address.url), fileOf(place)))),
      restore: async (place, url) => void (await run(...server!.restore(new URL(url), fileOf(place)))),
      drop: async (url) => void (await server!.query(`drop database ${nameOf(url)}`)),
    });
    expect(ended).toEqual(each);
  });
});

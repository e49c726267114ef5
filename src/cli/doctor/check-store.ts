import { statfs } from "node:fs/promises";
import path from "node:path";
import { ConfigurationError, hasCode } from "../../index.js";
import { type SchemaState, schemaState, type SqlPaymentStore, sqlStore } from "../../store/sql/index.js";
import { type NamedDatabase } from "../terminal/database.js";
import { type Finding } from "../terminal/finding.js";
import { offlineKit } from "../terminal/offline-kit.js";
import { difference, isClockOff } from "./check-app.js";
import { isThisMachine } from "./check-public-url.js";
import { type AsyncFindings, finding, type Findings } from "./findings.js";
import { type ProbedSubject } from "./subject.js";

/** Checks the spool and the database: tables, durability, clock. Changes nothing in them. */
export async function* checkStore(subject: ProbedSubject): AsyncFindings {
  const { database, isProduction } = subject;
  const spool = spoolIn(subject);
  if (spool) yield* checkDisk("The spool", spool, isProduction, []);
  if (database?.database === ":memory:")
    yield finding("store_not_durable", "A database in memory loses every payment at exit.");
  else if (database) yield* checkDatabase(database, subject);
}

async function* checkDatabase(named: NamedDatabase, subject: ProbedSubject): AsyncFindings {
  const { label, database, tablePrefix } = named;
  if (isUnencrypted(database, subject.environment["PGSSLMODE"]))
    yield finding(
      "database_unencrypted",
      `${label} is on another host, but the address does not require TLS.`,
    );
  try {
    const state = await schemaState(database, { tablePrefix });
    if (state.kind === "sqlite") yield* checkDisk(label, database, subject.isProduction, networkDisks);
    yield* checkSchema(label, state, subject.isKit);
    // A store creates or upgrades its tables, so a store is opened only over tables of the newest version.
    if (state.version === state.newest) yield* checkOpened(named, state, subject);
  } catch (error) {
    yield errorFinding(label, error);
  }
}

/** Returns the configured directory of the spool, `false` if it is off, or `undefined` for the default. */
function spoolIn({ environment, app }: ProbedSubject): string | false | undefined {
  const spool = environment["TILLKIT_SPOOL"]?.trim() || undefined;
  if (spool === undefined) return undefined;
  return /^off$/i.test(spool) ? false : path.resolve(app, spool);
}

/** Checks the spool by the health report of a kit over this store. Writes nothing. */
async function* checkSpoolFolder(store: SqlPaymentStore, directory: string | undefined): AsyncFindings {
  const { reasons } = await offlineKit(store, directory ? { spool: { directory } } : {}).health();
  for (const { code, message } of reasons) if (code === "spool_unavailable") yield finding(code, message);
}

/** Returns whether an address leads to a database on another host without TLS. */
function isUnencrypted(database: string, fallback = "disable"): boolean {
  const [, kind] = /^(postgres|mysql|mariadb)(?:ql)?:\/\//i.exec(database) ?? [];
  if (kind === undefined || !URL.canParse(database)) return false;
  const { hostname, searchParams } = new URL(database);
  const host = searchParams.get("host") ?? decodeURIComponent(hostname);
  // A host that is a path names a socket of this machine.
  if (host === "" || host.startsWith("/") || isThisMachine(host)) return false;
  if (kind.toLowerCase() !== "postgres") return [null, "false"].includes(searchParams.get("ssl"));
  // With the file of a certificate or key, the driver uses TLS, whatever PGSSLMODE says.
  const hasFile = ["sslrootcert", "sslcert", "sslkey"].some((name) => searchParams.get(name));
  return ["disable", "false", "0"].includes(
    searchParams.get("sslmode") ?? searchParams.get("ssl") ?? (hasFile ? "require" : fallback),
  );
}

function errorFinding(label: string, error: unknown): Finding {
  if (error instanceof ConfigurationError) {
    const problems = error.problems.map(({ message }) => message).join(" ");
    return finding("store_invalid", `The database ${problems}`);
  }
  if (hasCode(error, "driver_missing")) return finding("driver_missing", error.message);
  if (hasCode(error, "database_refused")) return finding("database_refused", error.message);
  // Other errors are reported too. For a file that is not a database, the driver throws its own error.
  return finding("store_unavailable", `${label}: ${error instanceof Error ? error.message : String(error)}`);
}

function* checkSchema(label: string, { version, newest }: SchemaState, isRunning: boolean): Findings {
  const seen = `The tables of ${label} have version ${version}; this tillkit`;
  if (version > newest) yield finding("schema_too_new", `${seen} supports at most version ${newest}.`);
  else if (version > 0 && version < newest)
    yield finding("schema_behind", `${seen} needs version ${newest}.`);
  // An app has no tables before its first start.
  else if (version === 0 && isRunning)
    yield finding("schema_missing", `${label} has no tables of the kit, although the app runs.`);
}

/** The codes with which a warning of a store can begin. */
const coded = ["sqlite_version_affected", "replication_asynchronous", "database_unexamined"] as const;

const clocks = {
  postgres: "select extract(epoch from clock_timestamp()) * 1000 as now",
  mysql: "select unix_timestamp(sysdate(3)) * 1000 as now",
} as const;

async function* checkOpened(
  { database, label, tablePrefix }: NamedDatabase,
  { kind }: SchemaState,
  subject: ProbedSubject,
): AsyncFindings {
  const { isProduction, now } = subject;
  const store = sqlStore(database, { tablePrefix });
  try {
    for (const warning of await store.warnings()) {
      const code = coded.find((each) => warning.startsWith(each));
      yield code
        ? finding(code, warning.replace(/^\w+: /, ""))
        : finding("store_not_durable", `${label}: ${warning}`, isProduction ? "error" : "note");
    }
    const spool = spoolIn(subject);
    if (spool !== false) yield* checkSpoolFolder(store, spool);
    if (kind === "sqlite") return;
    if (kind === "postgres") yield* checkPooler(label, database, store);
    const before = now().getTime();
    const { rows } = await store.transaction((tx) => tx.query<{ now: string | number }>(clocks[kind]));
    const offMs = Number(rows[0]?.now) - (before + now().getTime()) / 2;
    if (isClockOff(offMs))
      yield finding("database_clock_off", `The clock of ${label} is ${difference(offMs)} this machine's.`);
  } finally {
    await store.close();
  }
}

/** Finds a pooler, behind which a session has another number than the client. */
async function* checkPooler(label: string, address: string, store: SqlPaymentStore): AsyncFindings {
  if (/[?&]preparedStatements=false/.test(address)) return;
  const isPooled = await store.transaction(async (tx) => {
    const { processID } = (await tx.raw) as { processID?: number };
    const { rows } = await tx.query<{ number: number }>("select pg_backend_pid() as number");
    return rows[0]!.number !== processID;
  });
  if (isPooled)
    yield finding(
      "database_pooled",
      `A pooler is in front of ${label}. If the pooler shares sessions between clients and does not support prepared ` +
        "statements, the kit works without prepared statements, and is slower.",
    );
}

/** Linux's numbers for types of file systems; see statfs(2). */
const memoryDisks = [0x01021994, 0x858458f6];
const networkDisks = [0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x01021997];

/**
 * In production, checks that a file is not on a disk in memory. Always checks that the disk is not of a
 * `refused` type. Works only on Linux.
 */
async function* checkDisk(
  what: string,
  file: string,
  isProduction: boolean,
  refused: readonly number[],
): AsyncFindings {
  const type = process.platform === "linux" ? await diskType(path.resolve(file)) : undefined;
  if (type === undefined) return;
  if (memoryDisks.includes(type) && isProduction)
    yield finding(
      "store_on_memory_disk",
      `${what} is in the machine's memory, and will be lost at a restart.`,
    );
  else if (refused.includes(type))
    yield finding(
      "store_on_network_disk",
      `${what} is on a network disk.`,
      isProduction ? "error" : "warning",
    );
}

/** Returns the type of the disk of the file, or of the nearest folder above it that exists. */
async function diskType(file: string): Promise<number | undefined> {
  try {
    return (await statfs(file)).type >>> 0;
  } catch {
    const folder = path.dirname(file);
    return folder === file ? undefined : diskType(folder);
  }
}

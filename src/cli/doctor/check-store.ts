import { ConfigurationError, hasCode, TillkitError } from "../../errors/index.js";
import { type SchemaState, schemaState, sqlStore, type SqlPaymentStore } from "../../store/sql/index.js";
import { type FoundDatabase } from "../terminal/database.js";
import { type Finding } from "../terminal/finding.js";
import { apart } from "./check-clock.js";
import { checkDisk } from "./check-disk.js";
import { found } from "./findings.js";
import { type Patient } from "./subject.js";

/** The database: its tables, whether it keeps what it commits, its clock. Changes nothing in it. */
export async function checkStore(patient: Patient, isKitRunning: boolean): Promise<Finding[]> {
  const { database: named, production, environment } = patient;
  const spool = environment["TILLKIT_SPOOL"];
  const spooled =
    spool && spool !== "off" ? await checkDisk("The spool", spool, { production, isDatabase: false }) : [];
  if (named === undefined) return spooled;
  if (named.database === ":memory:")
    return [...spooled, found("store_not_durable", "A database in memory forgets every payment at exit.")];

  let state: SchemaState;
  try {
    state = await schemaState(named.database, { tablePrefix: named.tablePrefix });
  } catch (error) {
    return [...spooled, failureOf(named, error)];
  }
  const disk =
    state.kind === "sqlite"
      ? await checkDisk(named.called, named.database, { production, isDatabase: true })
      : [];
  const schema = judgeSchema(named, state, isKitRunning);
  // Only a store that has nothing to make changes nothing.
  const rest = state.version === state.newest ? await checkOpened(patient, named, state) : [];
  return [...spooled, ...disk, ...schema, ...rest];
}

function failureOf({ called }: FoundDatabase, error: unknown): Finding {
  if (error instanceof ConfigurationError)
    return found("store_invalid", `The database ${error.problems.map(({ message }) => message).join(" ")}`);
  if (hasCode(error, "driver_missing")) return found("driver_missing", error.message);
  // Not only by code: a file that is no database has the driver's own error.
  const reason = error instanceof TillkitError || error instanceof Error ? error.message : String(error);
  return found("store_unavailable", `${called}: ${reason}`);
}

function judgeSchema({ called }: FoundDatabase, state: SchemaState, isKitRunning: boolean): Finding[] {
  const { version, newest } = state;
  if (version > newest)
    return [
      found(
        "schema_too_new",
        `The tables of ${called} have version ${version}; this tillkit knows ${newest}.`,
      ),
    ];
  // Before the first start there are none, and that is all right.
  if (version === 0)
    return isKitRunning
      ? [found("schema_missing", `${called} has no tables of the kit, although the app runs.`)]
      : [];
  return version < newest
    ? [
        found(
          "schema_behind",
          `The tables of ${called} have version ${version}; this tillkit wants ${newest}.`,
        ),
      ]
    : [];
}

async function checkOpened(
  { production, now }: Patient,
  { database, called, tablePrefix }: FoundDatabase,
  { kind }: SchemaState,
): Promise<Finding[]> {
  const store = sqlStore(database, { tablePrefix });
  try {
    const durability = (await store.warnings()).map((warning) =>
      warning.startsWith("sqlite_version_affected")
        ? found("sqlite_version_affected", warning.replace(/^\w+: /, ""))
        : found("store_not_durable", `${called}: ${warning}`, production ? "error" : "note"),
    );
    return [...durability, ...(kind === "sqlite" ? [] : await checkDatabaseClock(store, kind, called, now))];
  } catch (error) {
    return [failureOf({ database, called }, error)];
  } finally {
    await store.close();
  }
}

const clocks = {
  postgres: "select extract(epoch from clock_timestamp()) * 1000 as now",
  mysql: "select unix_timestamp(sysdate(3)) * 1000 as now",
} as const;

async function checkDatabaseClock(
  store: SqlPaymentStore,
  kind: keyof typeof clocks,
  called: string,
  now: () => Date,
): Promise<Finding[]> {
  const before = now().getTime();
  const { rows } = await store.transaction((tx) => tx.query<{ now: string | number }>(clocks[kind]));
  const offMs = Number(rows[0]?.now) - (before + now().getTime()) / 2;
  return Math.abs(offMs) <= 60_000
    ? []
    : [found("database_clock_off", `The clock of ${called} is ${apart(offMs)} this machine's.`)];
}

import { TillkitError } from "../../../errors/index.js";
import { type SchemaVersion } from "../driver/driver.js";
import { type Session } from "../driver/sql-tx.js";
import { type Database, type Tables } from "../tables/names.js";

/** The kit's tables in one database: the steps that make them, and the statements about their version. */
export interface Schema {
  tables: Tables;
  /** The file, for errors. Absent for a database on a server. */
  place?: string;
  /** The steps from an empty database to the newest tables. `steps[n]` leads to version n + 1. */
  steps: readonly (readonly string[])[];
  /** A query that returns a row if the table with the given name exists. The name is its parameter. */
  findTable: string;
  /** Creates the table that stores the version. */
  createMeta: string;
  /** A statement that stores the version, which is its parameter. */
  setVersion: string;
}

/** Reads the version of the tables. Changes nothing. */
export async function readVersion(session: Session, schema: Schema): Promise<SchemaVersion> {
  const { rows } = await session.run(schema.findTable, [schema.tables.meta]);
  const version = rows.length === 0 ? 0 : await storedVersion(session, schema);
  return { version, newest: schema.steps.length };
}

/** Returns whether the tables have the newest version. Throws `schema_too_new` if they are newer. */
export async function isNewest(session: Session, schema: Schema): Promise<boolean> {
  const { version, newest } = await readVersion(session, schema);
  return expectKnown(version, schema) === newest;
}

/** Upgrades the tables to the newest version. The caller must keep other processes out until the end. */
export async function applyMissingSteps(session: Session, schema: Schema): Promise<void> {
  // This statement may wait for another process that upgrades the tables, so the version is read after it.
  await session.run(schema.createMeta, []);
  const version = expectKnown(await storedVersion(session, schema), schema);
  for (const step of schema.steps.slice(version))
    for (const statement of step) await session.run(statement, []);
  await session.run(schema.setVersion, [String(schema.steps.length)]);
}

async function storedVersion(session: Session, { tables }: Schema): Promise<number> {
  return Number((await readMeta(session, tables, "version")) ?? 0);
}

/** Returns the identity of these tables, which a migration gave them. */
export async function identityOf(reader: Session, { tables }: Database): Promise<string> {
  return (await readMeta(reader, tables, "identity"))!;
}

async function readMeta(session: Session, { meta }: Tables, name: string): Promise<string | undefined> {
  const sql = `select value from ${meta} where name = ?`;
  const { rows } = await session.run<{ value: string }>(sql, [name]);
  return rows[0]?.value;
}

function expectKnown(version: number, { steps, place }: Schema): number {
  if (version <= steps.length) return version;
  throw new TillkitError(
    "schema_too_new",
    `The tables${place === undefined ? "" : ` of ${place}`} have version ${version}, but this tillkit supports at most version ${steps.length}.`,
  );
}

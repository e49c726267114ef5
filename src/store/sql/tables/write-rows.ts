import { type Dialect, type Fragment, placeholders } from "../driver/dialect.js";
import { type Transaction } from "../transaction/transaction.js";

/** A table, its columns, and rows. The first column is the key. */
export interface Batch {
  table: string;
  columns: readonly string[];
  rows: readonly (readonly unknown[])[];
  /** The column of bytes. The columns in neither `bytes` nor `numbers` contain strings. */
  bytes?: string;
  numbers?: readonly string[];
  /** Sets of columns that often have one value in all rows. Such a set is then passed only once. */
  uniform?: readonly (readonly string[])[];
}

/** Inserts every row, or throws `store_conflict`. */
export async function insertAll(tx: Transaction, dialect: Dialect, batch: Batch): Promise<void> {
  for (const { sql, params } of insertStatements(dialect, batch)) await tx.run(sql, params);
}

/** Inserts the rows without a clash. Returns the indexes of the rows that were left out. */
export async function insertNew(tx: Transaction, dialect: Dialect, batch: Batch): Promise<Set<number>> {
  const stored = await (dialect.reportsInserted
    ? insertReporting(tx, dialect, batch)
    : insertTrying(tx, dialect, batch));
  const leftOut = new Set<number>();
  for (const [index, row] of batch.rows.entries()) if (!stored.delete(row[0])) leftOut.add(index);
  return leftOut;
}

/** Updates rows by their key. Returns the number of rows that were found. */
export async function updateByKey(tx: Transaction, dialect: Dialect, batch: Batch): Promise<number> {
  let affected = 0;
  for (const { sql, params } of updateStatements(dialect, batch))
    affected += (await tx.run(sql, params)).affected;
  return affected;
}

/** Returns inserts of every row. A single row is passed as values, because lists cost PostgreSQL more. */
export function insertStatements(dialect: Dialect, batch: Batch): Fragment[] {
  const { rows } = batch;
  if (rows.length > 1 && dialect.takesLists) return [insertLists(batch)];
  return chunks(rows, dialect.rowsPerStatement).map((some) => ({
    sql: insertInto(batch, some.length),
    params: some.flat(),
  }));
}

/** Returns updates by key of every row. As in `insertStatements`, a single row is passed as values. */
export function updateStatements(dialect: Dialect, batch: Batch): Fragment[] {
  if (batch.rows.length > 1 && dialect.takesLists) return [updateFromLists(batch)];
  return chunks(batch.rows, dialect.rowsPerStatement).map((rows) =>
    updateByCase(dialect, { ...batch, rows }),
  );
}

/** Returns an insert of this number of rows. */
export function insertInto({ table, columns }: Pick<Batch, "table" | "columns">, rows: number): string {
  const row = `(${placeholders(columns.length)})`;
  const values = Array.from({ length: rows }, () => row).join(",");
  return `insert into ${table} (${columns.join(", ")}) values ${values}`;
}

async function insertReporting(tx: Transaction, dialect: Dialect, batch: Batch): Promise<Set<unknown>> {
  const stored = new Set<unknown>();
  for (const { sql, params } of insertStatements(dialect, batch)) {
    const reporting = `${sql} on conflict do nothing returning ${batch.columns[0]} as stored`;
    const { rows } = await tx.run<{ stored: unknown }>(reporting, params);
    for (const row of rows) stored.add(row.stored);
  }
  return stored;
}

/**
 * Inserts many rows with each statement, for databases that do not report which rows they stored. A clash
 * undoes only its statement. After a clash, the rows are inserted one by one. INSERT IGNORE would hide every
 * other error, too.
 */
async function insertTrying(tx: Transaction, dialect: Dialect, batch: Batch): Promise<Set<unknown>> {
  const stored = new Set<unknown>();
  for (const rows of chunks(batch.rows, dialect.rowsPerStatement)) {
    if (await tx.attempt(insertInto(batch, rows.length), rows.flat()))
      for (const row of rows) stored.add(row[0]);
    else if (rows.length > 1)
      for (const row of rows) if (await tx.attempt(insertInto(batch, 1), [...row])) stored.add(row[0]);
  }
  return stored;
}

/** Returns one update of several rows. A value that all rows share is set without a `case`. */
function updateByCase(dialect: Dialect, { table, columns: [key, ...columns], rows }: Batch): Fragment {
  const arms = "when ? then ? ".repeat(rows.length);
  const values: unknown[] = [];
  const assignments = columns.map((column, index) => {
    const value = rows[0]![index + 1];
    const isShared = rows.every((row) => row[index + 1] === value);
    if (isShared) values.push(value);
    else for (const row of rows) values.push(row[0], row[index + 1]);
    return isShared ? `${column} = ?` : `${column} = case ${key} ${arms}end`;
  });
  const keys = rows.map((row) => row[0]);
  const which = dialect.among(key!, keys);
  return {
    sql: `update ${table} set ${assignments.join(", ")} where ${which.sql}`,
    params: [...values, ...which.params],
  };
}

/**
 * Returns an insert that gets rows as one list for each column. Any number of rows is then one statement,
 * which is prepared once.
 */
function insertLists(batch: Batch): Fragment {
  const { table, columns } = batch;
  const { once, listed, given, params } = listsOf(batch);
  const values = columns.map((column) => (once.has(column) ? `?::${typeOf(batch, column)}` : column));
  return {
    sql: `insert into ${table} (${columns.join(", ")}) select ${values.join(", ")} from ${given}`,
    params: [...params, ...listed.map((column) => valuesOf(batch, column))],
  };
}

/**
 * Returns an update by key that gets rows as lists. The list of keys appears twice. The planner does not know
 * the length of a list, and would read the whole table for the join. If all rows get the same values, there
 * is no join.
 */
function updateFromLists(batch: Batch): Fragment {
  const [key, ...columns] = batch.columns;
  const { once, listed, given, params } = listsOf(batch);
  const set = columns.map((column) => `${column} = ${once.has(column) ? "?" : `given.${column}`}`);
  const update = `update ${batch.table} kept set ${set.join(", ")}`;
  const keys = valuesOf(batch, key!);
  if (listed.length === 1) return { sql: `${update} where kept.${key} = any(?)`, params: [...params, keys] };
  return {
    sql: `${update} from ${given} where kept.${key} = given.${key} and kept.${key} = any(?)`,
    params: [...params, ...listed.map((column) => valuesOf(batch, column)), keys],
  };
}

/**
 * Returns the columns to pass once, with their values as params, and the other columns as a table of lists.
 * Only whole sets are passed once, so that each connection has few different statements to prepare.
 */
function listsOf(batch: Batch): { once: Set<string>; params: unknown[]; listed: string[]; given: string } {
  const { uniform = [], columns } = batch;
  const isUniform = (column: string): boolean => {
    const [first, ...others] = valuesOf(batch, column);
    return others.every((value) => value === first);
  };
  const once = new Set(uniform.filter((set) => set.every(isUniform)).flat());
  const listed = columns.filter((column) => !once.has(column));
  const lists = listed.map((column) => `?::${typeOf(batch, column)}[]`);
  return {
    once,
    params: columns.filter((column) => once.has(column)).map((column) => valuesOf(batch, column)[0]),
    listed,
    given: `unnest(${lists.join(", ")}) as given(${listed.join(", ")})`,
  };
}

function valuesOf({ columns, rows }: Batch, column: string): unknown[] {
  const index = columns.indexOf(column);
  return rows.map((row) => row[index]);
}

function typeOf({ bytes, numbers = [] }: Batch, column: string): string {
  if (column === bytes) return "bytea";
  return numbers.includes(column) ? "bigint" : "text";
}

/** Returns the list in pieces of at most `size` items. */
export function chunks<T>(list: readonly T[], size: number): T[][] {
  const pieces: T[][] = [];
  for (let at = 0; at < list.length; at += size) pieces.push(list.slice(at, at + size));
  return pieces;
}

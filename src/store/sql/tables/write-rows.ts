import { type Batch } from "./batch.js";
import { type Dialect, type Fragment, placeholders, rowsOfPlaceholders } from "../dialect.js";
import { type KitTx } from "../sql-tx.js";
import { insertLists, updateFromLists } from "./lists.js";

/** Inserts every row, or rejects with `store_conflict`. */
export async function insertAll(tx: KitTx, dialect: Dialect, batch: Batch): Promise<void> {
  const { rows } = batch;
  if (rows.length === 0) return;
  if (dialect.takesLists) {
    const { sql, params } = insertLists(batch);
    await tx.run(sql, params);
  } else if (dialect.rowsPerStatement === 1) await tx.runEach(insertInto(batch, 1), rows);
  else for (const { sql, params } of insertStatements(dialect, batch)) await tx.run(sql, params);
}

/** Inserts the rows that clash with nothing, and answers which were left out, by their place in the batch. */
export async function insertNew(tx: KitTx, dialect: Dialect, batch: Batch): Promise<Set<number>> {
  const stored = await (dialect.reportsInserted
    ? insertReporting(tx, dialect, batch)
    : insertTrying(tx, dialect, batch));
  const leftOut = new Set<number>();
  for (const [index, row] of batch.rows.entries()) if (!stored.delete(row[0])) leftOut.add(index);
  return leftOut;
}

/** Updates rows by their key; answers how many there were. */
export async function updateByKey(tx: KitTx, dialect: Dialect, batch: Batch): Promise<number> {
  const { rows } = batch;
  if (rows.length === 0) return 0;
  if (dialect.takesLists) {
    const { sql, params } = updateFromLists(batch);
    return (await tx.run(sql, params)).affected;
  }
  if (dialect.rowsPerStatement === 1) {
    const values = rows.map(([first, ...rest]) => [...rest, first]);
    const affected = await tx.runEach(updateOne(batch), values);
    return affected.reduce((sum, each) => sum + each, 0);
  }
  let affected = 0;
  for (const { sql, params } of updatesOfMany(dialect, batch))
    affected += (await tx.run(sql, params)).affected;
  return affected;
}

/** For a dialect that takes neither lists nor one row after the other. */
function updatesOfMany(dialect: Dialect, { table, columns: [key, ...columns], rows }: Batch): Fragment[] {
  return chunks(rows, dialect.rowsPerStatement).map((some) => {
    const arms = "when ? then ? ".repeat(some.length);
    const values: unknown[] = [];
    const assignments = columns.map((column, index) => {
      const value = some[0]![index + 1];
      const isAlike = some.every((row) => row[index + 1] === value);
      if (isAlike) values.push(value);
      else for (const row of some) values.push(row[0], row[index + 1]);
      return isAlike ? `${column} = ?` : `${column} = case ${key} ${arms}end`;
    });
    const which = dialect.among(
      key!,
      some.map((row) => row[0]),
    );
    const sql = `update ${table} set ${assignments.join(", ")} where ${which.sql}`;
    return { sql, params: [...values, ...which.params] };
  });
}

/**
 * Updates by key of every row. A single row does not come as a list: for a lone webhook that was a quarter of
 * PostgreSQL's time.
 */
export function updateStatements(dialect: Dialect, batch: Batch): Fragment[] {
  const [row] = batch.rows;
  if (batch.rows.length === 1) return [{ sql: updateOne(batch), params: [...row!.slice(1), row![0]] }];
  return dialect.takesLists ? [updateFromLists(batch)] : updatesOfMany(dialect, batch);
}

/** Inserts of every row; the same holds. */
export function insertStatements(dialect: Dialect, batch: Batch): Fragment[] {
  const { rows } = batch;
  if (rows.length > 1 && dialect.takesLists) return [insertLists(batch)];
  return chunks(rows, dialect.rowsPerStatement).map((some) => ({
    sql: insertInto(batch, some.length),
    params: some.flat(),
  }));
}

async function insertReporting(tx: KitTx, dialect: Dialect, batch: Batch): Promise<Set<unknown>> {
  const { rows, columns } = batch;
  if (rows.length === 0) return new Set();
  if (dialect.takesLists) {
    const [{ sql, params }] = insertStatements(dialect, batch) as [Fragment];
    const reporting = `${sql} on conflict do nothing returning ${columns[0]} as stored`;
    const stored = await tx.run<{ stored: unknown }>(reporting, params);
    return new Set(stored.rows.map((row) => row.stored));
  }
  // One row to a statement: how many it wrote tells, and costs SQLite half of what returning the row would.
  const written = await tx.runEach(`${insertInto(batch, 1)} on conflict do nothing`, rows);
  return new Set(rows.flatMap((row, index) => (written[index]! > 0 ? [row[0]] : [])));
}

/**
 * Where the database cannot tell: all rows at once, and where one of them clashes (which undoes the statement, and no
 * more), one after the other. INSERT IGNORE would hide every other error too.
 */
async function insertTrying(tx: KitTx, dialect: Dialect, batch: Batch): Promise<Set<unknown>> {
  const stored = new Set<unknown>();
  for (const rows of chunks(batch.rows, dialect.rowsPerStatement)) {
    const all = await tx.attempt(insertInto(batch, rows.length), rows.flat());
    if (all) for (const row of rows) stored.add(row[0]);
    else if (rows.length > 1)
      for (const row of rows) if (await tx.attempt(insertInto(batch, 1), [...row])) stored.add(row[0]);
  }
  return stored;
}

/** The key comes last among the parameters. */
function updateOne({ table, columns: [key, ...others] }: Batch): string {
  return `update ${table} set ${others.map((column) => `${column} = ?`).join(", ")} where ${key} = ?`;
}

/** An insert of so many rows. */
export function insertInto({ table, columns }: Pick<Batch, "table" | "columns">, rows: number): string {
  const values = rows === 1 ? `(${placeholders(columns.length)})` : rowsOfPlaceholders(rows, columns.length);
  return `insert into ${table} (${columns.join(", ")}) values ${values}`;
}

/** The list in pieces of at most `size`. */
export function chunks<T>(list: readonly T[], size: number): T[][] {
  const pieces: T[][] = [];
  for (let at = 0; at < list.length; at += size) pieces.push(list.slice(at, at + size));
  return pieces;
}

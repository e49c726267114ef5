import { type Dialect, storable } from "../dialect.js";
import { type Batch } from "./write-rows.js";

/** What {@link Dialect.recordset} is. */
type Recordset = NonNullable<Dialect["recordset"]>;

/** An insert of the rows of a recordset. */
export function insertRecords(recordset: Recordset, { table, columns }: Omit<Batch, "rows">): string {
  const names = columns.join(", ");
  return `insert into ${table} (${names}) select ${names} from ${recordset(table)}`;
}

/**
 * An update by key with the rows of a recordset, and the list of the keys once more (see {@link keysOf}): a planner that does
 * not know how many rows a recordset has would read the whole table to join them.
 */
export function updateFromRecords(recordset: Recordset, { table, columns }: Omit<Batch, "rows">): string {
  const [key, ...others] = columns;
  const assignments = others.map((column) => `${column} = given.${column}`).join(", ");
  return `update ${table} kept set ${assignments} from ${recordset(table)} given
    where kept.${key} = given.${key} and kept.${key} = any(?)`;
}

/** The keys of the rows. */
export function keysOf({ rows }: Pick<Batch, "rows">): unknown[] {
  return rows.map(([key]) => key);
}

/** Rows as the JSON list that a recordset reads; what is null is left out, and read as null. */
export function recordsOf({ columns, rows }: Omit<Batch, "table">): string {
  const json = jsonOf(columns, rows, plain);
  // What JSON holds and a text of the database cannot: a NUL, and half of a surrogate pair. Looked for at the end, because
  // there is next to never one.
  return /\\u(?:0000|d[89a-f])/.test(json) ? jsonOf(columns, rows, repaired) : json;
}

function jsonOf(columns: Batch["columns"], rows: Batch["rows"], write: (value: unknown) => unknown): string {
  const records = rows.map((row) => {
    const record: Record<string, unknown> = {};
    for (const [index, column] of columns.entries()) {
      const value = row[index];
      if (value !== null && value !== undefined) record[column] = write(value);
    }
    return record;
  });
  return JSON.stringify(records);
}

/** Bytes as PostgreSQL writes them. */
function plain(value: unknown): unknown {
  return value instanceof Uint8Array ? `\\x${Buffer.from(value).toString("hex")}` : value;
}

function repaired(value: unknown): unknown {
  return typeof value === "string" ? Buffer.from(storable(value) as string).toString() : plain(value);
}

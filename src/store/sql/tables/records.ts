import { type Dialect, type Fragment, storable } from "../dialect.js";
import { type Batch } from "./write-rows.js";

/** What {@link Dialect.recordset} is. */
type Recordset = NonNullable<Dialect["recordset"]>;

/** An insert of the rows of a recordset. */
export function insertRecords(recordset: Recordset, batch: Batch): Fragment {
  const { table, columns, bytes } = batch;
  const values = columns.map((column) =>
    column === bytes ? `substring(?::bytea from ${column}_at for ${column}_length)` : column,
  );
  return {
    sql: `insert into ${table} (${columns.join(", ")}) select ${values.join(", ")} from ${recordset(definitionsOf(batch))}`,
    params: bytes === undefined ? [recordsOf(batch)] : [bytesOf(batch), recordsOf(batch)],
  };
}

/**
 * An update by key with the rows of a recordset, and the list of the keys once more: a planner that does not know how many
 * rows a recordset has would read the whole table to join them.
 */
export function updateFromRecords(recordset: Recordset, batch: Batch): Fragment {
  const { table, columns, rows } = batch;
  const [key, ...others] = columns;
  const assignments = others.map((column) => `${column} = given.${column}`).join(", ");
  return {
    sql: `update ${table} kept set ${assignments} from ${recordset(definitionsOf(batch))}
      where kept.${key} = given.${key} and kept.${key} = any(?)`,
    params: [recordsOf(batch), rows.map((row) => row[0])],
  };
}

/** Where the bytes of a row lie among those of all rows, in the place of the bytes themselves. */
function definitionsOf({ columns, bytes, numbers = [] }: Batch): string {
  return columns
    .map((column) => {
      if (column === bytes) return `${column}_at integer, ${column}_length integer`;
      return `${column} ${numbers.includes(column) ? "bigint" : "text"}`;
    })
    .join(", ");
}

/** Those of all rows, one behind the other: as digits in the JSON they were two thirds of it, and a tenth of the save. */
function bytesOf({ columns, bytes, rows }: Batch): Buffer {
  const index = columns.indexOf(bytes!);
  return Buffer.concat(rows.map((row) => row[index] as Buffer));
}

/** Rows as the JSON list that a recordset reads; what is null is left out, and read as null. */
function recordsOf(batch: Batch): string {
  const json = jsonOf(batch, (value) => value);
  // What JSON holds and a text of the database cannot: a NUL, and half of a surrogate pair. Looked for at the end, because
  // there is next to never one.
  return /\\u(?:0000|d[89a-f])/.test(json) ? jsonOf(batch, repaired) : json;
}

function jsonOf({ columns, bytes, rows }: Batch, write: (value: unknown) => unknown): string {
  let at = 1;
  const records = rows.map((row) => {
    const record: Record<string, unknown> = {};
    for (let index = 0; index < columns.length; index++) {
      const value = row[index];
      if (value === null || value === undefined) continue;
      const column = columns[index]!;
      if (column === bytes) {
        const { length } = value as Buffer;
        record[`${column}_at`] = at;
        record[`${column}_length`] = length;
        at += length;
      } else record[column] = write(value);
    }
    return record;
  });
  return JSON.stringify(records);
}

function repaired(value: unknown): unknown {
  return typeof value === "string" ? Buffer.from(storable(value) as string).toString() : value;
}

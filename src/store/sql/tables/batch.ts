/** A table, its columns, and rows whose first value is the row's key. */
export interface Batch {
  table: string;
  columns: readonly string[];
  rows: readonly (readonly unknown[])[];
  /** The column that holds bytes, and those that hold numbers; the others hold text. */
  bytes?: string;
  numbers?: readonly string[];
  /** Columns that have one value in all rows of most batches, in sets of which all or none are taken as such. */
  alike?: readonly (readonly string[])[];
}

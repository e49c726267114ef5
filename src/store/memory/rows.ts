import { type HistoryPage, type HistoryPosition } from "../contract.js";

/** Rows by key, as the running transaction sees them and as committed. `put` replaces a whole row. */
export class Rows<Row> {
  readonly #rows = new Map<string, Row>();
  /** The earlier values of the rows that the transaction wrote. */
  readonly #before = new Map<string, Row | undefined>();
  readonly #onChange: (key: string, before: Row | undefined, after: Row | undefined) => void;

  /**
   * @param onChange - Called for each row that is written or rolled back, to update the indexes of a table.
   */
  constructor(onChange: (key: string, before: Row | undefined, after: Row | undefined) => void = () => {}) {
    this.#onChange = onChange;
  }

  get(key: string): Row | undefined {
    return this.#rows.get(key);
  }

  /** Writes a row. `undefined` deletes it. */
  put(key: string, row: Row | undefined): void {
    const before = this.#rows.get(key);
    if (!this.#before.has(key)) this.#before.set(key, before);
    this.#set(key, before, row);
  }

  committed(key: string): Row | undefined {
    return this.#before.has(key) ? this.#before.get(key) : this.#rows.get(key);
  }

  /**
   * Returns the committed rows with these keys, and the committed values of all rows that the transaction has
   * changed. The keys come from an index that the transaction has also changed, so the index may not contain
   * these rows.
   */
  committedOf(keys: Iterable<string>): Row[] {
    return [...new Set([...keys, ...this.#before.keys()])].flatMap((key) => this.committed(key) ?? []);
  }

  allCommitted(): Row[] {
    if (this.#before.size === 0) return [...this.#rows.values()];
    return [...this.#rows.keys()].flatMap((key) => this.committed(key) ?? []);
  }

  commit(): void {
    this.#before.clear();
  }

  rollback(): void {
    for (const [key, row] of this.#before) this.#set(key, this.#rows.get(key), row);
    this.#before.clear();
  }

  #set(key: string, before: Row | undefined, after: Row | undefined): void {
    if (after === undefined) this.#rows.delete(key);
    else this.#rows.set(key, after);
    this.#onChange(key, before, after);
  }
}

/** Returns the newest rows before the row that the page names, or none if that row is gone. */
export function newestBefore<Row extends { id: string } | { receiptId: string }>(
  rows: readonly Row[],
  { limit = 1000, before = {} }: HistoryPage,
  idOf: (before: HistoryPosition) => string | undefined,
): Row[] {
  const id = idOf(before);
  const end =
    id === undefined ? rows.length : rows.findIndex((row) => ("id" in row ? row.id : row.receiptId) === id);
  return rows.slice(Math.max(0, end - limit), Math.max(0, end));
}

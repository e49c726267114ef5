import { type SqlTx } from "./sql-tx.js";

/** A piece of SQL with the values of its placeholders. */
export interface Fragment {
  sql: string;
  params: unknown[];
}

/** The differences between the databases in SQL. The kit's own statements contain `?` on all of them. */
export interface Dialect {
  readonly name: SqlTx["dialect"];
  /** The database's clock as an expression: milliseconds since 1970, constant within one statement. */
  readonly now: string;
  /** The maximum number of rows in one insert or update without lists. 1 if statements need no round trip. */
  readonly rowsPerStatement: number;
  /** Whether a parameter may be a list, so that rows can be passed as one list for each column. */
  readonly takesLists: boolean;
  /** Whether `on conflict do nothing returning` returns only the rows that this statement inserted. */
  readonly reportsInserted: boolean;
  /** Whether a query may contain statements that write and return the written rows. */
  readonly writesInQueries: boolean;
  /** Whether a locking read locks rows in the order of its scan, independent of `order by`. */
  readonly locksInScanOrder: boolean;
  /** Whether a union reads indexes in order only if each of its queries has the order and the limit. */
  readonly limitsEachQuery: boolean;
  /** Whether a new savepoint replaces the savepoint with the same name, instead of hiding it. */
  readonly replacesSavepoints: boolean;
  /** The clauses for row locks. Empty if a transaction has the whole database to itself. */
  readonly forUpdate: string;
  readonly forUpdateSkipLocked: string;
  readonly forShare: string;
  /**
   * Returns a statement that waits for all row locks in a table, and keeps new ones out until the transaction
   * ends. Absent if an exclusive row lock does the same. On PostgreSQL, new shared row locks overtake a
   * transaction that waits for an exclusive one.
   */
  lockRowsOut?(table: string): string;
  /**
   * Whether rows commit in the order of their numbers, because one transaction writes at a time. In this
   * case, the kit stores the number of the last event that has its dispatches. On other databases, the kit
   * marks each event without dispatches.
   */
  readonly commitsInOrder: boolean;
  /** The maximum number of rounds in which one transaction gives events their dispatches. */
  readonly maxExpansionRounds: number;
  /** Whether partial indexes are used, so that each row is in few of them. See the migrations of SQLite. */
  readonly sparesIndexes: boolean;
  /**
   * Whether the indexes by clientId contain only rows that cannot be found by an eventKey. See `aboutClient`.
   */
  readonly listsFewByClient: boolean;
  /** Returns the clause after a table's name that forces this index. Empty if none is necessary. */
  forceIndex(index: string): string;
  /** Whether several servers accept writes, so that a lock holds on one server only. Set by the migration. */
  hasSeveralWriters?: boolean;
  /** Returns the condition that `column` is one of `values`. */
  among(column: string, values: readonly unknown[]): Fragment;
  /**
   * Returns the condition that `column` is in the result of a query, which the database runs first and once.
   * Absent if a join has the same effect.
   */
  amongRows?(column: string, query: string): string;
  /** Returns whether a driver's error is a clash with a row of this table. Absent if nothing is pipelined. */
  isClashIn?(error: unknown, table: string): boolean;
  /** Returns the kit's error for a driver's error, or the same error. `place` is the database's address. */
  translate(error: unknown, place?: string): unknown;
  /**
   * Returns whether the database ended the transaction in favour of another one, or is not ready for it yet.
   * Such a transaction may run again.
   */
  isDeadlock(error: unknown): boolean;
}

/**
 * Returns the SQL to find the marked rows of a table in the order of their time. A marked row repeats its
 * time (for example `received_at`) in a second column (for example `kept_since`). The index contains the
 * second column or, if `sparesIndexes`, the time of the marked rows.
 */
export function orderOfMarked(
  { sparesIndexes }: Dialect,
  mark: string,
  time: string,
): { isMarked: string; orderBy: string } {
  return sparesIndexes
    ? { isMarked: `${mark} is not null and`, orderBy: time }
    : { isMarked: "", orderBy: mark };
}

/** Joins conditions with `and`. Leaves out a condition if one of its values is `undefined`. */
export function allOf(conditions: readonly Fragment[]): Fragment {
  const given = conditions.filter(({ params }) => !params.includes(undefined));
  return {
    sql: given.map(({ sql }) => sql).join(" and "),
    params: given.flatMap(({ params }) => params),
  };
}

/**
 * Returns a query for one page of the rows of several queries, in one order. Each query reads its rows in
 * that order from an index. The database merges the rows, and stops at the limit.
 */
export function pageOf(
  { limitsEachQuery }: Dialect,
  queries: readonly Fragment[],
  order: string,
  limit: number,
): Fragment {
  const isLimited = limitsEachQuery && queries.length > 1;
  const end = `order by ${order} limit ?`;
  return {
    sql: `${queries.map(({ sql }) => (isLimited ? `(${sql} ${end})` : sql)).join(" union all ")} ${end}`,
    params: [...queries.flatMap(({ params }) => (isLimited ? [...params, limit] : params)), limit],
  };
}

/** Returns the placeholders of one row: `?,?,?`. */
export function placeholders(count: number): string {
  return Array.from({ length: count }, () => "?").join(",");
}

/**
 * Returns a value that the drivers can bind. Replaces NUL characters by U+FFFD, because PostgreSQL and one
 * driver of SQLite cannot store them in text. No id that the kit accepts contains one. The raw bytes of a
 * webhook are stored unchanged.
 */
export function withoutNul(value: unknown): unknown {
  if (typeof value === "string") return value.includes("\0") ? value.replaceAll("\0", "\uFFFD") : value;
  return value === undefined ? null : value;
}

/**
 * Hides the properties of a driver's error that contain the values of a statement: customers' data, or hashes
 * of secrets. A logger writes only enumerable properties. Code that uses the name can still read a property.
 */
export function concealValues(error: unknown, properties: readonly string[]): void {
  if (typeof error !== "object" || error === null) return;
  for (const property of properties) {
    const own = Object.getOwnPropertyDescriptor(error, property);
    if (own?.configurable && own.enumerable)
      Object.defineProperty(error, property, { ...own, enumerable: false });
  }
}

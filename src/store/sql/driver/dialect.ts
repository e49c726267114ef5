import { type SqlTx } from "./sql-tx.js";

/** A piece of SQL with the values of its placeholders. */
export interface Fragment {
  sql: string;
  params: unknown[];
}

/** The differences between the databases in SQL. The kit's own statements are written with `?` for all of them. */
export interface Dialect {
  readonly name: SqlTx["dialect"];
  /** The database's clock: milliseconds since 1970, as an expression that is constant within one statement. */
  readonly now: string;
  /** The number of rows that one insert carries. One, where a statement needs no round trip and stays prepared. */
  readonly rowsPerStatement: number;
  /** Whether a parameter may be a list, so that rows are passed as one list for each column. */
  readonly takesLists: boolean;
  /** Whether `on conflict do nothing returning` returns the rows that this statement inserted. */
  readonly reportsInserted: boolean;
  /** Whether a query may contain statements that write, and return what they wrote. */
  readonly writesInQueries: boolean;
  /** Whether a locking read locks rows in the order of its scan, whatever `order by` says. */
  readonly locksInScanOrder: boolean;
  /** Whether a union is read from indexes in order only where each of its queries has the order and the limit. */
  readonly limitsEachQuery: boolean;
  /** Whether a new savepoint takes the place of the one with the same name, instead of hiding it. */
  readonly replacesSavepoints: boolean;
  /** Row locks; empty where a transaction has the whole database to itself. */
  readonly forUpdate: string;
  readonly forUpdateSkipLocked: string;
  readonly forShare: string;
  /**
   * Whether rows commit in the order of their numbers, because one transaction writes at a time. Then one number tells which
   * events have their dispatches; on the other databases each event without them is marked.
   */
  readonly commitsInOrder: boolean;
  /** The maximum number of rounds in which one transaction gives events their dispatches. */
  readonly maxExpansionRounds: number;
  /** Whether each row is listed in as few indexes as possible, which are partial; see the migrations of SQLite. */
  readonly sparesIndexes: boolean;
  /** Whether the indexes by clientId list only the rows that no eventKey finds; see `aboutClient`. */
  readonly listsFewByClient: boolean;
  /** Returns what follows a table's name so that this index is read; empty where the database chooses well by itself. */
  forceIndex(index: string): string;
  /** Whether several servers take writes, so that transactions conflict only in rows that both write; known once it has migrated. */
  hasSeveralWriters?: boolean;
  /** Returns the condition that `column` is one of `values`. */
  among(column: string, values: readonly unknown[]): Fragment;
  /**
   * Returns the condition that `column` is in the result of a query, which the database runs first and once. Absent where a join
   * does the same.
   */
  amongRows?(column: string, query: string): string;
  /** Whether a failure of the driver is a clash with a row of this table. Absent where nothing is pipelined. */
  isClashIn?(error: unknown, table: string): boolean;
  /** Returns the kit's error for a failure of the driver, or the failure itself where the kit has none. `place` is the database's. */
  translate(error: unknown, place?: string): unknown;
  /**
   * Returns whether the database ended the transaction in favour of another one, or is not ready for it yet.
   * It may be run again.
   */
  isDeadlock(error: unknown): boolean;
}

/**
 * Returns how to find the marked rows of a table in the order of their time. A marked row has its time (`received_at`) in a column
 * of its own (`kept_since`) as well. That column is indexed, or, where indexes are spared, the time of the marked rows.
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

/** Returns the condition that all of them hold. A condition with a value that is `undefined` is left out. */
export function allOf(conditions: readonly Fragment[]): Fragment {
  const given = conditions.filter(({ params }) => !params.includes(undefined));
  return {
    sql: given.map(({ sql }) => sql).join(" and "),
    params: given.flatMap(({ params }) => params),
  };
}

/**
 * Returns a query for one page of the rows of several queries, in one order. Each query reads its rows in that order from an index.
 * The database merges them, and stops at the limit.
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
 * Returns a value as the drivers can bind it: without NUL characters, which PostgreSQL and one driver of SQLite cannot store in text.
 * No id that the kit accepts contains one, and the raw bytes of a webhook are stored unchanged.
 */
export function withoutNul(value: unknown): unknown {
  if (typeof value === "string") return value.includes("\0") ? value.replaceAll("\0", "\uFFFD") : value;
  return value === undefined ? null : value;
}

/**
 * Hides the properties of a driver's error that contain the values of a statement, which are customers' data and hashes of secrets.
 * A logger writes only enumerable properties. Code that knows the name can still read them.
 */
export function concealValues(error: unknown, properties: readonly string[]): void {
  if (typeof error !== "object" || error === null) return;
  for (const property of properties) {
    const own = Object.getOwnPropertyDescriptor(error, property);
    if (own?.configurable && own.enumerable)
      Object.defineProperty(error, property, { ...own, enumerable: false });
  }
}

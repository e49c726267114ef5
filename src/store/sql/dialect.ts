/** A piece of SQL with the values of its placeholders. */
export interface Fragment {
  sql: string;
  params: unknown[];
}

/** Where the SQL of the databases differs. The kit's own statements are written with `?` throughout. */
export interface Dialect {
  readonly name: "sqlite" | "postgres" | "mysql";
  /** The database's clock: milliseconds since 1970, as an expression that is constant within one statement. */
  readonly now: string;
  /** How many rows one insert carries. One, where a statement costs no round trip and stays prepared. */
  readonly rowsPerStatement: number;
  /** Whether a parameter may be a list, and rows come as one for each column. */
  readonly takesLists: boolean;
  /** Whether `on conflict do nothing returning` tells which rows were stored. */
  readonly reportsInserted: boolean;
  /** Whether a query may hold statements that write and answer what they wrote. */
  readonly writesInQueries: boolean;
  /** Whether a locking read locks in the order in which it happens to scan, whatever `order by` says. */
  readonly locksInScanOrder: boolean;
  /** Row locks; empty where a transaction has the whole database to itself. */
  readonly forUpdate: string;
  readonly forUpdateSkipLocked: string;
  readonly forShare: string;
  /**
   * Whether rows commit in the order of their numbers, because one transaction writes at a time. Which events have their
   * dispatches is then told by one number, and else by a mark on each that has none.
   */
  readonly commitsInOrder: boolean;
  /** Whether a row is in as few indexes as can be, which are partial; see the migrations of SQLite. */
  readonly sparesIndexes: boolean;
  /** Whether the indexes by clientId list only what is not found otherwise; see `aboutClient`. */
  readonly listsFewByClient: boolean;
  /** `column` is one of `values`. */
  among(column: string, values: readonly unknown[]): Fragment;
  /**
   * `column` is one of what a query answers, where the database reads those first and then looks each up. Absent where
   * a join does it.
   */
  amongRows?(column: string, query: string): string;
  /** Whether what clashed, in a failure of the driver, is a row of that table. Absent where no commit is sent behind a write. */
  isClashIn?(error: unknown, table: string): boolean;
  /** The kit's error for a failure of the driver, or the failure itself where there is none. */
  translate(error: unknown): unknown;
  /** Whether the database ended the transaction to let another one go on; it may be run again. */
  isDeadlock(error: unknown): boolean;
}

/**
 * How rows that are marked by a column (`kept_since`), which holds their time (`received_at`) while they are, are found in
 * the order of that time: by the column itself, or where indexes are spared by the index of the time of marked rows.
 */
export function marked({ sparesIndexes }: Dialect, mark: string, time: string): { is: string; at: string } {
  return sparesIndexes ? { is: `${mark} is not null and`, at: time } : { is: "", at: mark };
}

/**
 * A page of the rows of several queries in one order, which each of them has from an index; the database reads them beside each
 * other and stops at the limit. PostgreSQL does so where order and limit are said of each of them.
 */
export function pageOf(
  { name }: Dialect,
  queries: readonly Fragment[],
  order: string,
  limit: number,
): Fragment {
  const saysOfEach = name === "postgres" && queries.length > 1;
  const end = `order by ${order} limit ?`;
  return {
    sql: `${queries.map(({ sql }) => (saysOfEach ? `(${sql} ${end})` : sql)).join(" union all ")} ${end}`,
    params: [...queries.flatMap(({ params }) => (saysOfEach ? [...params, limit] : params)), limit],
  };
}

/** `(?,?,?),(?,?,?)` */
export function rowsOfPlaceholders(rows: number, columns: number): string {
  const row = `(${placeholders(columns)})`;
  return Array.from({ length: rows }, () => row).join(",");
}

/** `?,?,?` */
export function placeholders(count: number): string {
  return Array.from({ length: count }, () => "?").join(",");
}

/**
 * PostgreSQL and one of the SQLite drivers cannot keep a NUL in text. No id that the kit accepts has one, so such a
 * key names nothing anyway; what arrived is kept whole in the raw bytes.
 */
export function storable(value: unknown): unknown {
  if (typeof value === "string") return value.includes("\0") ? value.replaceAll("\0", "\uFFFD") : value;
  return value === undefined ? null : value;
}

import { TillkitError } from "../../../errors/index.js";
import { concealValues } from "../conceal-values.js";
import { type Dialect } from "../dialect.js";

export const postgresDialect: Dialect = {
  name: "postgres",
  // Of the statement, and not of the transaction, which may have begun long ago.
  now: "(extract(epoch from statement_timestamp()) * 1000)::bigint",
  rowsPerStatement: 200,
  takesLists: true,
  reportsInserted: true,
  writesInQueries: true,
  commitsInOrder: false,
  sparesIndexes: true,
  listsFewByClient: false,
  locksInScanOrder: false,
  forUpdate: "for update",
  forUpdateSkipLocked: "for update skip locked",
  forShare: "for share",
  // A list of one is no list: PostgreSQL believes that it has ten, and plans anew for each call what it takes to be so much
  // cheaper. Of what it costs the database to create a payment, half was that.
  among: (column, values) =>
    values.length === 1
      ? { sql: `${column} = ?`, params: [...values] }
      : { sql: `${column} = any(?)`, params: [values] },
  // Two index scans and no join: planned and begun in half the time, and run in 60 % of it (33 payments: 0.21 to 0.13 ms).
  amongRows: (column, query) => `${column} = any(array(${query}))`,
  isClashIn: (error, table) => (error as { table?: unknown }).table === table,
  translate(error) {
    concealValues(error, ["detail", "where", "internalQuery"]);
    const { code } = error as { code?: unknown };
    if (code === "23505")
      return new TillkitError("store_conflict", "A value that must be unique is taken.", { cause: error });
    if (code === "55P03")
      return new TillkitError("store_busy", "A lock in PostgreSQL was not free in time.", { cause: error });
    if (isUnreachable(error))
      return new TillkitError("store_unavailable", "PostgreSQL cannot be reached.", { cause: error });
    if (isUnable(error))
      return new TillkitError("store_unavailable", "PostgreSQL cannot do it now.", { cause: error });
    return error;
  },
  isDeadlock: (error) => isDeadlock(error) || isDeadlock((error as { cause?: unknown }).cause),
};

/** Given up in favour of another transaction. */
function isDeadlock(error: unknown): boolean {
  return ["40P01", "40001"].includes(String((error as { code?: unknown } | undefined)?.code));
}

/** The server's own errors carry a severity; where there is none, no server answered. Classes 08 and 57P: it went away. */
function isUnreachable(error: unknown): boolean {
  const { severity, code } = error as { severity?: unknown; code?: unknown };
  if (error instanceof TillkitError || error instanceof TypeError) return false;
  return severity === undefined || /^(08|57P)/.test(String(code));
}

/**
 * Whatever the statement: no disk, memory or connection left (class 53), a failing disk (58), a standby (25006), nobody let
 * in (28), no such database (3D000), no rights (42501), stopped by somebody or a time limit (57014).
 */
function isUnable(error: unknown): boolean {
  const code = String((error as { code?: unknown }).code);
  return /^(53...|58...|25006|28...|3D000|42501|57014)$/.test(code) || isDeadlock(error);
}

/** A statement of the kit as PostgreSQL takes it. */
export interface NumberedStatement {
  text: string;
  /** To prepare it under, once per connection; the first few hundred texts have one, and the kit has no more. */
  name?: string;
}

const translated = new Map<string, NumberedStatement>();
const mostNames = 300;
let names = 0;

/** The kit's `?` as PostgreSQL's `$1`, `$2`, …; the kit's statements have no question mark elsewhere. */
export function numbered(sql: string): NumberedStatement {
  let statement = translated.get(sql);
  if (statement === undefined) {
    let count = 0;
    const text = sql.replaceAll("?", () => `$${++count}`);
    // A name is never used again for another text, not even after the list was emptied.
    statement = names < mostNames ? { text, name: `tillkit_${++names}` } : { text };
    if (translated.size >= 500) translated.clear();
    translated.set(sql, statement);
  }
  return statement;
}

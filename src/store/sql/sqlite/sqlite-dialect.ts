import { TillkitError } from "../../../errors/index.js";
import { because } from "../../../shared/because.js";
import { type Dialect } from "../driver/dialect.js";
import { isBusy, isUnavailable, isUniqueClash } from "./database.js";

/** The SQL of SQLite. */
export const sqliteDialect: Dialect = {
  name: "sqlite",
  now: "cast(unixepoch('subsec') * 1000 as integer)",
  rowsPerStatement: 1,
  takesLists: false,
  reportsInserted: true,
  writesInQueries: false,
  commitsInOrder: true,
  // During a statement, nothing else in this process runs, so a transaction does only one round.
  maxExpansionRounds: 1,
  sparesIndexes: true,
  listsFewByClient: true,
  locksInScanOrder: false,
  limitsEachQuery: false,
  replacesSavepoints: false,
  forUpdate: "",
  forUpdateSkipLocked: "",
  forShare: "",
  forceIndex: () => "",
  among: (column, values) =>
    values.length === 1
      ? { sql: `${column} = ?`, params: [...values] }
      : { sql: `${column} in (select value from json_each(?))`, params: [JSON.stringify(values)] },
  translate(error, file = "") {
    if (isUniqueClash(error))
      return new TillkitError("store_conflict", "A value that must be unique is taken.", { cause: error });
    if (isBusy(error))
      return new TillkitError("store_busy", `The SQLite file${file} is locked.`, { cause: error });
    if (isUnavailable(error))
      return new TillkitError(
        "store_unavailable",
        `The SQLite file${file} cannot be written or read${because(error)}`,
        {
          cause: error,
        },
      );
    return error;
  },
  isDeadlock: () => false,
};

import { type SqlResult } from "../sql-tx.js";

/** What mysql2 answers, for statements with rows and without. */
export function resultOf([answer]: [unknown, unknown]): SqlResult {
  if (Array.isArray(answer)) return { rows: answer as Record<string, unknown>[], affected: answer.length };
  const { affectedRows = 0, info = "" } = answer as { affectedRows?: number; info?: string };
  // An update that changes nothing has still found its row, whatever flags the pool was made with.
  const matched = /Rows matched: (\d+)/.exec(info)?.[1];
  return { rows: [], affected: matched === undefined ? affectedRows : Number(matched) };
}

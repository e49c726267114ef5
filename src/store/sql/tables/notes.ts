import { type Changes, type NoteRecord, type NotesOptions } from "../../contract.js";
import { conflict } from "../../rules/payments.js";
import { allOf } from "../driver/dialect.js";
import { type Session } from "../driver/sql-tx.js";
import { type Transaction } from "../transaction/transaction.js";
import { type Database } from "./names.js";

/** Reads the notes of one kind. */
export async function readNotes(
  reader: Session,
  { dialect, tables }: Database,
  { kind, ids, after, limit }: NotesOptions,
): Promise<NoteRecord[]> {
  if (ids?.length === 0) return [];
  const among = ids ? dialect.among("id", ids) : { sql: "1 = 1", params: [] };
  const where = allOf([{ sql: "kind = ?", params: [kind] }, among, { sql: "id > ?", params: [after] }]);
  const { rows } = await reader.run<{ id: string; version: unknown; value: string }>(
    `select id, version, value from ${tables.notes} where ${where.sql} order by id ${limit === undefined ? "" : "limit ?"}`,
    limit === undefined ? where.params : [...where.params, limit],
  );
  return rows.map(({ id, version, value }) => ({
    kind,
    id,
    version: Number(version),
    value: JSON.parse(value) as NoteRecord["value"],
  }));
}

/** Writes notes. Throws `store_conflict` if a note has another version. */
export async function writeNotes(
  tx: Transaction,
  { dialect, tables }: Database,
  notes: NonNullable<Changes["notes"]>,
): Promise<void> {
  const which = "where kind = ? and id = ? and version = ?";
  const ignore = dialect.name === "mysql" ? ["insert ignore", ""] : ["insert", "on conflict do nothing"];
  for (const { kind, id, version, value } of notes) {
    const text = JSON.stringify(value);
    const [sql, params] =
      value === null
        ? [`delete from ${tables.notes} ${which}`, [kind, id, version]]
        : version === 0
          ? [
              `${ignore[0]} into ${tables.notes} (kind, id, version, value) values (?, ?, 1, ?) ${ignore[1]}`,
              [kind, id, text],
            ]
          : [
              `update ${tables.notes} set version = version + 1, value = ? ${which}`,
              [text, kind, id, version],
            ];
    const { affected } = await tx.run(sql, params).catch((error: unknown) => {
      // If two transactions insert neighbouring notes, MySQL may end one of them, which counts as a conflict.
      if (!dialect.isDeadlock(error)) throw error;
      return { affected: 0 };
    });
    if (affected === 0) throw conflict(`The note ${kind} ${id} has another version than ${version}.`);
  }
}

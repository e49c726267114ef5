import { type Changes, type NoteRecord, type NotesOptions } from "../records.js";
import { conflict } from "./payments.js";

/**
 * Returns a note after a change; `undefined` where it is deleted.
 *
 * @throws TillkitError `store_conflict` if it has another version
 */
export function changedNote(
  before: NoteRecord | undefined,
  { kind, id, version, value }: NonNullable<Changes["notes"]>[number],
): NoteRecord | undefined {
  if ((before?.version ?? 0) !== version)
    throw conflict(`The note ${kind} ${id} has another version than ${version}.`);
  if (value === null) return undefined;
  // As a database keeps it: without what is undefined.
  return { kind, id, version: version + 1, value: JSON.parse(JSON.stringify(value)) as typeof value };
}

/** Returns copies of those notes that are asked for, sorted by id. */
export function notesAmong(
  notes: readonly NoteRecord[],
  { kind, ids, after, limit = Infinity }: NotesOptions,
): NoteRecord[] {
  return notes
    .filter((note) => note.kind === kind && (ids === undefined || ids.includes(note.id)))
    .filter(({ id }) => after === undefined || id > after)
    .map((note) => structuredClone(note))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .slice(0, limit);
}

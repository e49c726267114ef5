import { type Changes, type NoteRecord, type NotesOptions } from "../records.js";
import { conflict } from "./payments.js";

/**
 * Returns a note after a change, or `undefined` if the change deletes the note.
 *
 * @throws TillkitError `store_conflict` if the note has another version
 */
export function changedNote(
  before: NoteRecord | undefined,
  { kind, id, version, value }: NonNullable<Changes["notes"]>[number],
): NoteRecord | undefined {
  if ((before?.version ?? 0) !== version)
    throw conflict(`The note ${kind} ${id} has another version than ${version}.`);
  if (value === null) return undefined;
  // JSON drops `undefined`, as a database does.
  return { kind, id, version: version + 1, value: JSON.parse(JSON.stringify(value)) as typeof value };
}

/** Returns copies of the notes that match the options, sorted by id. */
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

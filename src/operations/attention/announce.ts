import { hasCode } from "../../errors/index.js";
import {
  type AttentionEntry,
  type AttentionRule,
  attentionRules,
  type ClosedEntry,
} from "../../model/attention.js";
import { type EventMap } from "../../model/event-map.js";
import { type Changes, type NoteRecord } from "../../store/index.js";
import { type EventDraft, stampEvent, withoutKey } from "../../webhook/recording/payment-events.js";
import { type RecordingParts } from "../../webhook/recording/recording-parts.js";
import { inGroups } from "../sweep/in-groups.js";
import { type FactParts, factSources, split } from "./facts.js";
import { attentionEntries, attentionId, entryOf, noteOf, readAttentionNotes } from "./list-attention.js";
import { type Fact, ruleTable } from "./rules.js";

/** The parts of the kit that the announcer uses. */
export interface AnnounceParts<Tx> extends Omit<FactParts<Tx>, "reasons">, RecordingParts<Tx> {
  /** Returns whether this process has a handler for attention events. If not, the announcer reads nothing. */
  isWanted: () => boolean;
  /** Returns the time without new clock jumps. Ages are measured with this time, as in the sweep. */
  cautiousNow: () => Date;
}

/** The kind of the notes about announced entries that are still open. The id of a note is the entry's id. */
const toldNotes = "attention_told";

/** An announced entry, as its note stores it. */
type Told = ClosedEntry & { toldAt: string; remindedAt?: string };

/** The number of open entries, and of announced entries, that one sweep reads. The next sweep continues. */
const maxPerSweep = 500;

/** The rules whose facts are in the store. */
const storedRules = attentionRules.filter((rule) => ruleTable[rule].of !== "process");

/** The position of the next page of open entries. */
interface Position {
  rule: AttentionRule;
  after: Fact["position"] | undefined;
}

/** An event, and its note. The version of the note prevents another process from raising the event too. */
interface Announcement {
  event: EventDraft;
  clientId: string | undefined;
  note: NonNullable<Changes["notes"]>[number];
}

/**
 * Returns a function that compares open entries with announced entries and raises `attention.opened`,
 * `attention.closed` and `attention.reminder`. Each call reads a bounded number of entries. The next call
 * continues with the entries that are left. A call resolves to the number of events.
 */
export function createAnnouncer<Tx>(parts: AnnounceParts<Tx>, reminderMs: number): () => Promise<number> {
  const { store, maxGroup: limit } = parts;
  const reasons = async () => [];
  const sources = factSources({ ...parts, now: parts.cautiousNow, reasons });
  const one =
    (from: typeof sources) =>
    ({ rule, subject }: Pick<Fact, "rule" | "subject">) =>
      from[ruleTable[rule].of].one(rule, subject);
  // Another process, with another option or clock, may have announced an entry that is too young here. The
  // entry must stay open.
  const oneOfAnyAge = one(factSources({ ...parts, reasons, unmatchedAfterMs: "any age" }));
  let told: string | undefined;
  let open: Position | undefined;

  /**
   * Raises events for announced entries that were closed, and reminders for announced entries that stay open.
   */
  async function review(): Promise<number> {
    let raised = 0;
    for (let read = 0; read < maxPerSweep; read += limit) {
      const notes = await store.notes({ kind: toldNotes, limit, ...(told !== undefined && { after: told }) });
      const ids = notes.map(({ id }) => id);
      const people = await readAttentionNotes(store, ids);
      const found = await Promise.all(
        notes.map(async (note) => {
          const [rule, subject] = split(note.id) as [AttentionRule, string];
          // A later version of the kit may have stored a rule that this version does not have. The note of
          // such a rule is skipped.
          if (!storedRules.includes(rule)) return undefined;
          const fact = await oneOfAnyAge({ rule, subject });
          const said = people.get(note.id);
          return (
            (await closing(parts, note, fact, said)) ?? reminder(parts, { note, fact, said, reminderMs })
          );
        }),
      );
      // The next sweep continues behind this page, also if the store refuses an event of this page.
      told = notes.length < limit ? undefined : ids.at(-1);
      raised += await announce(parts, found);
      if (told === undefined) break;
    }
    return raised;
  }

  /** Raises events for open entries that were not announced. */
  async function announceOpen(): Promise<number> {
    let [raised, read] = [0, 0];
    while (read < maxPerSweep) {
      const { rule, after }: Position = open ?? { rule: storedRules[0]!, after: undefined };
      const facts = await sources[ruleTable[rule].of].page(rule, after, limit);
      const nextRule = storedRules[storedRules.indexOf(rule) + 1];
      const isLast = facts.length < limit;
      // The next sweep continues behind this page, also if the store refuses an event of this page.
      if (!isLast) open = { rule, after: facts.at(-1)?.position };
      else open = nextRule && { rule: nextRule, after: undefined };
      read += facts.length;
      raised += await announce(parts, await openings(parts, one(sources), facts));
      if (open === undefined) break;
    }
    return raised;
  }

  return async () => {
    if (!parts.isWanted()) return 0;
    let [reviewed, opened] = [0, 0];
    try {
      reviewed = await review();
    } finally {
      opened = await announceOpen();
    }
    return reviewed + opened;
  };
}

/** Returns announcements for facts that were not announced and that no person has settled. */
async function openings<Tx>(
  parts: AnnounceParts<Tx>,
  one: (fact: Fact) => Promise<Fact | undefined>,
  facts: readonly Fact[],
): Promise<Announcement[]> {
  const ids = facts.map(attentionId);
  const told = ids.length === 0 ? [] : await parts.store.notes({ kind: toldNotes, ids });
  const isTold = new Set(told.map(({ id }) => id));
  const untold = facts.filter((fact) => !fact.isGone && !isTold.has(attentionId(fact)));
  // Each fact is read again, because another process may have announced its end and deleted the note.
  const still = (await Promise.all(untold.map(one))).filter((fact) => fact !== undefined);
  return (await attentionEntries(parts, still)).flatMap((entry, index): Announcement[] => {
    if (entry.settled) return [];
    const { id, rule, subject, since, why, clientId, reference, total } = entry;
    const toldAt = parts.now().toISOString();
    const value = { id, rule, subject, since, why, clientId, reference, total, toldAt };
    const note = { kind: toldNotes, id, version: 0, value };
    return [announcement("attention.opened", { entry, payment: still[index]!.payment }, note)];
  });
}

/** Returns the announcement that an entry is closed, if its fact ended or a person settled the entry. */
async function closing<Tx>(
  { store, now }: AnnounceParts<Tx>,
  note: NoteRecord,
  fact: Fact | undefined,
  said: NoteRecord | undefined,
): Promise<Announcement | undefined> {
  const { toldAt: _, remindedAt: __, ...entry } = toldIn(note);
  const { settled } = noteOf(said);
  const isSettled = settled?.since === entry.since;
  if (fact?.since === entry.since && !isSettled) return undefined;
  const payment = entry.clientId === undefined ? undefined : await store.find(entry.clientId);
  const how = isSettled
    ? ({ how: "settled", by: settled.by, reason: settled.reason } as const)
    : ({ how: "gone" } as const);
  const afterMs = Math.max(0, now().getTime() - Date.parse(entry.since));
  const payload = { entry, ...how, afterMs, payment: payment && withoutKey(payment) };
  return announcement("attention.closed", payload, { ...note, value: null });
}

/**
 * Returns the due reminder of an entry. A reminder is due `reminderMs` after the announcement, or at the end
 * of a snooze that ends later.
 */
function reminder<Tx>(
  parts: Pick<AnnounceParts<Tx>, "now" | "cautiousNow">,
  {
    note,
    fact,
    said,
    reminderMs,
  }: { note: NoteRecord; fact: Fact | undefined; said: NoteRecord | undefined; reminderMs: number },
): Announcement | undefined {
  const { toldAt, remindedAt } = toldIn(note);
  const { snoozedUntil = "", snoozedFor = fact?.since } = noteOf(said);
  const inTime = new Date(Date.parse(toldAt) + reminderMs).toISOString();
  const due = snoozedFor === fact?.since && snoozedUntil > inTime ? snoozedUntil : inTime;
  const now = parts.now();
  if (!fact || due > parts.cautiousNow().toISOString() || (remindedAt !== undefined && remindedAt >= due))
    return undefined;
  const value = { ...note.value, remindedAt: now.toISOString() };
  return announcement(
    "attention.reminder",
    { entry: entryOf(fact, said, now), payment: fact.payment },
    { ...note, value },
  );
}

function toldIn({ value }: NoteRecord): Told {
  return value as unknown as Told;
}

function announcement<Type extends "attention.opened" | "attention.closed" | "attention.reminder">(
  type: Type,
  payload: { [Key in keyof EventMap[Type]]: EventMap[Type][Key] | undefined },
  note: Announcement["note"],
): Announcement {
  const { entry } = payload as { entry: ClosedEntry | AttentionEntry };
  return {
    event: { type, payload: plain(payload) },
    clientId: entry.clientId,
    note: { ...note, value: note.value && plain(note.value) },
  };
}

/** Returns a deep copy without the fields that are `undefined`. */
function plain(value: object): Readonly<Record<string, unknown>> {
  return JSON.parse(JSON.stringify(value)) as Record<string, unknown>;
}

/** Saves events with their notes, and resolves to their number, or to 0 if another process was faster. */
async function announce<Tx>(
  { store, now, newId }: AnnounceParts<Tx>,
  found: readonly (Announcement | undefined)[],
): Promise<number> {
  const all = found.filter((one) => one !== undefined);
  if (all.length === 0) return 0;
  const save = async (some: readonly Announcement[]): Promise<number> => {
    const recordedAt = now().toISOString();
    const events = some.map(({ event, clientId }) => stampEvent(event, { newId, recordedAt, clientId }));
    const notes = some.map(({ note }) => note);
    try {
      await store.transaction((tx) => store.save(tx, { notes, events }));
      return some.length;
    } catch (error) {
      if (hasCode(error, "store_conflict")) return 0;
      throw error;
    }
  };
  return (await inGroups(store, all, save)).reduce((sum, count) => sum + count, 0);
}

import { createHash } from "node:crypto";
import { hasCode, TillkitError } from "../../errors/index.js";
import {
  type AttentionChange,
  type AttentionEntry,
  type AttentionNote,
  type AttentionRule,
  attentionNotes,
  attentionRules,
} from "../../model/attention.js";
import { isText } from "../../shared/is-text.js";
import { describeUnknown, type NamesOf } from "../../shared/unknown-names.js";
import { isWholeNumber } from "../../shared/whole-number.js";
import { withoutUndefined } from "../../shared/without-undefined.js";
import { type Changes, type EventRecord, type NoteRecord, type WebhookRecord } from "../../store/index.js";
import { stampEvent } from "../../webhook/recording/payment-events.js";
import { type RecordingParts } from "../../webhook/recording/recording-parts.js";
import { notPossible, resolutionInvalid, resolvedEvent } from "../resolution/resolution.js";
import { inGroups } from "../sweep/in-groups.js";
import { type FactParts, factSources, split } from "./facts.js";
import { closedEntryOf, entryOf, noteOf, readAttentionNotes } from "./list-attention.js";
import { type Fact, ruleTable } from "./rules.js";

/** An action of a person on one entry of `payments.attention`. */
export interface AttentionAction {
  /**
   * - `assign`: the person `to` looks after the entry. Without `to`, this is the person `by`.
   * - `snooze`: the entry is not listed until the time `until`. After this time it is listed again, if its
   *   fact still exists.
   * - `note`: the `reason` is kept for other people.
   * - `settle`: nothing more needs to be done. The stored payment, webhooks or dispatch are kept as evidence.
   */
  action: "assign" | "snooze" | "note" | "settle";
  /** The person who acts: 1 to 128 characters. */
  by: string;
  /** The reason, or the note itself: 1 to 1,000 characters. Only `assign` needs none. */
  reason?: string | undefined;
  /**
   * With `assign`: the person who looks after the entry, in 1 to 128 characters, or `null` for nobody.
   * @default by
   */
  to?: string | null | undefined;
  /** With `snooze`: the end of the snooze, in the future and at most 366 days from now. */
  until?: Date | undefined;
  /** With `settle`: the place of the evidence, such as a file and its line, in 1 to 500 characters. */
  document?: string | undefined;
  /** The `version` of the entry that the person saw. The action fails if the entry has another version. */
  version?: number | undefined;
  /**
   * The key of the action, for example of one click: 1 to 128 characters. A second action with this key
   * changes nothing.
   */
  key?: string | undefined;
  /**
   * Whether nothing is stored. `changed` then says whether the action would change the entry.
   * @default false
   */
  dryRun?: boolean | undefined;
}

/** An entry after an action. */
export interface AttendedEntry {
  /** The entry as it is now. */
  entry: AttentionEntry;
  /** Whether the entry was changed. False if the same action was done before. */
  changed: boolean;
}

/** The parts of the kit that the actions use. */
export type AttendParts<Tx> = FactParts<Tx> & RecordingParts<Tx>;

const maxChanges = 50;
/** The maximum number of webhooks that a settlement keeps as evidence. All webhooks stay in the store. */
const maxShown = 50;
const maxSnoozeMs = 366 * 24 * 60 * 60 * 1000;
const did = { assign: "assigned", snooze: "snoozed", note: "noted", settle: "settled" } as const;

/**
 * Does one action on one entry. Stores the person, the time, the reason, and the state before and after.
 *
 * @throws TillkitError `resolution_invalid` if a field of the action is not valid, or the id names no rule
 * @throws TillkitError `resolution_not_possible` if the entry is closed, or if only the steps in `next` can
 * close it, and not `settle`
 * @throws TillkitError `store_conflict` if another person was faster; the message has that person's action
 */
export async function attend<Tx>(
  parts: AttendParts<Tx>,
  id: string,
  given: AttentionAction,
): Promise<AttendedEntry> {
  check(given, parts.now());
  await parts.ready();
  const [rule, subject] = split(id) as [AttentionRule, string];
  if (!attentionRules.includes(rule)) throw resolutionInvalid(`No entry has the id ${JSON.stringify(id)}.`);
  const note = (await readAttentionNotes(parts.store, [id])).get(id);
  const fact = await factSources(parts)[ruleTable[rule].of].one(rule, subject);
  const before = noteOf(note);
  const change = changeOf(given, before, parts.now());
  if (isRepeated(change, before, fact)) {
    const now = parts.now();
    const entry = fact ? entryOf(fact, note, now) : closedEntryOf({ rule, subject }, note, now);
    return { entry, changed: false };
  }
  if (!fact) throw notPossible(`${id} is closed: its cause is gone, or never existed`);
  if (given.action === "settle" && ruleTable[rule].settle === "fact")
    throw notPossible("settling does not end its cause", ruleTable[rule].next(fact));
  refuseOvertaken(given, note, before, fact);
  if (given.dryRun) return { entry: entryOf(fact, note, parts.now()), changed: true };
  const value = JSON.parse(JSON.stringify(valueAfter(given, before, change, fact))) as NoteRecord["value"];
  const changed = { kind: attentionNotes, id, version: note?.version ?? 0, value };
  const webhooks = given.action === "settle" ? (fact.webhooks ?? []) : [];
  let isStored = false;
  const save = async (some: readonly WebhookRecord[]): Promise<void> => {
    // If the store limits its writes, several transactions settle the webhooks. The first writes the note.
    const own = { ...fact, webhooks: some };
    const action = { given, fact: own, notes: isStored ? [] : [changed], at: change.at };
    await parts.store.transaction((tx) => saveAction(parts, tx, action));
    isStored = true;
  };
  try {
    // After a refusal, no later webhook is settled. Its note would hide the entry of the refused one.
    if (parts.store.maxGroup === Infinity) await save(webhooks);
    else await inGroups(parts.store, webhooks, save, 1);
  } catch (error) {
    if (!hasCode(error, "store_conflict") || isStored) throw error;
    const now = (await readAttentionNotes(parts.store, [id])).get(id);
    const { version = 0 } = now ?? {};
    // If the note is unchanged, no person was faster: the payment, a webhook or the claim has changed.
    throw overtaken(noteOf(version === changed.version ? undefined : now), version);
  }
  parts.announceEvents();
  return { entry: entryOf(fact, { ...changed, version: changed.version + 1 }, parts.now()), changed: true };
}

/**
 * Writes the notes. The action `settle` also writes the changes that end the fact. Throws `store_conflict` if
 * the entry's payment, webhooks or claim have changed meanwhile.
 */
async function saveAction<Tx>(
  parts: AttendParts<Tx>,
  tx: Tx,
  { given, fact, notes, at }: { given: AttentionAction; fact: Fact; notes: NoteRecord[]; at: string },
): Promise<void> {
  const { store, newId } = parts;
  const { rule, subject, payment, webhooks = [], claim } = fact;
  const { by, reason = "" } = given;
  const isClaim = given.action === "settle" && claim;
  const changes: Changes = { notes: [...notes, ...(isClaim ? [{ ...claim.note, value: null }] : [])] };
  const events: EventRecord[] = [];
  if (given.action === "settle" && ruleTable[rule].of === "payment") {
    const { payments } = await store.lock(tx, { clientIds: [subject] });
    const { attention, ...rest } = payments.find(({ clientId }) => clientId === subject)!;
    const isPaid = attention === "paid_twice" || attention === "paid_late";
    if (rest.state !== payment!.state || attention !== payment!.attention)
      throw new TillkitError("store_conflict", `${subject} has just changed.`);
    changes.updated = [{ ...rest, ...(!isPaid && { attention: "settled" as const }), updatedAt: at }];
  } else if (given.action === "settle") {
    const action = "dismissed" as const;
    // This write locks the webhooks, so that their outcomes no longer change.
    await store.save(tx, { dismissed: webhooks.map(({ receiptId }) => receiptId) });
    const still = (await factSources(parts)[ruleTable[rule].of].one(rule, subject))?.webhooks ?? [];
    if (!webhooks.every(({ receiptId }) => still.some((one) => one.receiptId === receiptId)))
      throw new TillkitError("store_conflict", `${subject} has changed in this moment.`);
    changes.resolutions = webhooks.map(({ receiptId, clientId = "" }) => {
      return { id: `settled:${rule}:${receiptId}`, clientId, action, receiptId, reason, by, at };
    });
    for (const resolution of changes.resolutions.filter(({ clientId }) => clientId !== "")) {
      const stamp = { newId, recordedAt: at, clientId: resolution.clientId };
      events.push(stampEvent(resolvedEvent(resolution, payment), stamp));
    }
  }
  await store.save(tx, { ...changes, events });
}

function changeOf(
  { action, by, reason, to, until, document, key }: AttentionAction,
  before: AttentionNote,
  now: Date,
): AttentionChange {
  const [was, is] = {
    assign: [before.assigned, to === null ? undefined : (to ?? by)],
    snooze: [before.snoozedUntil, until?.toISOString()],
    note: [],
    settle: [undefined, document],
  }[action];
  return withoutUndefined({
    did: did[action],
    by,
    at: now.toISOString(),
    reason,
    before: was,
    after: is,
    key,
  }) as AttentionChange;
}

function valueAfter(given: AttentionAction, before: AttentionNote, change: AttentionChange, fact: Fact) {
  const { by, reason, document } = given;
  const { payment, dispatch, claim } = fact;
  const webhooks = fact.webhooks?.slice(-maxShown).map(({ rawBody, ...webhook }) => {
    // If the bytes were pruned, a digest cannot be made.
    if (rawBody.length === 0) return webhook;
    return { ...webhook, sha256: createHash("sha256").update(rawBody).digest("hex") };
  });
  const settled = {
    ...withoutUndefined({ reason, by, document }),
    at: change.at,
    since: fact.since,
    evidence: { payment, dispatch, claims: claim?.claims, webhooks },
  };
  return {
    ...before,
    ...(given.action === "assign" && { assigned: change.after }),
    ...(given.action === "snooze" && {
      snoozedUntil: change.after,
      snoozedFor: ruleTable[fact.rule].of === "process" ? undefined : fact.since,
    }),
    ...(given.action === "settle" && { settled }),
    changes: [...before.changes, change].slice(-maxChanges),
  };
}

/**
 * Returns whether the action was done before. If so, a change has the same key, or the last change has the
 * same person and the same content.
 */
function isRepeated(
  change: AttentionChange,
  { changes, settled, snoozedFor }: AttentionNote,
  fact: Fact | undefined,
): boolean {
  if (change.key !== undefined && changes.some(({ key }) => key === change.key)) return true;
  // A fact that ended and came back is a new fact, which is not settled.
  if (change.did === "settled" && fact && settled?.since !== fact.since) return false;
  if (change.did === "snoozed" && fact && (snoozedFor ?? fact.since) !== fact.since) return false;
  const last = changes.at(-1);
  const content = ({ did, by, reason, after }: AttentionChange) => JSON.stringify([did, by, reason, after]);
  return last !== undefined && content(last) === content(change);
}

/** Throws `store_conflict` if the action would undo work of another person that this person did not see. */
function refuseOvertaken(
  { action, by, version }: AttentionAction,
  note: NoteRecord | undefined,
  before: AttentionNote,
  fact: Fact,
): void {
  const current = note?.version ?? 0;
  if (version !== undefined) {
    if (version !== current) throw overtaken(before, current);
    return;
  }
  const isTaken = before.assigned !== undefined && before.assigned !== by;
  if (action === "assign" && isTaken) throw overtaken(before, current);
  if (action === "settle" && before.settled?.since === fact.since) throw overtaken(before, current);
}

function overtaken({ changes }: AttentionNote, version: number): TillkitError {
  const last = changes.at(-1);
  const what = last
    ? `${last.by} ${last.did} the entry${last.after === undefined ? "" : ` (${last.after})`} at ${last.at}${last.reason === undefined ? "" : `: ${last.reason}`}`
    : "the entry has just changed";
  return new TillkitError("store_conflict", `Nothing was done, because ${what}.`, {
    fix: `Look at the entry again. To take the action anyway, give the entry's version, which is now ${version}.`,
  });
}

function check(given: AttentionAction, now: Date): void {
  const { action, by, reason, to, until, document, version, key, dryRun } = given;
  const names = { action, by, reason, to, until, document, version, key, dryRun };
  const unknown = describeUnknown(given, names satisfies NamesOf<AttentionAction>);
  if (unknown !== undefined) throw resolutionInvalid(unknown);
  if (!Object.hasOwn(did, action)) throw resolutionInvalid("action must be assign, snooze, note or settle.");
  expectText("by", by, 128);
  if (action !== "assign" || reason !== undefined) expectText("reason", reason, 1000);
  if (to !== undefined && to !== null) expectText("to", to, 128);
  if (document !== undefined) expectText("document", document, 500);
  if (key !== undefined) expectText("key", key, 128);
  if (version !== undefined && !isWholeNumber(version, 0))
    throw resolutionInvalid("version must be the whole number that the entry has.");
  const misplaced = [
    to !== undefined && action !== "assign" && "to",
    until !== undefined && action !== "snooze" && "until",
    document !== undefined && action !== "settle" && "document",
  ].find(Boolean);
  if (misplaced) throw resolutionInvalid(`${action} takes no ${misplaced}.`);
  const aheadMs = until instanceof Date ? until.getTime() - now.getTime() : NaN;
  if (action === "snooze" && !(aheadMs > 0 && aheadMs <= maxSnoozeMs))
    throw resolutionInvalid("until must be a Date in the future, at most 366 days from now.");
}

function expectText(name: string, value: unknown, maxLength: number): void {
  if (isText(value, maxLength)) return;
  throw resolutionInvalid(`${name} must be a string of 1 to ${maxLength} characters.`);
}

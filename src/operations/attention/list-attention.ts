import {
  type AttentionEntry,
  type AttentionNote,
  type AttentionRule,
  attentionNotes,
  attentionRules,
} from "../../model/attention.js";
import { type NamesOf } from "../../shared/unknown-names.js";
import { type NoteRecord, type PaymentStore } from "../../store/index.js";
import { cursorAt, cursorPosition, expectLimit, queryError, refuseUnknown } from "../reading/query.js";
import { type FactParts, factSources } from "./facts.js";
import { type Fact, ruleTable, totalOf } from "./rules.js";

/** Selects entries of `payments.attention`. */
export interface AttentionQuery {
  /** Lists only the entries of these rules. @default all rules */
  rule?: AttentionRule | readonly AttentionRule[] | undefined;
  /** Whether entries that are snoozed are listed too. @default false */
  snoozed?: boolean | undefined;
  /**
   * Whether entries that a person has settled, and whose fact is still there, are listed too.
   * @default false
   */
  settled?: boolean | undefined;
  /**
   * Lists only the entries of this person, or with `null` the entries without a person.
   * @default all entries
   */
  assigned?: string | null | undefined;
  /** The maximum number of entries on one page: 1 to 200. @default 50 */
  limit?: number | undefined;
  /** The `cursor` of the previous page. The other conditions must be the same. */
  cursor?: string | undefined;
}

/** One page of entries that need a person. */
export interface AttentionList {
  /**
   * The entries of the most urgent rule first. Within a rule, the oldest payment, webhook or event comes
   * first. Handlers and reasons of the health are in alphabetical order.
   */
  entries: AttentionEntry[];
  /** The cursor of the next page; absent on the last page. Other pages may have less than `limit` entries. */
  cursor?: string;
}

const maxPerPage = 200;
/** The maximum number of facts that one page reads, so that many snoozed entries do not make a page slow. */
const maxRead = 400;

/** Returns one page of entries that need a person. @throws TillkitError `query_invalid` */
export async function listAttention<Tx>(
  parts: FactParts<Tx>,
  query: AttentionQuery = {},
): Promise<AttentionList> {
  const { wanted, limit, isListed } = checked(query, parts.now());
  const sources = factSources(parts);
  const start = query.cursor === undefined ? undefined : cursorPosition(query.cursor, isPlace);
  if (start && !wanted.includes(start[0]))
    throw queryError("cursor came with a page of other rules; give the same rule with it.");
  const entries: AttentionEntry[] = [];
  let read = 0;
  for (const rule of wanted.slice(start ? wanted.indexOf(start[0]) : 0)) {
    let after: Fact["position"] | undefined = start?.[0] === rule ? [start[1], start[2]] : undefined;
    for (;;) {
      const facts = await sources[ruleTable[rule].of].page(rule, after, limit);
      for (const [index, entry] of (await attentionEntries(parts, facts)).entries()) {
        after = facts[index]!.position;
        if (!facts[index]!.isGone && isListed(entry)) entries.push(entry);
        if (entries.length === limit) return { entries, cursor: cursorAt([rule, ...after]) };
      }
      read += facts.length;
      if (facts.length < limit) break;
      if (read >= maxRead) return { entries, cursor: cursorAt([rule, ...after!]) };
    }
  }
  return { entries };
}

/** Returns the entries of facts, with the actions of people. */
export async function attentionEntries<Tx>(
  { store, now }: Pick<FactParts<Tx>, "store" | "now">,
  facts: readonly Fact[],
): Promise<AttentionEntry[]> {
  const notes = await readAttentionNotes(store, facts.map(attentionId));
  return facts.map((fact) => entryOf(fact, notes.get(attentionId(fact)), now()));
}

/** Reads the notes that keep the actions of people, by the ids of their entries. */
export async function readAttentionNotes<Tx>(
  store: Pick<PaymentStore<Tx>, "notes">,
  ids: readonly string[],
): Promise<Map<string, NoteRecord>> {
  if (ids.length === 0) return new Map();
  return new Map((await store.notes({ kind: attentionNotes, ids })).map((note) => [note.id, note]));
}

/** Returns the id of the entry of a fact. */
export function attentionId({ rule, subject }: Pick<Fact, "rule" | "subject">): string {
  return `${rule}:${subject}`;
}

/** Returns the entry of a fact. */
export function entryOf(fact: Fact, note: NoteRecord | undefined, now: Date): AttentionEntry {
  const { rule, subject, since, payment, webhook, webhooks, dispatch, claim } = fact;
  const { snoozedUntil, snoozedFor = since, settled, ...people } = noteOf(note);
  const clientId = payment?.clientId ?? webhook?.clientId ?? dispatch?.clientId;
  const total = totalOf(fact);
  const runs = dispatch?.attempt ?? claim?.claims.length;
  const repeats = webhooks?.reduce((sum, { copies = 0 }) => sum + copies + 1, 0) ?? runs;
  return {
    id: attentionId(fact),
    rule,
    subject,
    since,
    ageMs: Math.max(0, now.getTime() - Date.parse(since)),
    why: ruleTable[rule].why(fact),
    next: ruleTable[rule].next(fact),
    ...(clientId !== undefined && { clientId }),
    ...(payment && { reference: payment.reference }),
    ...(total && { total }),
    ...(repeats !== undefined && repeats > 1 && { repeats }),
    ...people,
    // A fact that ended and came back is a new fact, which is not snoozed.
    ...(snoozedFor === since &&
      snoozedUntil !== undefined &&
      snoozedUntil > now.toISOString() && { snoozedUntil }),
    ...(settled?.since === since && { settled }),
    version: note?.version ?? 0,
  };
}

/** Returns an entry whose fact is gone. Uses the evidence of its settlement, if a person settled it. */
export function closedEntryOf(
  { rule, subject }: Pick<Fact, "rule" | "subject">,
  note: NoteRecord | undefined,
  now: Date,
): AttentionEntry {
  const { evidence, since = now.toISOString() } = noteOf(note).settled ?? {};
  const entry = entryOf({ ...evidence, rule, subject, since } as Fact, note, now);
  // The evidence is not the whole fact, so the sentences of the rule would have gaps.
  return { ...entry, why: "The cause of this entry is gone.", next: "Nothing more needs to be done." };
}

/** Returns the actions of people in a note. */
export function noteOf(note: Pick<NoteRecord, "value"> | undefined): AttentionNote {
  return { changes: [], ...note?.value };
}

function checked(query: AttentionQuery, now: Date) {
  const { rule = attentionRules, snoozed = false, settled = false, assigned, limit = 50, cursor } = query;
  const names = { rule, snoozed, settled, assigned, limit, cursor };
  refuseUnknown(query, names satisfies NamesOf<AttentionQuery>);
  const wanted = attentionRules.filter((one) => (typeof rule === "string" ? [rule] : rule).includes(one));
  if (wanted.length !== new Set(typeof rule === "string" ? [rule] : rule).size)
    throw queryError(`rule must be one of ${attentionRules.join(", ")}, or a list of them.`);
  if (typeof snoozed !== "boolean" || typeof settled !== "boolean")
    throw queryError("snoozed and settled must be true or false.");
  if (assigned !== undefined && assigned !== null && typeof assigned !== "string")
    throw queryError("assigned must be a name, or null.");
  expectLimit(limit, maxPerPage);
  const at = now.toISOString();
  const isListed = (entry: AttentionEntry): boolean =>
    (snoozed || (entry.snoozedUntil ?? at) <= at) &&
    (settled || entry.settled === undefined) &&
    (assigned === undefined || (entry.assigned ?? null) === assigned);
  return { wanted, limit, isListed };
}

function isPlace(value: unknown): value is [AttentionRule, ...Fact["position"]] {
  if (!Array.isArray(value) || value.length !== 3) return false;
  return value.every((part) => typeof part === "string") && Object.hasOwn(ruleTable, value[0]!);
}

import {
  controlOf,
  handlerNotes,
  type HandlerChange,
  type HandlerControl,
  readControls,
} from "../../dispatch/handler-controls.js";
import { hasCode, TillkitError } from "../../errors/index.js";
import { isText } from "../../shared/is-text.js";
import { describeUnknown, type NamesOf, suggestion } from "../../shared/unknown-names.js";
import { type HandlerSummary, type PaymentStore } from "../../store/index.js";

/** Options of `payments.pauseHandler`. */
export interface PauseOptions {
  /** The reason, for other people: 1 to 1,000 characters. */
  reason: string;
  /** The name of the person who pauses the handler: 1 to 128 characters. */
  by: string;
  /**
   * The key of this change, for example of one click: 1 to 128 characters. A second change with this key does
   * nothing.
   * @default none
   */
  key?: string | undefined;
}

/** Options of `payments.resumeHandler`. */
export interface ResumeOptions {
  /** The person who resumes the handler: 1 to 128 characters. */
  by: string;
  /** The reason, for other people: 1 to 1,000 characters. @default no reason is kept */
  reason?: string | undefined;
  /**
   * The key of this change, for example of one click: 1 to 128 characters. A second change with this key does
   * nothing.
   * @default none
   */
  key?: string | undefined;
}

/** Options of `payments.limitHandler`. */
export interface LimitOptions {
  /**
   * The maximum number of runs per second, over all processes: more than 0, at most 10,000. `null` removes
   * the limit.
   */
  perSecond: number | null;
  /** The person who limits the handler: 1 to 128 characters. @default no name is kept */
  by?: string | undefined;
  /**
   * The key of this change, for example of one click: 1 to 128 characters. A second change with this key does
   * nothing.
   * @default none
   */
  key?: string | undefined;
}

/** A handler after a change. */
export interface ControlledHandler extends HandlerControl {
  /**
   * Whether the handler was changed. False if it was already in the wanted state, or if the key was used
   * before.
   */
  changed: boolean;
}

/** A handler in the store, with the decisions of people about it. */
export type HandlerStatus = HandlerSummary & HandlerControl;

/** The parts of the kit that the changes use. */
export interface ChangeParts<Tx> {
  store: PaymentStore<Tx>;
  now: () => Date;
  /** Called after a change, so that this process does not wait for its next poll. */
  onChanged: () => void;
}

const maxChanges = 50;
const maxPerSecond = 10_000;

/** Pauses a handler. @throws TillkitError `option_invalid`, `handler_unknown` */
export function pauseHandler<Tx>(
  parts: ChangeParts<Tx>,
  name: string,
  options: PauseOptions,
): Promise<ControlledHandler> {
  const { reason, by, key } = options;
  expectNames(options, { reason, by, key } satisfies NamesOf<PauseOptions>);
  expectOptionText("reason", reason, 1000);
  expectOptionText("by", by, 128);
  return change(parts, name, key, ({ paused }, at) =>
    paused
      ? undefined
      : { fields: { paused: { reason, by, at } }, change: { did: "paused", by, reason, at } },
  );
}

/** Resumes a handler. @throws TillkitError `option_invalid`, `handler_unknown` */
export function resumeHandler<Tx>(
  parts: ChangeParts<Tx>,
  name: string,
  options: ResumeOptions,
): Promise<ControlledHandler> {
  const { by, reason, key } = options;
  expectNames(options, { by, reason, key } satisfies NamesOf<ResumeOptions>);
  expectOptionText("by", by, 128);
  if (reason !== undefined) expectOptionText("reason", reason, 1000);
  return change(parts, name, key, ({ paused }, at) => {
    if (!paused) return undefined;
    const before = `paused by ${paused.by} since ${paused.at}: ${paused.reason}`;
    return {
      fields: { paused: undefined },
      change: { did: "resumed", by, ...(reason !== undefined && { reason }), before, at },
    };
  });
}

/** Limits a handler. @throws TillkitError `option_invalid`, `handler_unknown` */
export function limitHandler<Tx>(
  parts: ChangeParts<Tx>,
  name: string,
  options: LimitOptions,
): Promise<ControlledHandler> {
  const { perSecond, by, key } = options;
  expectNames(options, { perSecond, by, key } satisfies NamesOf<LimitOptions>);
  if (by !== undefined) expectOptionText("by", by, 128);
  if (perSecond !== null && !(typeof perSecond === "number" && perSecond > 0 && perSecond <= maxPerSecond))
    throw invalid(`perSecond must be a number above 0, at most ${maxPerSecond}, or null.`);
  return change(parts, name, key, ({ perSecond: limit }, at) => {
    if ((limit ?? null) === perSecond) return undefined;
    const before = limit === undefined ? {} : { before: `${limit} a second` };
    return {
      fields: { perSecond: perSecond ?? undefined },
      change: { did: "limited", ...(by !== undefined && { by }), perSecond, ...before, at },
    };
  });
}

/** Returns every handler in the store. */
export async function listHandlers<Tx>(store: PaymentStore<Tx>): Promise<HandlerStatus[]> {
  const [known, controls] = await Promise.all([store.handlers(), readControls(store)]);
  return known.map((one) => ({
    ...(controls.find(({ name }) => name === one.name) ?? { changes: [] }),
    ...one,
  }));
}

type Decide = (
  before: HandlerControl,
  at: string,
) =>
  | { fields: { [Key in "paused" | "perSecond"]?: HandlerControl[Key] | undefined }; change: HandlerChange }
  | undefined;

async function change<Tx>(
  parts: ChangeParts<Tx>,
  name: string,
  key: string | undefined,
  decide: Decide,
): Promise<ControlledHandler> {
  if (key !== undefined) expectOptionText("key", key, 128);
  await expectKnown(parts.store, name);
  return changeNote(parts, name, key, decide);
}

/** Changes the note of a handler. Decides again if another call changed the note meanwhile. */
export async function changeNote<Tx>(
  { store, now, onChanged }: ChangeParts<Tx>,
  name: string,
  key: string | undefined,
  decide: Decide,
): Promise<ControlledHandler> {
  for (;;) {
    const [note] = await store.notes({ kind: handlerNotes, ids: [name] });
    const before = controlOf(note ?? { id: name, value: {} });
    const isRepeated = key !== undefined && before.changes.some((one) => one.key === key);
    const decided = isRepeated ? undefined : decide(before, now().toISOString());
    if (!decided) return { ...before, changed: false };
    const { name: _, ...value } = {
      ...before,
      ...decided.fields,
      changes: [...before.changes, { ...decided.change, ...(key !== undefined && { key }) }].slice(
        -maxChanges,
      ),
    };
    const changed = { kind: handlerNotes, id: name, version: note?.version ?? 0, value };
    try {
      await store.transaction((tx) => store.save(tx, { notes: [changed] }));
    } catch (error) {
      if (hasCode(error, "store_conflict")) continue;
      throw error;
    }
    onChanged();
    // The result has the form that the store returns, without undefined fields.
    return {
      ...controlOf({ id: name, value: JSON.parse(JSON.stringify(value)) as object & typeof value }),
      changed: true,
    };
  }
}

async function expectKnown<Tx>(store: PaymentStore<Tx>, name: string): Promise<void> {
  const names = (await store.handlers()).map((one) => one.name);
  if (names.includes(name)) return;
  // An earlier version kept the pause of a retired name, so a person must be able to end such a pause.
  if ((await readControls(store)).some((one) => one.name === name && one.paused)) return;
  const hint = names.length > 0 ? suggestion(name, names) : "It knows none yet.";
  throw new TillkitError(
    "handler_unknown",
    `The store has no handler named ${JSON.stringify(name)}. ${hint}`,
  );
}

/** Throws `option_invalid` unless a value is a text of 1 to `maxLength` characters. */
export function expectOptionText(name: string, value: unknown, maxLength: number): void {
  if (isText(value, maxLength)) return;
  throw invalid(`${name} must be a string of 1 to ${maxLength} characters.`);
}

function expectNames(options: object, known: object): void {
  const unknown = describeUnknown(options, known);
  if (unknown !== undefined) throw invalid(unknown);
}

function invalid(message: string): TillkitError {
  return new TillkitError("option_invalid", message);
}

import assert from "node:assert/strict";
import { hasCode } from "../../../errors/index.js";
import { because } from "../../../shared/because.js";
import { type RecordChange } from "../../index.js";
import { type Adapter, Conflict, Operations } from "../../over/adapter/operations.js";

/** Returns a key. Names with "@" have another first part: a database may have one partition for each. */
export const examKey = (name: string): string =>
  name.startsWith("@") ? `other/${name.slice(1)}` : `exam/${name}`;
export const examChange = (name: string, version: number, value: string | null = '"1"'): RecordChange => ({
  key: examKey(name),
  version,
  value,
});

/**
 * Writes in a separate transaction, perhaps with a wrong version or beside other writes. Returns the result
 * of `write`. If the adapter rejects, the error also says what to do if the reason was a conflict.
 */
export async function written(
  adapter: Adapter,
  changes: readonly RecordChange[],
  before?: (tx: object) => unknown,
): Promise<boolean> {
  let stage: keyof typeof adviceOf | undefined = "begin";
  const onBegun = async (tx: object): Promise<void> => {
    stage = undefined;
    await before?.(tx);
    stage = "write";
  };
  try {
    return await attempted(adapter, changes, onBegun, () => (stage = "commit"));
  } catch (cause) {
    const isOfAdapter = hasCode(cause, "store_unavailable") || hasCode(cause, "store_conflict");
    if (!stage || !isOfAdapter) throw cause;
    const [what, how] = adviceOf[stage];
    throw new Error(`${what}${because(cause)} ${how}`, { cause });
  }
}

const adviceOf = {
  begin: [
    "transaction rejected before it called its run",
    "Each transaction needs its own connection, or waits until others have ended.",
  ],
  write: [
    "write rejected",
    "If a record had another version, or if the database has ended the write in favour of another one (a deadlock), return false.",
  ],
  commit: [
    "transaction rejected after its run",
    "If the database reports a conflict only at the commit, write a BatchAdapter, whose write then returns false.",
  ],
} as const;

async function attempted(
  adapter: Adapter,
  changes: readonly RecordChange[],
  before: (tx: object) => unknown = () => undefined,
  onDone: () => unknown = () => undefined,
): Promise<boolean> {
  let conflict: unknown;
  try {
    await new Operations(adapter).transaction(async (tx, write) => {
      await before(tx);
      await write(changes).catch((error: unknown) => {
        conflict = error;
        throw error;
      });
      onDone();
    });
  } catch (error) {
    if (error instanceof Conflict) return false;
    throw error;
  }
  assert.ok(!conflict, "The transaction resolved although its run had rejected.");
  return true;
}

const rollBack =
  "This write is there, or one that had returned false: roll back before `transaction` rejects.";

const leftBehind =
  "It has this version: an earlier write may have left something, such as a counter or a cache, that a rollback did not undo.";

/** Writes changes whose expected versions are right. Throws if `write` nevertheless returns `false`. */
export async function expectWritten(adapter: Adapter, changes: readonly RecordChange[]): Promise<void> {
  let runs = 0;
  const isDone = await attempted(adapter, changes, () => (runs += 1));
  if (isDone) return;
  // A change of a record that exists tells more than a new record.
  const { key, version, value } = changes.find((change) => change.version > 0) ?? changes[0]!;
  const [left] = await new Operations(adapter).read([key]);
  const has = `${key} was written with version ${version}, and has ${left?.version ?? "none"} now`;
  const isMade = left?.version === version + 1;
  const reasons = [
    ...(isMade ? [rollBack] : left?.value === value ? [versionRule] : []),
    ...((left?.version ?? 0) === version ? [leftBehind] : []),
  ];
  const why = reasons.map((reason) => ` ${reason}`).join("");
  assert.fail(`write returned false, and every version was the expected one. Runs: ${runs}. ${has}.${why}`);
}

/** The rule that an adapter breaks whose versions are wrong. */
export const versionRule =
  "A new record has version 1. Each change adds 1, also a change to an equal value, and counts as a written row.";

/** Returns the records with these names, each as its key, version and value. */
export async function readNamed(adapter: Adapter, of: readonly string[], tx?: object): Promise<string[]> {
  const records = await new Operations(adapter).read(of.map(examKey), tx);
  const twice = records.find(({ key }, at) => records.findIndex((one) => one.key === key) < at);
  assert.ok(!twice, `read returned the record ${twice?.key} twice. Return each record once.`);
  return records.map(({ key, version, value }) => `${key} ${version} ${value}`).toSorted();
}

export const rangeOfNames = (from: string, to: string) => ({
  from: examKey(from),
  to: examKey(to),
  limit: 100,
  reverse: false,
});

/** Returns the names of the records in a range. */
export async function scan(
  adapter: Adapter,
  from: string,
  to: string,
  options = {},
  tx?: object,
): Promise<string[]> {
  const records = await new Operations(adapter).scan({ ...rangeOfNames(from, to), ...options }, tx);
  return records.map(({ key }) => key.slice("exam/".length));
}

import { TillkitError } from "../../../errors/index.js";
import { type KeyRange, type RecordChange, type StoredRecord } from "../../adapter.js";
import { entriesOf } from "./stored-records.js";

/** The maximum number of keys in one read. */
const maxKeys = 100;

/** The operations with which a draft reads. */
interface Reading {
  read(keys: readonly string[]): Promise<readonly StoredRecord[]>;
  scan(range: KeyRange): Promise<readonly StoredRecord[]>;
}

/** A value to store, with the index entries that lead to its record. */
interface Written {
  value: string | null;
  entries: ReadonlyMap<string, unknown>;
}

const noEntries: ReadonlyMap<string, unknown> = new Map();

/** The records that one transaction has read, and the records that it will write. */
export class Draft {
  readonly #reading: Reading;
  readonly #stored = new Map<string, { version: number; value: string | null }>();
  readonly #written = new Map<string, Written>();
  readonly #locked = new Set<string>();
  #poison: unknown;
  #isEnded = false;
  /** Whether records with new random ids are written without an earlier read. `false` after a conflict. */
  readonly trustsNewIds: boolean;

  constructor(reading: Reading, trustsNewIds: boolean) {
    this.#reading = reading;
    this.trustsNewIds = trustsNewIds;
  }

  /** Returns the committed entries of an index. */
  scan(range: KeyRange): Promise<readonly StoredRecord[]> {
    return this.#reading.scan(range);
  }

  /** Reads the records that were not read yet. */
  async load(keys: Iterable<string>): Promise<void> {
    const missing = [...new Set(keys)].filter((key) => !this.#stored.has(key));
    const chunks = [];
    for (let at = 0; at < missing.length; at += maxKeys) chunks.push(missing.slice(at, at + maxKeys));
    const found = await Promise.all(chunks.map((chunk) => this.#reading.read(chunk)));
    for (const key of missing) this.#stored.set(key, { version: 0, value: null });
    for (const { key, version, value } of found.flat()) this.#stored.set(key, { version, value });
  }

  /** Reads records whose versions the commit must check. */
  async lock(keys: ReadonlySet<string>): Promise<void> {
    await this.load(keys);
    for (const key of keys) this.#locked.add(key);
  }

  /** Returns the value of a record that was loaded or written. `undefined` if there is no such record. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller knows what it writes under this key
  get<T>(key: string): T | undefined {
    const { value } = this.#written.get(key) ?? this.#stored.get(key) ?? { value: null };
    return value === null ? undefined : (JSON.parse(value) as T);
  }

  /** Writes a record. A record that was not loaded must not exist yet. */
  put(key: string, value: unknown): void {
    this.#written.set(key, { value: JSON.stringify(value), entries: entriesOf(key, value) });
  }

  /** Deletes a record. If it was neither loaded nor written here, it must exist with version 1. */
  delete(key: string): void {
    if (this.#written.get(key)?.value && !this.#stored.has(key)) this.#written.delete(key);
    else this.#written.set(key, { value: null, entries: noEntries });
  }

  /**
   * Returns the changes of records and index entries, sorted by key, so that two transactions lock rows in
   * the same order. If anything changes, also writes each locked record again, with its old value, because
   * only a write checks the version.
   */
  changes(): RecordChange[] {
    const changes: RecordChange[] = [];
    for (const [key, { value, entries }] of this.#written) {
      const stored = this.#stored.get(key) ?? { version: value === null ? 1 : 0, value: undefined };
      if (stored.value === value) continue;
      changes.push({ key, version: stored.version, value });
      changes.push(
        ...entryChanges(stored.value ? entriesOf(key, JSON.parse(stored.value)) : noEntries, entries),
      );
    }
    if (changes.length === 0) return [];
    const changed = new Set(changes.map(({ key }) => key));
    for (const key of this.#locked) {
      const { version, value } = this.#stored.get(key)!;
      if (value !== null && !changed.has(key)) changes.push({ key, version, value });
    }
    return changes.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  }

  /** Runs a step. If it fails, nothing can be written afterwards. */
  async guard<T>(step: () => Promise<T>): Promise<T> {
    this.expectOpen();
    this.throwIfPoisoned();
    try {
      return await step();
    } catch (error) {
      this.#poison = error;
      throw error;
    }
  }

  /** Forgets the planned writes. */
  discard(): void {
    this.#written.clear();
  }

  expectOpen(): void {
    if (!this.#isEnded) return;
    const message = "This transaction has ended; await every call inside of it.";
    throw new TillkitError("transaction_closed", message);
  }

  throwIfPoisoned(): void {
    if (this.#poison !== undefined)
      throw new TillkitError("transaction_poisoned", "A change was refused.", { cause: this.#poison });
  }

  end(): void {
    this.#isEnded = true;
  }
}

/** Returns the changes that replace index entries. An entry is written only once, so its version is 1. */
function entryChanges(old: ReadonlyMap<string, unknown>, next: ReadonlyMap<string, unknown>): RecordChange[] {
  const changes: RecordChange[] = [];
  for (const key of old.keys()) if (!next.has(key)) changes.push({ key, version: 1, value: null });
  for (const [key, value] of next)
    if (!old.has(key)) changes.push({ key, version: 0, value: JSON.stringify(value) });
  return changes;
}

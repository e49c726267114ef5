import { setTimeout as delay } from "node:timers/promises";
import { TillkitError } from "../../../errors/index.js";
import { Semaphore } from "../../../shared/semaphore.js";
import { type KeyRange } from "../../adapter.js";
import { Draft } from "./draft.js";
import { after } from "./keys.js";
import { type Adapter, Conflict, Operations } from "../adapter/operations.js";

/** The minimum and the maximum number of index entries in one read. */
const [minPage, maxPage] = [50, 1000];

/** The maximum wait for another repeated transaction, because that transaction may hang or await this one. */
const maxRetryWaitMs = 1000;

/** Records with keys. Transactions run again after a conflict, and indexes are read page by page. */
export class KeyedRecords {
  readonly #adapter: Adapter;
  readonly #operations: Operations;
  readonly #busyTimeoutMs: number;
  readonly #drafts = new WeakMap<object, Draft>();
  readonly #settling = new Map<Draft, string>();
  /** Lets one repeated transaction run at a time. After `maxRetryWaitMs`, another one starts nevertheless. */
  readonly #retries = new Semaphore(1);
  #isClosed = false;

  constructor(adapter: Adapter, busyTimeoutMs: number) {
    this.#adapter = adapter;
    this.#operations = new Operations(adapter);
    this.#busyTimeoutMs = busyTimeoutMs;
  }

  /** The maximum number of changes in one write. */
  get maxChanges(): number {
    return this.#adapter.maxChanges ?? Infinity;
  }

  /** Whether `now` returns the database's clock. */
  get hasClock(): boolean {
    return this.#adapter.now !== undefined;
  }

  /** Runs application code in a transaction. After a conflict, runs it again. */
  transaction<T>(run: (tx: object) => Promise<T>): Promise<T> {
    return this.#repeat((trustsNewIds) => this.#transact(run, trustsNewIds));
  }

  /**
   * Marks a transaction that settles a run. Such a transaction is not repeated. Until it ends, `renew`
   * changes nothing.
   */
  willSettle(draft: Draft, run: string): void {
    this.#settling.set(draft, run);
  }

  isSettled(run: string): boolean {
    return [...this.#settling.values()].includes(run);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#adapter.close?.();
  }

  #transact<T>(run: (tx: object) => Promise<T>, trustsNewIds: boolean): Promise<T> {
    this.expectOpen();
    return this.#operations.transaction(async (tx, write) => {
      const draft = this.draft(tx, trustsNewIds);
      this.#drafts.set(tx, draft);
      try {
        const result = await run(tx);
        draft.throwIfPoisoned();
        await write(draft.changes());
        return result;
      } catch (error) {
        // The store must not run a handler a second time.
        if (!(error instanceof Conflict) || !this.#settling.has(draft)) throw error;
        throw new TillkitError("lease_lost", "Another process has claimed this dispatch since.");
      } finally {
        draft.end();
        this.#settling.delete(draft);
      }
    });
  }

  /** Runs a step of the kit in a transaction. After a conflict, runs it again. */
  change<T>(step: (draft: Draft) => Promise<T>): Promise<T> {
    return this.#repeat((trustsNewIds) => this.changeOnce(step, trustsNewIds));
  }

  /** Reads, and then writes in one short transaction. Rejects with {@link Conflict} after a conflict. */
  async changeOnce<T>(step: (draft: Draft) => Promise<T>, trustsNewIds = true): Promise<T> {
    this.expectOpen();
    const draft = this.draft(undefined, trustsNewIds);
    const result = await step(draft);
    const changes = draft.changes();
    if (changes.length > 0) await this.#operations.transaction((_, write) => write(changes));
    return result;
  }

  async #repeat<T>(run: (trustsNewIds: boolean) => Promise<T>): Promise<T> {
    let conflictedAt: number | undefined;
    for (let tries = 1; ; tries++) {
      try {
        return await (tries === 1 ? run(true) : this.#retries.run(() => run(false), maxRetryWaitMs));
      } catch (error) {
        if (!(error instanceof Conflict)) throw error;
        // The time counts from the first conflict, because the first try may take long on a busy machine.
        conflictedAt ??= performance.now();
        if (performance.now() - conflictedAt >= this.#busyTimeoutMs)
          throw busy(this.#busyTimeoutMs, tries, error.keys);
      }
      await delay(Math.random() * Math.min(2 ** tries, 50));
    }
  }

  draft(tx?: object, trustsNewIds = true): Draft {
    this.expectOpen();
    // Most drivers cannot run two statements of one transaction at the same time.
    const one = new Semaphore(tx === undefined ? Infinity : 1);
    const reading = {
      read: (keys: readonly string[]) => one.run(() => this.#operations.read(keys, tx)),
      scan: (range: KeyRange) => one.run(() => this.#operations.scan(range, tx)),
    };
    return new Draft(reading, trustsNewIds);
  }

  draftOf(tx: object): Draft {
    const draft = this.#drafts.get(tx);
    if (!draft) throw new TillkitError("transaction_closed", "This is not a transaction of this store.");
    return draft;
  }

  /** Returns the values of the entries of an index. */
  async scan<T>(range: KeyRange): Promise<T[]> {
    return this.collect<T>(range, async (values) => values);
  }

  /** Returns the number of entries of an index. Keeps no entry, because there may be many. */
  async count(range: KeyRange): Promise<number> {
    let count = 0;
    await this.collect(range, async ({ length }) => {
      count += length;
      return [];
    });
    return count;
  }

  /** Returns the records to which the entries of an index lead. */
  rows<T>(range: KeyRange, draft = this.draft()): Promise<T[]> {
    return this.collect<string, T>(range, (keys) => this.values<T>(keys, draft), draft);
  }

  /** Reads an index page by page, until `find` has returned `limit` values. */
  async collect<T, Found = T>(
    range: KeyRange,
    find: (values: T[], keys: readonly string[]) => Promise<Found[]>,
    draft = this.draft(),
  ): Promise<Found[]> {
    const found: Found[] = [];
    let { from, to } = range;
    const { limit, reverse } = range;
    while (found.length < limit && from < to) {
      const asked = Math.min(Math.max(limit, minPage), maxPage);
      const page = await draft.scan({ from, to, reverse, limit: asked });
      const keys = page.map(({ key }) => key);
      const values = page.map(({ value }) => JSON.parse(value) as T);
      found.push(...(await find(values, keys)));
      const last = keys.at(-1);
      if (last === undefined || page.length < asked) break;
      if (reverse) to = last;
      else from = after(last);
    }
    return found.slice(0, limit);
  }

  async values<T>(keys: readonly string[], draft = this.draft()): Promise<T[]> {
    await draft.load(keys);
    return keys.map((key) => draft.get<T>(key)).filter((value) => value !== undefined);
  }

  async migrate(): Promise<void> {
    await this.#adapter.migrate?.();
  }

  now(): Promise<number> {
    return this.#operations.now();
  }

  expectOpen(): void {
    if (this.#isClosed) throw new TillkitError("store_closed", "This store was closed.");
  }
}

function busy(ms: number, tries: number, keys: readonly string[]): TillkitError {
  const told = `\`write\` returned false ${tries} times`;
  // Only a batch adapter gets writes of the application without changes of records.
  if (keys.length === 0)
    return new TillkitError("store_busy", `${told} in ${ms} ms, for the application's writes alone.`, {
      fix: "If the database refuses a write of the application, `write` must reject with `store_conflict`.",
    });
  const more = keys.length > 5 ? ` and ${keys.length - 5} more` : "";
  const last = `${told}, the last time for ${keys.slice(0, 5).join(", ")}${more}`;
  const fix =
    "Find out what changes these records all the time. If nothing changes these records, `write` returns false for " +
    "another reason, such as a duplicate in another table.";
  const message = `Other transactions changed the same records for ${ms} ms: ${last}.`;
  return new TillkitError("store_busy", message, { fix });
}

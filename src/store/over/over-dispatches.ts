import {
  type Claim,
  type ClaimOptions,
  type DeadPage,
  type DispatchRecord,
  type HandlerKey,
  type Registration,
  type RetireOptions,
  type RunKey,
  type Settlement,
  type StoreCounts,
} from "../contract.js";
import {
  addDispatch,
  type DueEntry,
  type StoredDispatch,
  type StoredEvent,
  dispatchKey,
  dispatchOf,
  eventKey,
  isOpen,
  lease,
  leased,
  putDispatch,
  settleRun,
  waitFor,
  wants,
} from "./dispatches.js";
import { withTimeout } from "../../shared/with-timeout.js";
import { type KeyRange } from "../adapter.js";
import { type Draft } from "./draft.js";
import { keyOf, rangeOf, timeOf } from "./keys.js";
import { Conflict } from "./operations.js";
import { OverQueries } from "./over-queries.js";
import { handlersKey } from "./payments.js";

const dueLimit = 1000;

/** A lease changes the dispatch, and replaces two entries of indexes by two others. */
const changesOfLease = 5;

/** The options allow no longer sum of a lease and a wait. */
const maxUnmarkedMs = 50 * 24 * 60 * 60 * 1000;

/** How long a settlement waits for the renewal of its lease, where the database runs one transaction at a time. */
const maxRenewalWaitMs = 500;

/** Returns one string for a run. A transaction that hangs may settle an earlier run of the same dispatch. */
const runKey = (run: RunKey): string => `${dispatchKey(run)} ${run.fence}`;

/** Handlers and the runs of their dispatches. */
export class OverDispatches extends OverQueries {
  readonly #renewing = new Map<string, Promise<unknown>>();
  /** The names for which dispatches of earlier versions were looked for. */
  readonly #searched = new Set<string>();

  async registerHandlers(handlers: readonly Registration[]): Promise<void> {
    const unknown = await this.#unknown(this.records.draft(), handlers);
    if (unknown.length === 0) return;
    // Once before the registration, so that little is left for the moment after it, in which this process may end.
    for (const handler of unknown) await this.#dispatchSince(handler);
    await this.records.update(async (draft) => {
      const added = (await this.#unknown(draft, handlers)).map(({ event, name }) => ({ event, name }));
      if (added.length > 0)
        draft.put(handlersKey, [...(draft.get<HandlerKey[]>(handlersKey) ?? []), ...added]);
    });
    for (const handler of unknown) await this.#dispatchSince(handler);
  }

  async #unknown(draft: Draft, handlers: readonly Registration[]): Promise<Registration[]> {
    await draft.load([handlersKey]);
    const known = draft.get<HandlerKey[]>(handlersKey) ?? [];
    return handlers.filter(
      ({ event, name }) => !known.some((one) => one.event === event && one.name === name),
    );
  }

  /** Makes the dispatches of a handler that the store had forgotten, of the events since its first registration. */
  async #dispatchSince({ since, ...handler }: Registration): Promise<void> {
    if (since === undefined) return;
    const range = rangeOf(["event-times"], Infinity, { from: keyOf("event-times", since) });
    for (const key of await this.records.scan<string>(range))
      await this.records.update(async (draft) => {
        await draft.load([key]);
        const event = draft.get<StoredEvent>(key);
        if (event && wants(handler, event.type)) addDispatch(draft, event, handler.name);
      });
  }

  async claim({ handlers, limit, leaseMs }: ClaimOptions): Promise<Claim[]> {
    if (limit < 1) return [];
    const now = await this.records.now();
    const isWanted = ({ handler, type }: DueEntry): boolean =>
      handlers.some((key) => key.name === handler && wants(key, type));
    const ranges = [...new Set(handlers.map(({ name }) => name))].flatMap((name) => [
      // New ones are due at 0. They must not keep those back that waited.
      rangeOf(["due", name], limit, { to: keyOf("due", name, timeOf(1)) }),
      rangeOf(["due", name], limit, {
        from: keyOf("due", name, timeOf(1)),
        to: keyOf("due", name, timeOf(now + 1)),
      }),
      // A clock wrote these that was put back since.
      rangeOf(["waits-from", name], limit, { from: keyOf("waits-from", name, timeOf(now + 1)) }),
      ...this.#unmarkedRanges(name, limit, now),
    ]);
    const find = async (values: DueEntry[]): Promise<DueEntry[]> => values.filter(isWanted);
    const found = await Promise.all(ranges.map((range) => this.records.collect(range, find)));
    const entries = found.flat().toSorted((a, b) => (a.order < b.order ? -1 : 1));
    const claims: Claim[] = [];
    const size = Math.max(1, Math.floor(this.records.maxChanges / changesOfLease));
    for (let at = 0; at < Math.min(entries.length, limit); at += size) {
      const some = entries.slice(at, Math.min(at + size, limit));
      claims.push(...(await this.#lease(some, waitFor(now, leaseMs))));
    }
    return claims;
  }

  async settle(tx: object, settlement: Settlement): Promise<boolean> {
    const draft = this.records.draftOf(tx);
    const key = dispatchKey(settlement);
    return draft.guard(async () => {
      // A renewal would be a conflict with this transaction. It may also wait for this transaction itself.
      this.records.willSettle(draft, runKey(settlement));
      await withTimeout(this.#renewing.get(key) ?? Promise.resolve(), maxRenewalWaitMs);
      const [now] = await Promise.all([this.records.now(), draft.load([key])]);
      return settleRun(draft, settlement, now);
    });
  }

  async renew(run: RunKey, leaseMs: number): Promise<boolean> {
    const key = dispatchKey(run);
    if (this.records.isSettled(runKey(run))) return true;
    const renewing = this.records.update(async (draft) => {
      const [now] = await Promise.all([this.records.now(), draft.load([key])]);
      const dispatch = leased(draft, run);
      if (dispatch) putDispatch(draft, { ...dispatch, ...waitFor(now, leaseMs) });
      return dispatch !== undefined;
    });
    const settled = renewing.catch(() => undefined);
    this.#renewing.set(key, settled);
    try {
      return await renewing;
    } finally {
      if (this.#renewing.get(key) === settled) this.#renewing.delete(key);
    }
  }

  async dead({ eventId, handler, type, revive, limit }: DeadPage): Promise<DispatchRecord[]> {
    const parts = handler === undefined ? ["dead"] : ["dead", handler];
    const isWanted = (entry: DueEntry): boolean =>
      (eventId === undefined || entry.eventId === eventId) && (type === undefined || entry.type === type);
    const all = await this.records.collect<DueEntry>(rangeOf(parts, Infinity), async (values) =>
      values.filter(isWanted),
    );
    const entries = all.toSorted((a, b) => (a.order < b.order ? -1 : 1)).slice(0, limit);
    const found: DispatchRecord[] = [];
    for (const entry of entries) {
      const dispatch = await this.records.update(async (draft) => {
        await draft.load([dispatchKey(entry)]);
        const dead = draft.get<StoredDispatch>(dispatchKey(entry));
        if (dead?.state !== "dead") return undefined;
        const { error: _, settledAt: __, waitsFrom: ___, ...rest } = dead;
        const pending = { state: "pending", dueAt: 0, attempt: 0, failures: 0 } as const;
        if (revive) putDispatch(draft, { ...rest, ...pending });
        return dead;
      });
      if (dispatch) found.push(dispatchOf(dispatch));
    }
    return found;
  }

  async counts(): Promise<StoreCounts> {
    const handlers = await this.records.values<HandlerKey[]>([handlersKey]);
    const names = [...new Set((handlers[0] ?? []).map(({ name }) => name))];
    const count = async (index: string) => (await this.records.scan(rangeOf([index], Infinity))).length;
    const [dead, parked, now, ...open] = await Promise.all([
      count("dead"),
      count("waiting"),
      this.records.now(),
      ...names.map((name) => this.records.scan<DueEntry>(rangeOf(["due", name], dueLimit))),
    ]);
    const oldestOf = (entries: readonly DueEntry[]) =>
      entries.reduce<string | undefined>(
        (oldest, { recordedAt }) => (oldest! < recordedAt ? oldest : recordedAt),
        undefined,
      );
    const oldestUndoneAt = oldestOf(open.flat());
    const waiting = names.flatMap((handler, index) => {
      const claimable = open[index]!.filter(({ dueAt }) => dueAt <= now);
      // A new dispatch is due since its event.
      const since = claimable.map(({ dueAt, recordedAt }) =>
        dueAt === 0 ? recordedAt : new Date(dueAt).toISOString(),
      );
      return claimable.length > 0 ? [{ handler, since: since.toSorted()[0]! }] : [];
    });
    const clock = this.records.hasClock && { clock: new Date(now).toISOString() };
    return { dead, parked, ...(oldestUndoneAt !== undefined && { oldestUndoneAt }), waiting, ...clock };
  }

  async retire({ handler, event, limit }: RetireOptions): Promise<number> {
    const left = await this.records.update(async (draft) => {
      await draft.load([handlersKey]);
      const known = draft.get<HandlerKey[]>(handlersKey) ?? [];
      const kept = known.filter(
        (key) => key.name !== handler || (event !== undefined && key.event !== event),
      );
      draft.put(handlersKey, kept);
      return kept.filter(({ name }) => name === handler);
    });
    const unwanted = async (entries: DueEntry[]): Promise<DueEntry[]> =>
      entries.filter(({ type }) => !left.some((key) => wants(key, type)));
    const scans = ["due", "dead"].map((index) =>
      this.records.collect<DueEntry>(rangeOf([index, handler], limit), unwanted),
    );
    let retired = 0;
    for (const entry of (await Promise.all(scans)).flat().slice(0, limit))
      retired += await this.records.update(async (draft) => {
        const [now] = await Promise.all([this.records.now(), draft.load([dispatchKey(entry)])]);
        const dispatch = draft.get<StoredDispatch>(dispatchKey(entry));
        if (!dispatch || (!isOpen(dispatch) && dispatch.state !== "dead")) return 0;
        putDispatch(draft, { ...dispatch, state: "retired", settledAt: new Date(now).toISOString() });
        return 1;
      });
    return retired;
  }

  /**
   * Returns where to look, once for each name, for dispatches of earlier versions that wait longer than any option allows. They
   * have no `waitsFrom`.
   */
  #unmarkedRanges(name: string, limit: number, now: number): KeyRange[] {
    if (this.#searched.has(name)) return [];
    this.#searched.add(name);
    return [rangeOf(["due", name], limit, { from: keyOf("due", name, timeOf(now + maxUnmarkedMs)) })];
  }

  async #lease(entries: readonly DueEntry[], waits: ReturnType<typeof waitFor>): Promise<Claim[]> {
    const leaseAll = (some: readonly DueEntry[]) =>
      this.records.attempt(async (draft) => {
        await draft.load(some.flatMap((entry) => [dispatchKey(entry), eventKey(entry.eventId)]));
        return some.flatMap((entry) => lease(draft, entry, waits) ?? []);
      });
    try {
      return await leaseAll(entries);
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
    }
    // Another process took some of them.
    const each = await Promise.allSettled(entries.map((entry) => leaseAll([entry])));
    return each.flatMap((result) => {
      if (result.status === "fulfilled") return result.value;
      if (result.reason instanceof Conflict) return [];
      throw result.reason;
    });
  }
}

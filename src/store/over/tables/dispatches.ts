import {
  type Claim,
  type ClaimOptions,
  type CountsOptions,
  type DeadPage,
  type DispatchRecord,
  type HandlerKey,
  type HandlerSummary,
  type RetireOptions,
  type RevivedPage,
  type RunKey,
  type Settlement,
  type StoreCounts,
} from "../../contract.js";
import { maxCounted } from "../../../model/attention.js";
import { withTimeout } from "../../../shared/with-timeout.js";
import { type KeyRange } from "../../adapter.js";
import {
  afterRun,
  isLeasedBy,
  isOnDeadPage,
  isOpen,
  revivedBy,
  summarizedBy,
  wants,
} from "../../rules/dispatches.js";
import { type Draft } from "../records/draft.js";
import { eventOf } from "./events.js";
import { changeUpTo } from "../records/change-up-to.js";
import { after, keyOf, rangeOf, timeOf } from "../records/keys.js";
import { type KeyedRecords } from "../records/keyed-records.js";
import { Conflict } from "../adapter/operations.js";
import {
  type DispatchEntry,
  dispatchKey,
  dispatchOf,
  eventKey,
  placeInOrder,
  type StoredDispatch,
  type StoredEvent,
} from "../records/stored-records.js";

/** The maximum number of changes of a lease: the dispatch, two deleted index entries and two new ones. */
const changesOfLease = 5;

/** A dispatch of an older kit version has no `waitsFrom`. If it waits longer than this, it counts as due. */
const maxUnmarkedMs = 50 * 24 * 60 * 60 * 1000;

/** The maximum wait of a settlement for a renewal, because the renewal may itself wait for the settlement. */
const maxRenewalWaitMs = 500;

/** Returns the key of a run, with its fence, because a hanging transaction may settle an older run. */
const runKey = (run: RunKey): string => `${dispatchKey(run)} ${run.fence}`;

/** Returns the fields of a dispatch that waits from now on. */
function waitFor(now: number, ms: number): Required<Pick<StoredDispatch, "dueAt" | "waitsFrom">> {
  return { dueAt: Math.ceil(now + ms), waitsFrom: Math.floor(now - ms) };
}

/** Claims, leases and settles the dispatches of events. */
export class Dispatches {
  readonly #records: KeyedRecords;
  readonly #renewing = new Map<string, Promise<unknown>>();
  /** The handler names for which no dispatches of earlier versions are left. */
  readonly #searched = new Set<string>();

  constructor(records: KeyedRecords) {
    this.#records = records;
  }

  async claim({ handlers, limit, leaseMs }: ClaimOptions): Promise<Claim[]> {
    const now = await this.#records.now();
    // Dispatches that wait for a long time must not fill the page of those that can be claimed.
    const isWanted = ({ handler, type, dueAt, waitsFrom = Infinity }: DispatchEntry): boolean =>
      (dueAt <= now || waitsFrom > now) && handlers.some((key) => key.name === handler && wants(key, type));
    const names = [...new Set(handlers.map(({ name }) => name))];
    const ranges = names.flatMap((name) => this.#claimableRanges(name, limit, now));
    const found = await this.#inOrder(ranges, isWanted, limit);
    // A wait that began after `now` looks as if the clock had been put back. So the clock is read again.
    const later = found.some(({ dueAt }) => dueAt > now) ? await this.#records.now() : now;
    const entries = found.filter(({ dueAt, waitsFrom = Infinity }) => dueAt <= later || waitsFrom > later);
    const claims: Claim[] = [];
    const size = Math.max(1, Math.floor(this.#records.maxChanges / changesOfLease));
    try {
      for (let at = 0; at < entries.length; at += size)
        claims.push(...(await this.#lease(entries.slice(at, at + size), waitFor(now, leaseMs))));
    } catch (error) {
      // Dispatches that are leased already would otherwise wait for the end of their leases.
      if (claims.length > 0) return claims;
      throw error;
    }
    // If the limit was reached, a dispatch of an earlier version may be left.
    if (found.length < limit) for (const name of names) this.#searched.add(name);
    return claims;
  }

  /** Ends a run. Returns `false` if its lease was lost. */
  async settle(draft: Draft, settlement: Settlement): Promise<boolean> {
    const key = dispatchKey(settlement);
    // A renewal would conflict with this transaction. So wait for a running renewal, and prevent later ones.
    this.#records.willSettle(draft, runKey(settlement));
    await withTimeout(this.#renewing.get(key) ?? Promise.resolve(), maxRenewalWaitMs);
    const [now, dispatch] = await Promise.all([this.#records.now(), leasedBy(draft, settlement)]);
    if (!dispatch) return false;
    const { retryInMs = 0 } = settlement;
    const settled = afterRun(dispatch, settlement, new Date(now).toISOString());
    // Without a wait, the dispatch is due immediately, independent of any clock.
    if (isOpen(settled)) {
      delete settled.waitsFrom;
      Object.assign(settled, retryInMs > 0 ? waitFor(now, retryInMs) : { dueAt: 0 });
    }
    draft.put(key, settled);
    return true;
  }

  async renew(run: RunKey, leaseMs: number): Promise<boolean> {
    const key = dispatchKey(run);
    if (this.#records.isSettled(runKey(run))) return true;
    const renewing = this.#records.change(async (draft) => {
      const [now, dispatch] = await Promise.all([this.#records.now(), leasedBy(draft, run)]);
      if (dispatch) draft.put(key, { ...dispatch, ...waitFor(now, leaseMs) });
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

  async dead(page: DeadPage): Promise<DispatchRecord[]> {
    const { handler, revive, limit, run, after: last } = page;
    const range = rangeOf(handler === undefined ? ["dead"] : ["dead", handler], Infinity);
    const [before] = last ? await this.#records.values<StoredDispatch>([dispatchKey(last)]) : [];
    const entries = (await this.#records.scan<DispatchEntry>(range))
      .filter((entry) => !before || placeInOrder(entry) > placeInOrder(before))
      .toSorted((a, b) => (placeInOrder(a) < placeInOrder(b) ? -1 : 1));
    const found: DispatchRecord[] = [];
    // Many may be dead, so only the dispatches of the page are read.
    const size = 100;
    for (let at = 0; at < entries.length && found.length < limit; at += size) {
      const keys = entries.slice(at, at + size).map(dispatchKey);
      for (const row of await this.#records.values<StoredDispatch>(keys)) {
        if (found.length >= limit || !isOnDeadPage(page, row)) continue;
        const dispatch = await this.#records.change(async (draft) => {
          await draft.load([dispatchKey(row)]);
          const dead = draft.get<StoredDispatch>(dispatchKey(row));
          if (dead?.state !== "dead" || !isOnDeadPage(page, dead)) return undefined;
          const { waitsFrom: _from, ...rest } = dead;
          if (revive) draft.put(dispatchKey(row), { ...rest, ...revivedBy(run, dead) });
          return dead;
        });
        if (dispatch) found.push(dispatchOf(dispatch));
      }
    }
    return found;
  }

  async revived({ run, after: last, limit }: RevivedPage): Promise<DispatchRecord[]> {
    const from = last && { from: after(keyOf("runs", run, last.eventId, last.handler)) };
    const find = (entries: DispatchEntry[]) => this.#records.values<StoredDispatch>(entries.map(dispatchKey));
    return (await this.#records.collect(rangeOf(["runs", run], limit, from), find)).map(dispatchOf);
  }

  async counts(handlers: readonly HandlerKey[], { except = [] }: CountsOptions = {}): Promise<StoreCounts> {
    const names = [...new Set(handlers.map(({ name }) => name))];
    const count = async (index: string) => (await this.#records.scan(rangeOf([index], maxCounted))).length;
    const [dead, parked, now, ...open] = await Promise.all([
      count("dead"),
      count("waiting"),
      this.#records.now(),
      ...names.map((name) => this.#oldestOpen(name)),
    ]);
    const counted = open.filter((_, index) => !except.includes(names[index]!)).flat();
    const oldestUndoneAt = oldestOf(counted, ({ recordedAt }) => recordedAt)?.recordedAt;
    const waiting = names.flatMap((handler, index) => {
      const claimable = open[index]!.filter(({ dueAt }) => dueAt <= now);
      // A dispatch with `dueAt` 0 counts as due since its event was recorded.
      const due = claimable.map(({ type: event, dueAt, recordedAt }) => {
        return { handler, event, since: dueAt === 0 ? recordedAt : new Date(dueAt).toISOString() };
      });
      return oldestOf(due, ({ since }) => since) ?? [];
    });
    const clock = this.#records.hasClock && { clock: new Date(now).toISOString() };
    return { dead, parked, ...(oldestUndoneAt !== undefined && { oldestUndoneAt }), waiting, ...clock };
  }

  /** Returns the oldest open dispatch with `dueAt` 0, and all open dispatches with a later `dueAt`. */
  async #oldestOpen(name: string): Promise<DispatchEntry[]> {
    const waited = keyOf("due", name, timeOf(1));
    const scans = [
      rangeOf(["due", name], 1, { to: waited }),
      rangeOf(["due", name], Infinity, { from: waited }),
    ];
    return (await Promise.all(scans.map((range) => this.#records.scan<DispatchEntry>(range)))).flat();
  }

  async summarize(handlers: readonly HandlerKey[]): Promise<HandlerSummary[]> {
    const names = [...new Set(handlers.map(({ name }) => name))];
    const indexes = { waiting: "due", dead: "dead" };
    const count = async (kind: keyof typeof indexes, name: string) =>
      [`${kind} ${name}`, await this.#records.count(rangeOf([indexes[kind], name], Infinity))] as const;
    const kinds = ["waiting", "dead"] as const;
    const counting = names.flatMap((name) => kinds.map((kind) => count(kind, name)));
    const counts = new Map(await Promise.all(counting));
    return summarizedBy(handlers, (kind, name) => counts.get(`${kind} ${name}`) ?? 0);
  }

  /** Retires dispatches of a name whose event no registration in `left` wants. Returns their number. */
  async retire({ handler, limit }: RetireOptions, left: readonly HandlerKey[]): Promise<number> {
    const ranges = ["due", "dead"].map((index) => rangeOf([index, handler], limit));
    const isUnwanted = ({ type }: DispatchEntry): boolean => !left.some((key) => wants(key, type));
    const find = (wanted: number) => this.#inOrder(ranges, isUnwanted, wanted);
    return changeUpTo(limit, find, (entry) =>
      this.#records.change(async (draft) => {
        const [now] = await Promise.all([this.#records.now(), draft.load([dispatchKey(entry)])]);
        const dispatch = draft.get<StoredDispatch>(dispatchKey(entry));
        if (!dispatch || (!isOpen(dispatch) && dispatch.state !== "dead")) return 0;
        const settledAt = new Date(now).toISOString();
        draft.put(dispatchKey(entry), { ...dispatch, state: "retired", settledAt });
        return 1;
      }),
    );
  }

  /** Returns index entries of dispatches, in the order of their events. */
  async #inOrder(
    ranges: readonly KeyRange[],
    isWanted: (entry: DispatchEntry) => boolean,
    limit: number,
  ): Promise<DispatchEntry[]> {
    const find = async (entries: DispatchEntry[]): Promise<DispatchEntry[]> => entries.filter(isWanted);
    const found = await Promise.all(ranges.map((range) => this.#records.collect(range, find)));
    return found
      .flat()
      .toSorted((a, b) => (a.order < b.order ? -1 : 1))
      .slice(0, limit);
  }

  #claimableRanges(name: string, limit: number, now: number): KeyRange[] {
    const due = (from: string, to: string): KeyRange =>
      rangeOf(["due", name], limit, { from: keyOf("due", name, from), to: keyOf("due", name, to) });
    const ranges = [
      // New dispatches have `dueAt` 0, and their own range. So they cannot fill the page of other dispatches.
      rangeOf(["due", name], limit, { to: keyOf("due", name, timeOf(1)) }),
      due(timeOf(1), timeOf(now + 1)),
      // Dispatches whose wait began before the clock was put back.
      rangeOf(["waits-from", name], limit, { from: keyOf("waits-from", name, timeOf(now + 1)) }),
    ];
    // The first claims of a name also look for dispatches of earlier versions: see `maxUnmarkedMs`.
    if (!this.#searched.has(name))
      ranges.push(rangeOf(["due", name], limit, { from: keyOf("due", name, timeOf(now + maxUnmarkedMs)) }));
    return ranges;
  }

  async #lease(entries: readonly DispatchEntry[], waits: ReturnType<typeof waitFor>): Promise<Claim[]> {
    const leaseAll = (some: readonly DispatchEntry[]) =>
      this.#records.changeOnce(async (draft) => {
        await draft.load(some.flatMap((entry) => [dispatchKey(entry), eventKey(entry.eventId)]));
        return some.flatMap((entry) => lease(draft, entry, waits) ?? []);
      });
    try {
      return await leaseAll(entries);
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
    }
    // Another process has changed one of these dispatches or events, so each dispatch is leased separately.
    const each = await Promise.allSettled(entries.map((entry) => leaseAll([entry])));
    const claims = each.flatMap((result) => (result.status === "fulfilled" ? result.value : []));
    for (const result of each)
      if (result.status === "rejected" && !(result.reason instanceof Conflict) && claims.length === 0)
        throw result.reason;
    return claims;
  }
}

/** Leases a dispatch. Returns `undefined` if the dispatch has changed since it was found. */
function lease(draft: Draft, entry: DispatchEntry, waits: ReturnType<typeof waitFor>): Claim | undefined {
  const dispatch = draft.get<StoredDispatch>(dispatchKey(entry));
  const event = draft.get<StoredEvent>(eventKey(entry.eventId));
  if (!dispatch || !event || !isOpen(dispatch) || dispatch.dueAt !== entry.dueAt) return undefined;
  const { handler, failures } = dispatch;
  const [fence, attempt] = [dispatch.fence + 1, dispatch.attempt + 1];
  draft.put(dispatchKey(entry), { ...dispatch, ...waits, state: "leased", fence, attempt });
  return { event: eventOf(event), handler, fence, attempt, failures };
}

/** Returns the dispatch of a run, or `undefined` if the lease was lost. */
async function leasedBy(draft: Draft, run: RunKey): Promise<StoredDispatch | undefined> {
  await draft.load([dispatchKey(run)]);
  const dispatch = draft.get<StoredDispatch>(dispatchKey(run));
  return dispatch && isLeasedBy(run, dispatch) ? dispatch : undefined;
}

function oldestOf<T extends object>(items: readonly T[], timeOf: (item: T) => string): T | undefined {
  return items.reduce<T | undefined>((a, b) => (a && timeOf(a) <= timeOf(b) ? a : b), undefined);
}

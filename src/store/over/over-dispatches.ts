import {
  type Claim,
  type ClaimOptions,
  type DeadPage,
  type DispatchRecord,
  type HandlerKey,
  type RunKey,
  type Settlement,
  type StoreCounts,
} from "../payment-store.js";
import {
  type DueEntry,
  type StoredDispatch,
  dispatchKey,
  dispatchOf,
  eventKey,
  isOpen,
  lease,
  leased,
  putDispatch,
  settleRun,
  wants,
} from "./dispatches.js";
import { withTimeout } from "../../shared/with-timeout.js";
import { keyOf, rangeOf, timeOf } from "./keys.js";
import { Conflict } from "./operations.js";
import { OverQueries } from "./over-queries.js";
import { handlersKey } from "./payments.js";

const dueLimit = 1000;

/** How long a settlement waits for the renewal of its lease, where the database runs one transaction at a time. */
const maxRenewalWaitMs = 500;

/** Handlers and the runs of their dispatches. */
export class OverDispatches extends OverQueries {
  readonly #renewing = new Map<string, Promise<unknown>>();

  async registerHandlers(handlers: readonly HandlerKey[]): Promise<void> {
    await this.records.update(async (draft) => {
      await draft.load([handlersKey]);
      const known = draft.get<HandlerKey[]>(handlersKey) ?? [];
      const isNew = ({ event, name }: HandlerKey): boolean =>
        !known.some((one) => one.event === event && one.name === name);
      const added = handlers.filter(isNew).map(({ event, name }) => ({ event, name }));
      if (added.length > 0) draft.put(handlersKey, [...known, ...added]);
    });
  }

  async claim({ handlers, limit, leaseMs, maxWaitMs }: ClaimOptions): Promise<Claim[]> {
    if (limit < 1) return [];
    const now = await this.records.now();
    const isWanted = ({ handler, type }: DueEntry): boolean =>
      handlers.some((key) => key.name === handler && wants(key, type));
    const ranges = [...new Set(handlers.map(({ name }) => name))].flatMap((name) => [
      rangeOf(["due", name], limit, { to: keyOf("due", name, timeOf(now + 1)) }),
      // What is due later than anything can wait was written by a clock that has jumped since.
      ...(maxWaitMs === undefined
        ? []
        : [rangeOf(["due", name], limit, { from: keyOf("due", name, timeOf(now + maxWaitMs + 1)) })]),
    ]);
    const find = async (values: DueEntry[]): Promise<DueEntry[]> => values.filter(isWanted);
    const found = await Promise.all(ranges.map((range) => this.records.collect(range, find)));
    const entries = found.flat().toSorted((a, b) => (a.order < b.order ? -1 : 1));
    const claims: Claim[] = [];
    const size = Math.max(1, Math.floor(this.records.maxChanges / 3));
    for (let at = 0; at < Math.min(entries.length, limit); at += size) {
      const some = entries.slice(at, Math.min(at + size, limit));
      claims.push(...(await this.#lease(some, now + leaseMs)));
    }
    return claims;
  }

  async settle(tx: object, settlement: Settlement): Promise<boolean> {
    const draft = this.records.draftOf(tx);
    const key = dispatchKey(settlement);
    return draft.guard(async () => {
      // A renewal would be a conflict with this transaction. It may also wait for this transaction itself.
      this.records.willSettle(draft, key);
      await withTimeout(this.#renewing.get(key) ?? Promise.resolve(), maxRenewalWaitMs);
      const [now] = await Promise.all([this.records.now(), draft.load([key])]);
      return settleRun(draft, settlement, now);
    });
  }

  async renew(run: RunKey, leaseMs: number): Promise<boolean> {
    const key = dispatchKey(run);
    if (this.records.isSettled(key)) return true;
    const renewing = this.records.update(async (draft) => {
      const [now] = await Promise.all([this.records.now(), draft.load([key])]);
      const dispatch = leased(draft, run);
      if (dispatch) putDispatch(draft, { ...dispatch, dueAt: Math.ceil(now + leaseMs) });
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
        const { error: _, settledAt: __, ...rest } = dead;
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
      const dueAt = Math.min(...claimable.map((entry) => entry.dueAt));
      return claimable.length > 0 ? [{ handler, since: new Date(dueAt).toISOString() }] : [];
    });
    const clock = this.records.hasClock && { clock: new Date(now).toISOString() };
    return { dead, parked, ...(oldestUndoneAt !== undefined && { oldestUndoneAt }), waiting, ...clock };
  }

  async retire({ handler, limit }: { handler: string; limit: number }): Promise<number> {
    await this.records.update(async (draft) => {
      await draft.load([handlersKey]);
      const known = draft.get<HandlerKey[]>(handlersKey) ?? [];
      draft.put(
        handlersKey,
        known.filter(({ name }) => name !== handler),
      );
    });
    const scans = ["due", "dead"].map((index) =>
      this.records.scan<DueEntry>(rangeOf([index, handler], limit)),
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

  async #lease(entries: readonly DueEntry[], until: number): Promise<Claim[]> {
    const leaseAll = (some: readonly DueEntry[]) =>
      this.records.attempt(async (draft) => {
        await draft.load(some.flatMap((entry) => [dispatchKey(entry), eventKey(entry.eventId)]));
        return some.flatMap((entry) => lease(draft, entry, Math.ceil(until)) ?? []);
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

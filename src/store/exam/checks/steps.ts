import assert from "node:assert/strict";
import { setImmediate as nextIteration, setTimeout as delay } from "node:timers/promises";
import { hasCode } from "../../../errors/index.js";
import { type Payment } from "../../../model/payment.js";
import {
  type Changes,
  type Claim,
  type HandlerKey,
  type PaymentStore,
  type RunKey,
  type Saved,
  type Settlement,
} from "../../contract.js";
import { event, ledger } from "./fixtures.js";

/** Writes of the application in the store's transaction, such as rows of a table in the exam's database. */
export interface StoreProbe<Tx = unknown> {
  /** Makes a write with this unique key. For a `BatchAdapter`, calls `tx.add(…)`. */
  write(tx: Tx, key: string): unknown;
  /** Returns whether the write is committed. */
  has(key: string): Promise<boolean>;
  /** Makes a write that the database refuses, such as a duplicate row. If absent, this is not examined. */
  refused?(tx: Tx): unknown;
  /** Ends the connection of this transaction, as a stopping server does. If absent, this is not examined. */
  cut?(tx: Tx): unknown;
}

/**
 * Checks by name. The name is the sentence that the check proves. A check gets a new store, or the adapter of
 * one, and a second store over the same data. If there is no second store, it gets the first one twice.
 */
export type Checks<Subject = PaymentStore> = Readonly<
  Record<string, (subject: Subject, another: Subject, probe: StoreProbe) => Promise<void>>
>;

/** Saves in a separate transaction. */
export function saved(store: PaymentStore, changes: Changes): Promise<Saved> {
  return store.transaction((tx) => store.save(tx, changes));
}

/** Saves rows of one kind in several transactions, for stores with a maximum of changes. */
export async function savedInPieces<Kind extends "created" | "webhooks" | "events">(
  store: PaymentStore,
  kind: Kind,
  rows: NonNullable<Changes[Kind]>,
): Promise<void> {
  for (let at = 0; at < rows.length; at += 8) await saved(store, { [kind]: rows.slice(at, at + 8) });
}

/** Saves in a transaction that is then rolled back. */
export async function rolledBack(store: PaymentStore, changes: Changes): Promise<void> {
  const run = store.transaction(async (tx) => {
    await store.save(tx, changes);
    throw new Error("no");
  });
  await expectRolledBack(run);
}

/** Expects that a transaction rejects with the error "no" of its run. */
export async function expectRolledBack(run: Promise<unknown>): Promise<void> {
  const resolved = (): never => assert.fail("The transaction resolved although its run had rejected.");
  const thrown: unknown = await run.then(resolved, (error: unknown) => error);
  if ((thrown as Error).message !== "no") throw thrown;
}

/** Expects that each of `count` transactions has raised a number by one. */
export function expectAllMade(got: string | undefined, count: number): void {
  const why =
    Number(got) > count
      ? "a write whose answer was lost, or that the driver repeated, was made although write returned false"
      : "a write was made on a record that another one had changed";
  assert.ok(got === String(count), `${count} changes made ${got}: ${why}.`);
}

/** Calls `run` this many times at the same time, with the two stores in turn. */
export function concurrently<T>(
  count: number,
  stores: readonly [PaymentStore, PaymentStore],
  run: (store: PaymentStore, index: number) => Promise<T>,
): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => run(stores[index % 2]!, index)));
}

/** Returns the stored ones among these eventKeys, sorted. */
export async function recorded(store: PaymentStore, eventKeys: string[]): Promise<string[]> {
  const locked = await store.transaction((tx) => store.lock(tx, { eventKeys }));
  return locked.eventKeys.toSorted();
}

/** Registers the handlers, then saves events e0, e1, … */
export async function withEvents(store: PaymentStore, handlers: HandlerKey[], count: number): Promise<void> {
  await store.registerHandlers(handlers);
  const events = Array.from({ length: count }, (_, index) => event(`e${index}`));
  await savedInPieces(store, "events", events);
}

/** The time of a lease that outlasts its check, also over a slow database. */
export const lastingMs = 3_600_000;

/** Claims the due dispatches of these handlers. By default, the lease outlasts the check. */
export function claimed(
  store: PaymentStore,
  handlers: readonly HandlerKey[],
  { limit = 10, leaseMs = lastingMs }: { limit?: number; leaseMs?: number } = {},
): Promise<Claim[]> {
  return store.claim({ handlers, limit, leaseMs });
}

/** Returns the first claim of these handlers, as soon as there is one. */
export function firstClaim(store: PaymentStore, handlers: readonly HandlerKey[]): Promise<Claim> {
  return until(async () => (await claimed(store, handlers))[0]);
}

/** Saves one event, and returns its claim with a lease of this length. */
export async function leased(store: PaymentStore, leaseMs = lastingMs): Promise<Claim> {
  await withEvents(store, [ledger], 1);
  const [claim] = await claimed(store, [ledger], { leaseMs });
  return claim!;
}

/** Returns the ids of the claimed events, in the order of the claims. */
export function eventIds(claims: readonly Claim[]): string[] {
  return claims.map((claim) => claim.event.id);
}

/** Returns the clientIds of these payments, in their order. */
export function clientIds(payments: readonly Payment[]): string[] {
  return payments.map(({ clientId }) => clientId);
}

/** Returns `event handler` for each claim, sorted. */
export function pairs(claims: readonly Claim[]): string[] {
  return claims.map((claim) => `${claim.event.id} ${claim.handler}`).toSorted();
}

/** Returns the key of a claim for `settle` and `renew`. */
export function runOf({ event: { id }, handler, fence }: Claim): RunKey {
  return { eventId: id, handler, fence };
}

/** Settles in a separate transaction. Returns `false` even if the lease is lost only at the commit. */
export async function settled(
  store: PaymentStore,
  claim: Claim,
  ending: Omit<Settlement, keyof RunKey>,
): Promise<boolean> {
  try {
    return await store.transaction((tx) => store.settle(tx, { ...runOf(claim), ...ending }));
  } catch (error) {
    if (hasCode(error, "lease_lost")) return false;
    throw error;
  }
}

/** Calls `ask` until it returns a value. Throws if a call that begins after three seconds returns none. */
export async function until<T>(ask: () => Promise<T | undefined>): Promise<T> {
  const deadline = performance.now() + 3000;
  for (;;) {
    const isLast = performance.now() > deadline;
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (isLast) throw new Error("Not so within 3 seconds.");
    await delay(10);
  }
}

/** The maximum time for the reads beside a write. Reads without an end would hide that the write hangs. */
const maxReadMs = 10_000;

/** Reads again and again until the signal, or for at most `maxReadMs`. */
async function repeat(signal: AbortSignal, read: () => Promise<void>): Promise<void> {
  const end = performance.now() + maxReadMs;
  while (!signal.aborted && performance.now() < end) {
    // The pause begins before the read, so that the next read runs before a write that pauses meanwhile.
    const pause = nextIteration();
    await read();
    await pause;
  }
}

/** Runs `write`, and returns its result. Meanwhile, calls each function of `reads` again and again. */
export async function besideReads<T>(
  reads: readonly (() => Promise<void>)[],
  write: () => Promise<T>,
): Promise<T> {
  const writing = new AbortController();
  const readers = reads.map((read) => repeat(writing.signal, read));
  const reading = Promise.all(readers);
  reading.catch(() => {});
  let result: T;
  try {
    result = await write();
  } finally {
    writing.abort();
    await Promise.allSettled(readers);
  }
  await reading;
  return result;
}

/** Returns a promise with the function that resolves it. */
export function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve!: () => void;
  const promise = new Promise<void>((fulfil) => (resolve = fulfil));
  return { promise, resolve };
}

/**
 * Asserts that plain data is deeply and strictly equal. Rebuilds it first with this file's own Array and
 * Object. A test runner that isolates modules (jest) gives native drivers other prototypes, and strict
 * equality compares these.
 */
export function same(got: unknown, expected: unknown, why?: string): void {
  assert.deepEqual(rebuilt(got), rebuilt(expected), why);
}

function rebuilt(value: unknown): unknown {
  if (Array.isArray(value)) return Array.from(value, rebuilt);
  if (ArrayBuffer.isView(value)) return { bytes: Buffer.from(value as Uint8Array).toString("hex") };
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, rebuilt(inner)]));
}

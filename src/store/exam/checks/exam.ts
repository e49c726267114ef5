import { setTimeout as delay } from "node:timers/promises";
import {
  type Changes,
  type Claim,
  type HandlerKey,
  type PaymentStore,
  type Saved,
} from "../../payment-store.js";
import { type StoreCapabilities } from "../capabilities.js";

/** What a section of the exam registers its checks with. */
export interface Exam<Tx> {
  has: (capability: keyof StoreCapabilities) => boolean;
  /** One check, with a fresh store and a second one over the same data (the same one, where there is no second). */
  check: (
    sentence: string,
    run: (store: PaymentStore<Tx>, another: PaymentStore<Tx>) => Promise<void>,
  ) => void;
}

/** Saves in a transaction of its own. */
export function saved<Tx>(store: PaymentStore<Tx>, changes: Changes): Promise<Saved> {
  return store.transaction((tx) => store.save(tx, changes));
}

/** Takes whatever is due for these handlers, on a lease that outlasts the test unless told otherwise. */
export function claimed<Tx>(
  store: PaymentStore<Tx>,
  handlers: readonly HandlerKey[],
  { limit = 10, leaseMs = 60_000 }: { limit?: number; leaseMs?: number } = {},
): Promise<Claim[]> {
  return store.claim({ handlers, limit, leaseMs });
}

/** Asks again until the answer is there; the deadline is for stores that never give it. */
export async function until<T>(ask: () => Promise<T | undefined>, deadlineMs = 3000): Promise<T> {
  const deadline = performance.now() + deadlineMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (performance.now() > deadline) throw new Error(`Not so within ${deadlineMs} ms.`);
    await delay(10);
  }
}

/** The first claim of these handlers, as soon as there is one. */
export function firstClaim<Tx>(
  store: PaymentStore<Tx>,
  handlers: readonly HandlerKey[],
  options?: { limit?: number; leaseMs?: number },
): Promise<Claim> {
  return until(async () => (await claimed(store, handlers, options))[0]);
}

/** A promise that is resolved from outside. */
export function signal(): { given: Promise<void>; give: () => void } {
  let give!: () => void;
  const given = new Promise<void>((resolve) => (give = resolve));
  return { given, give };
}

/** Where two stores cannot be told apart by awaiting, time for the other one to do what it must not. */
export async function aWhile(): Promise<void> {
  await delay(50);
}

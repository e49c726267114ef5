import { isDeepStrictEqual } from "node:util";
import { setTimeout as pause } from "node:timers/promises";

/** Looks until the value is the expected one: handlers run after the answer. Fails with what it saw last. */
export async function settlesTo<T>(look: () => T | Promise<T>, expected: T): Promise<void> {
  const until = Date.now() + 4000;
  let seen = await look();
  while (!isDeepStrictEqual(seen, expected) && Date.now() < until) {
    await pause(10);
    seen = await look();
  }
  expect(seen).toEqual(expected);
}

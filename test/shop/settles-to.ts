import { isDeepStrictEqual } from "node:util";
import { setTimeout as pause } from "node:timers/promises";

/** Reads a value until it is the expected one, because handlers run after the answer. Fails with the last value. */
export async function settlesTo<T>(look: () => T | Promise<T>, expected: T): Promise<void> {
  const until = Date.now() + 40_000;
  let seen = await look();
  while (!isDeepStrictEqual(seen, expected) && Date.now() < until) {
    await pause(10);
    seen = await look();
  }
  expect(seen).toEqual(expected);
}

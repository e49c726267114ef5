/** An object without its `undefined` values. */
export type WithoutUndefined<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> };

/** Returns a copy of the object without the properties that are `undefined`. */
export function withoutUndefined<T extends object>(given: T): WithoutUndefined<T> {
  return Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined),
  ) as WithoutUndefined<T>;
}

/**
 * Hides those properties of a driver's error that hold the values of a statement from loggers, which write down
 * whatever can be enumerated: values are customers' data and secrets' hashes. Who knows the name still reads them.
 */
export function concealValues(error: unknown, properties: readonly string[]): void {
  if (typeof error !== "object" || error === null) return;
  for (const property of properties) {
    const own = Object.getOwnPropertyDescriptor(error, property);
    if (own?.configurable && own.enumerable)
      Object.defineProperty(error, property, { ...own, enumerable: false });
  }
}

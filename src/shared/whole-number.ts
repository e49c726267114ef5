/** The maximum delay of a timer, in milliseconds. With a longer delay, Node fires after 1 ms. */
export const maxTimerMs = 2 ** 31 - 1;

/** Returns whether the value is a whole number from `min` to `max`. There is no upper limit by default. */
export function isWholeNumber(value: unknown, min: number, max = Infinity): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= min && value <= max;
}

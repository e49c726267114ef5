/** The maximum delay of a timer in milliseconds: Node fires a timer with a longer delay after 1 ms. */
export const maxTimerMs = 2 ** 31 - 1;

/** Returns whether the value is a number without decimals from `min` to `max`. Without `max` there is no upper limit. */
export function isWholeNumber(value: unknown, min: number, max = Infinity): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= min && value <= max;
}

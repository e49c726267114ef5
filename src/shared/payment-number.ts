/** Returns whether two numbers differ only in capitals, spaces and signs. */
export function isSameNumber(one: string, other: string | undefined): boolean {
  const key = keyOfNumber(one);
  return key !== undefined && other !== undefined && key === keyOfNumber(other);
}

/** Returns the letters and digits of a number, by which it is found; `undefined` where they are too few or too many. */
export function keyOfNumber(number: string): string | undefined {
  const key = number.replace(/[^A-Za-z0-9]/g, "").toUpperCase();
  return key.length >= 4 && key.length <= 128 ? key : undefined;
}

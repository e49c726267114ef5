/** Returns whether two payment numbers have the same key. Only their case, spaces and signs may differ. */
export function isSameNumber(one: string, other: string | undefined): boolean {
  const key = keyOfNumber(one);
  return key !== undefined && other !== undefined && key === keyOfNumber(other);
}

/**
 * Returns the ways in which people and services write a number: unchanged, or in capitals or small letters.
 * After the first letters, there may be one of several signs. A store finds a reported number only in the
 * form in which it was reported.
 */
export function waysToWrite(number: string): string[] {
  const key = keyOfNumber(number);
  if (key === undefined) return [number];
  const letters = /^[A-Z]*/.exec(key)![0].length;
  // A number begins with three letters for its channel. More letters may belong to a hexadecimal number.
  const ends = [...new Set([letters, 3])].filter((end) => end > 0 && end <= letters && end < key.length);
  const signed = ends.flatMap((end) =>
    ["-", " ", "_", "/", "."].map((sign) => key.slice(0, end) + sign + key.slice(end)),
  );
  const written = [key, ...signed];
  return [...new Set([number, ...written, ...written.map((one) => one.toLowerCase())])];
}

/** Returns the letters and digits of a number as a key. `undefined` for fewer than 4 or more than 128. */
export function keyOfNumber(number: string): string | undefined {
  const key = number.replace(/[^A-Za-z0-9]/g, "").toUpperCase();
  return key.length >= 4 && key.length <= 128 ? key : undefined;
}

/** Returns whether a value is a string that is not blank, with at most `maxLength` UTF-16 units. */
export function isText(value: unknown, maxLength: number): boolean {
  return typeof value === "string" && value.trim() !== "" && value.length <= maxLength;
}

/** Returns whether a text begins and ends with the same quote: `docker --env-file`, for example, keeps quotes as a part of the value. */
export function isQuoted(text: string): boolean {
  return /^(["'`]).*\1$/s.test(text);
}

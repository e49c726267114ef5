/** Returns whether a text is in quotes. `docker --env-file`, for example, keeps quotes in a value. */
export function isQuoted(text: string): boolean {
  return /^(["'`]).*\1$/s.test(text);
}

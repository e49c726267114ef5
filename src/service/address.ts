import { type ConfigurationProblem } from "../errors/index.js";

/** Whether the host names this machine, so that nothing on the way can read plain http. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase();
  // Not "*.localhost": browsers keep those on this machine, but Node asks the network's name server.
  return name === "localhost" || name === "[::1]" || /^127(\.\d{1,3}){3}$/.test(name);
}

/** Parses an absolute address that is https, or http to this machine. `undefined` for anything else. */
export function parseSecureAddress(text: string): URL | undefined {
  // URL() repairs what it is given; a missing slash, a space or a control character is a mistake, not a style.
  if (!/^https?:\/\//i.test(text) || /[\s\p{Cc}\\]/u.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  return url.protocol === "https:" || isLoopback(url.hostname) ? url : undefined;
}

/**
 * Judges an address from the configuration. The value is never repeated in the message, because it may carry a
 * password.
 */
export function addressProblems(
  option: string,
  value: unknown,
  { query = false }: { query?: boolean } = {},
): ConfigurationProblem[] {
  if (value === undefined || value === null || (typeof value === "string" && value.trim() === "")) {
    return [{ code: "option_missing", option, message: "is not set; give the absolute https address." }];
  }
  const invalid = (message: string): ConfigurationProblem[] => [{ code: "option_invalid", option, message }];
  const url = typeof value === "string" ? parseSecureAddress(value) : undefined;
  if (url === undefined) {
    return invalid("must be an absolute https address; plain http is for this machine only (localhost).");
  }
  if (url.username !== "" || url.password !== "") return invalid("must not carry a user name or password.");
  // The bare "?" and "#" leave no trace in the parsed parts.
  if (url.href.includes("#")) return invalid("must not carry a fragment (#...).");
  if (!query && url.href.includes("?")) return invalid("must not carry a query (?...).");
  return [];
}

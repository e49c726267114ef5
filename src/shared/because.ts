import { isIPv6 } from "node:net";

/**
 * Returns the end of a sentence about a failure: the address for a network error, and the reason. The result
 * is one line, without a user or password of an address. If the error has no address, `place` is used.
 */
export function because(error: unknown, place?: string): string {
  const { errors, cause, code, address, port, hostname, message } = Object(error) as Partial<SystemError>;
  // For a host with several addresses, `errors` has one error for each address. In an error of `fetch`, the
  // system's error is the cause.
  const inner = Array.isArray(errors) ? errors[0] : message === "fetch failed" ? cause : undefined;
  if (inner !== undefined) return because(inner, place);
  const host = isIPv6(address ?? "") ? `[${address}]` : address;
  const at = typeof host === "string" ? (port ? `${host}:${port}` : host) : (place ?? hostname);
  // With the address, the code of a system's error is as clear as its message.
  const isEnough = at !== undefined && typeof code === "string" && /^E[A-Z_]+$/.test(code);
  const reason = String((isEnough ? code : message || code) ?? error);
  const clean = reason
    .slice(0, 2000)
    .replace(/:\/\/\S*@/g, "://")
    .replace(/\s+/g, " ")
    .slice(0, 500);
  return `${at === undefined ? "" : ` at ${at}`}: ${clean.replace(/\.$/, "")}.`;
}

/** The fields of Node's errors, and of the errors of `fetch`. */
interface SystemError extends Error {
  errors: unknown[];
  code: string;
  address: string;
  port: number;
  hostname: string;
}

/** Returns the host and port of an address. `port` is the default. `undefined` if the address has no host. */
export function hostOf(address: string, port: number): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { host, hostname, port: given } = new URL(address);
  return host === "" ? undefined : given ? host : `${hostname}:${port}`;
}

import { isIPv6 } from "node:net";

/**
 * Returns the end of a sentence about something that failed: the address, for an error of the network, and the reason. Has one
 * line, and no user or password of an address. `place` is the address that was meant, where the error has none.
 */
export function because(error: unknown, place?: string): string {
  const { errors, cause, code, address, port, hostname, message } = Object(error) as Partial<SystemError>;
  // A host with several addresses has one error for each, and `fetch` wraps the system's error.
  const inner = Array.isArray(errors) ? errors[0] : message === "fetch failed" ? cause : undefined;
  if (inner !== undefined) return because(inner, place);
  const host = isIPv6(address ?? "") ? `[${address}]` : address;
  const at = typeof host === "string" ? (port ? `${host}:${port}` : host) : (place ?? hostname);
  // Beside its address, the code of a system's error says all that its message does.
  const isEnough = at !== undefined && typeof code === "string" && /^E[A-Z_]+$/.test(code);
  const reason = String((isEnough ? code : message || code) ?? error);
  const clean = reason
    .slice(0, 2000)
    .replace(/:\/\/\S*@/g, "://")
    .replace(/\s+/g, " ")
    .slice(0, 500);
  return `${at === undefined ? "" : ` at ${at}`}: ${clean.replace(/\.$/, "")}.`;
}

/** The fields of Node's errors, and of `fetch`. */
interface SystemError extends Error {
  errors: unknown[];
  code: string;
  address: string;
  port: number;
  hostname: string;
}

/** Returns the host and the port of an address without its user and password; `undefined` if it cannot be parsed. */
export function hostOf(address: string, port: number): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { host, hostname, port: given } = new URL(address);
  return host === "" ? undefined : given ? host : `${hostname}:${port}`;
}

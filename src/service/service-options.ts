import { type ConfigurationProblem } from "../errors/index.js";
import { isLoopback } from "../shared/is-loopback.js";
import { isWholeNumber, maxTimerMs } from "../shared/whole-number.js";
import { type AccessToken } from "./access-token.js";

/** Options of the payment service's client. The types accept `undefined`, so that `process.env.X` fits. */
export interface PaymentServiceOptions {
  /**
   * The address of the service, to which the kit adds `/v1/payments`.
   *
   * The address must be absolute and use https (http only on this machine), with or without a path and a
   * final slash.
   */
  baseUrl: string | undefined;
  /**
   * The bearer token, a function that returns a bearer token, or `clientCredentials({ tokenUrl, clientId,
   * clientSecret })`.
   *
   * See {@link AccessToken}.
   */
  accessToken: AccessToken | undefined;
  /**
   * The maximum time of one creation, in milliseconds, including the token request.
   *
   * This time includes the answer, and the second request after a 401.
   * @default 10000
   */
  timeoutMs?: number | undefined;
  /**
   * The function that sends requests. Set this option to use a proxy or a certificate of your own.
   *
   * The function must not repeat a request by itself, because a creation that is sent twice may create two
   * payments.
   * @default the global `fetch`
   */
  fetch?: typeof globalThis.fetch | undefined;
}

/** Returns the problems of a time limit in milliseconds. The value `undefined` means the default. */
export function timeoutProblems(option: string, value: unknown): ConfigurationProblem[] {
  if (value === undefined) return [];
  if (isWholeNumber(value, 1, maxTimerMs)) return [];
  const message = `must be a whole number of milliseconds from 1 to ${maxTimerMs}.`;
  return [{ code: "option_invalid", option, message }];
}

/** Returns the problems of an address. Messages do not contain the address, which may contain a password. */
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
  // The parsed parts do not show a bare "?" or "#".
  if (url.href.includes("#")) return invalid("must not carry a fragment (#...).");
  if (!query && url.href.includes("?")) return invalid("must not carry a query (?...).");
  return [];
}

/** Returns an absolute address that is https, or http to this machine; `undefined` for anything else. */
export function parseSecureAddress(text: string): URL | undefined {
  // URL() repairs a missing slash, a space or a control character. Here, such an address is refused.
  if (!/^https?:\/\//i.test(text) || /[\s\p{Cc}\\]/u.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  // "*.localhost" is not this machine, because Node asks the network's name server for it.
  const isHere = url.hostname === "localhost" || isLoopback(url.hostname);
  return url.protocol === "https:" || isHere ? url : undefined;
}

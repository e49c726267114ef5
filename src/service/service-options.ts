import { type ConfigurationProblem } from "../errors/index.js";
import { accessTokenProblems, type AccessToken } from "./access-token.js";
import { addressProblems } from "./address.js";
import { timeoutProblems } from "./deadline.js";

/** How the payment service is reached. `undefined` is accepted by type, so that `process.env.X` fits. */
export interface PaymentServiceOptions {
  /**
   * The service's base address; `/v1/payments` is added to it. Absolute https (http only on this machine), with or
   * without a path and a slash at the end.
   */
  baseUrl: string | undefined;
  /** The bearer token, or how to get it: see {@link AccessToken} and {@link clientCredentials}. */
  accessToken: AccessToken | undefined;
  /**
   * The longest that one creation may take as a whole: obtaining the token, the request, reading the answer, and the
   * second try after a 401.
   *
   * @default 10000
   */
  timeoutMs?: number | undefined;
  /**
   * Sends the request; for a proxy or a certificate of your own. It must not repeat a request by itself: a creation
   * that is sent twice may make two payments.
   *
   * @default globalThis.fetch
   */
  fetch?: typeof globalThis.fetch | undefined;
}

/**
 * Everything that is wrong with the options, so that a caller can report it together with the problems of others.
 * Empty means usable. Paths start with `service.`.
 */
export function serviceProblems(options: PaymentServiceOptions | undefined): ConfigurationProblem[] {
  const { baseUrl, accessToken, timeoutMs, fetch }: Partial<PaymentServiceOptions> = options ?? {};
  const problems = [
    ...addressProblems("service.baseUrl", baseUrl),
    ...accessTokenProblems("service.accessToken", accessToken),
    ...timeoutProblems("service.timeoutMs", timeoutMs),
  ];
  if (fetch !== undefined && typeof fetch !== "function") {
    problems.push({ code: "option_invalid", option: "service.fetch", message: "must be a function." });
  }
  return problems;
}

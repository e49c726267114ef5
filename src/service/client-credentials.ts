import { concealSecret } from "../errors/conceal-secrets.js";
import { ConfigurationError, type ConfigurationProblem } from "../errors/index.js";
import {
  type AccessTokenRequest,
  type AccessTokenSource,
  isSandboxCredentialInProduction,
  sandboxMessage,
} from "./access-token.js";
import { joinCalls } from "../shared/join-calls.js";
import { untilAborted } from "./send-request.js";
import { type NamesOf, requireOptions, unknownOptions } from "../shared/unknown-names.js";
import { addressProblems, timeoutProblems } from "./service-options.js";
import { requestToken } from "./token-request.js";

/** Options of {@link clientCredentials}. The types accept `undefined`, so that `process.env.X` fits. */
export interface ClientCredentialsOptions {
  /** The address of the token issuer: absolute https (http only on this machine). */
  tokenUrl: string | undefined;
  /** The name that the service gave this shop. */
  clientId: string | undefined;
  /** The secret that the service gave this shop. */
  clientSecret: string | undefined;
  /** The scope to request. @default none is sent */
  scope?: string | undefined;
  /**
   * The time limit of one token request, in milliseconds. The limit includes the answer.
   *
   * @default 10000
   */
  timeoutMs?: number | undefined;
  /**
   * The function that sends the request. Set it to use a proxy or a certificate of your own.
   *
   * @default globalThis.fetch
   */
  fetch?: typeof globalThis.fetch | undefined;
  /**
   * A clock in milliseconds that never goes back; for tests.
   *
   * @default performance.now
   */
  now?: (() => number) | undefined;
}

/** The maximum time from a token's renewal to its end, for network delays and slow clocks. */
const maxMarginMs = 60_000;

/**
 * Gets access tokens with OAuth 2 client credentials (RFC 6749, 4.4), by a form POST. A token is renewed when
 * a tenth of its lifetime is left, but at most 60 s before its end. If the answer has no lifetime, five
 * minutes are assumed. Callers that need a token at the same time share one request, even after a 401.
 *
 * `get` rejects with `access_token_refused` if the issuer answers 400, 401 or 403. `get` rejects with the
 * reason of `signal` if `signal` aborts, and with `access_token_unavailable` for every other failure. If the
 * request itself failed, `cause` is its error.
 *
 * @throws ConfigurationError `option_missing`, `option_invalid`, `sandbox_credential_in_production`: all
 * problems in one error.
 */
export function clientCredentials(options: ClientCredentialsOptions): AccessTokenSource {
  const problems = credentialsProblems(options);
  const { tokenUrl, clientId, clientSecret, scope } = options;
  if (problems.length > 0 || tokenUrl === undefined || clientId === undefined || clientSecret === undefined) {
    throw new ConfigurationError(problems);
  }
  concealSecret(clientSecret);
  const { timeoutMs = 10_000, fetch, now = () => performance.now() } = options;
  const form = new URLSearchParams({
    grant_type: "client_credentials",
    client_id: clientId,
    client_secret: clientSecret,
    ...(scope === undefined ? {} : { scope }),
  }).toString();

  // The secrets are in this closure, so that printing the source, or writing it as JSON, does not show them.
  let cached: { token: string; freshUntil: number } | undefined;

  const renew = joinCalls(async (): Promise<string> => {
    // The lifetime starts before the request, because the issuer's clock starts before the answer arrives.
    const askedAt = now();
    const { token, lifetimeMs } = await requestToken({ tokenUrl, form, timeoutMs, fetch });
    cached = { token, freshUntil: askedAt + lifetimeMs - Math.min(maxMarginMs, lifetimeMs / 10) };
    return token;
  });

  const get = async ({ refused, signal }: AccessTokenRequest = {}): Promise<string> => {
    // Only the refused token is dropped, because another caller may have renewed the token already.
    if (cached !== undefined && cached.token === refused) cached = undefined;
    if (cached !== undefined && now() < cached.freshUntil) return cached.token;
    return signal === undefined ? renew() : untilAborted(signal, renew());
  };

  return Object.freeze({ get });
}

const optionNames = {
  tokenUrl: 1,
  clientId: 1,
  clientSecret: 1,
  scope: 1,
  timeoutMs: 1,
  fetch: 1,
  now: 1,
} satisfies NamesOf<ClientCredentialsOptions>;

function credentialsProblems(options: ClientCredentialsOptions): ConfigurationProblem[] {
  requireOptions("clientCredentials", options, "{ tokenUrl, clientId, clientSecret }");
  const pathOf = (name: keyof ClientCredentialsOptions): string => `clientCredentials.${name}`;
  const problem = (
    name: keyof ClientCredentialsOptions,
    message: string,
    code: ConfigurationProblem["code"] = "option_invalid",
  ): ConfigurationProblem => ({ code, option: pathOf(name), message });
  const problems = [
    ...unknownOptions("clientCredentials.", options, optionNames),
    ...addressProblems(pathOf("tokenUrl"), options.tokenUrl, { query: true }),
  ];
  for (const name of ["clientId", "clientSecret"] as const) {
    const value: unknown = options[name];
    if (value === undefined || value === null || (typeof value === "string" && value.trim() === "")) {
      problems.push(problem(name, "is not set; give it as the service issued it.", "option_missing"));
    } else if (typeof value !== "string" || !isPrintable(value) || value !== value.trim()) {
      // RFC 6749, A.1 and A.2, allow only printable ASCII. A space or line break at an end comes from
      // copying, and would be sent.
      problems.push(
        problem(name, "must be printable ASCII without line breaks, and without spaces at its ends."),
      );
    }
  }
  const { clientSecret, scope } = options;
  if (isSandboxCredentialInProduction(clientSecret))
    problems.push(problem("clientSecret", sandboxMessage, "sandbox_credential_in_production"));
  if (scope !== undefined && !(typeof scope === "string" && scope.trim() !== "" && isPrintable(scope)))
    problems.push(
      problem("scope", "must be scope names of visible ASCII, separated by spaces; or leave it out."),
    );
  problems.push(...timeoutProblems(pathOf("timeoutMs"), options.timeoutMs));
  for (const name of ["fetch", "now"] as const)
    if (options[name] !== undefined && typeof options[name] !== "function")
      problems.push(problem(name, "must be a function."));
  return problems;
}

function isPrintable(text: string): boolean {
  return /^[\x20-\x7e]+$/.test(text);
}

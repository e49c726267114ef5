import { concealSecret } from "../errors/conceal-secrets.js";
import { ConfigurationError, type ConfigurationProblem } from "../errors/index.js";
import { isSandboxCredentialInProduction, sandboxMessage } from "./access-token.js";
import { type AccessTokenRequest, type AccessTokenSource } from "./access-token.js";
import { addressProblems } from "./address.js";
import { timeoutProblems, untilAborted } from "./deadline.js";
import { requestToken } from "./token-request.js";

/** Options of {@link clientCredentials}. `undefined` is accepted by type, so that `process.env.X` fits. */
export interface ClientCredentialsOptions {
  /** Where tokens are issued: an absolute https address (http only on this machine). */
  tokenUrl: string | undefined;
  clientId: string | undefined;
  clientSecret: string | undefined;
  /** Sent only when given. */
  scope?: string | undefined;
  /**
   * The longest that one token request may take, its answer included.
   *
   * @default 10000
   */
  timeoutMs?: number | undefined;
  /**
   * Sends the request; for a proxy or a certificate of your own.
   *
   * @default globalThis.fetch
   */
  fetch?: typeof globalThis.fetch | undefined;
  /**
   * Milliseconds that never go back; for tests.
   *
   * @default performance.now
   */
  now?: (() => number) | undefined;
}

/** A longer margin buys nothing: it only has to cover the way to the service and slow clocks. */
const longestMarginMs = 60_000;

/**
 * Gets access tokens with OAuth 2 client credentials (RFC 6749, 4.4): a form POST, whose token is kept until shortly
 * before it expires (a tenth of its life, at most 60 s; five minutes of life where the answer names none). Callers
 * that need a token at the same time share one request, also after a 401.
 *
 * `get` rejects with `access_token_refused` where the issuer answers 400, 401 or 403, and with
 * `access_token_unavailable` for everything else that goes wrong, with the reason as `cause`.
 *
 * @throws ConfigurationError `option_missing`, `option_invalid`, `sandbox_credential_in_production`: all at once.
 */
export function clientCredentials(options: ClientCredentialsOptions): AccessTokenSource {
  const problems = credentialsProblems(options);
  const { tokenUrl, clientId, clientSecret, scope } = options;
  if (problems.length > 0 || tokenUrl === undefined || clientId === undefined || clientSecret === undefined) {
    throw new ConfigurationError(problems);
  }
  concealSecret(clientSecret);
  const { timeoutMs = 10_000, fetch = globalThis.fetch, now = () => performance.now() } = options;
  const form = new URLSearchParams({
    grant_type: "client_credentials",
    client_id: clientId,
    client_secret: clientSecret,
    ...(scope === undefined ? {} : { scope }),
  }).toString();

  // Everything secret lives in this closure, so that printing the source or turning it to JSON shows nothing.
  let cached: { token: string; freshUntil: number } | undefined;
  let renewal: Promise<string> | undefined;

  const renew = async (): Promise<string> => {
    // The life is counted from before the request: the issuer's clock starts before the answer is here.
    const askedAt = now();
    const { token, lifetimeMs } = await requestToken({ tokenUrl, form, timeoutMs, fetch });
    cached = { token, freshUntil: askedAt + lifetimeMs - Math.min(longestMarginMs, lifetimeMs / 10) };
    return token;
  };

  const get = async ({ refused, signal }: AccessTokenRequest = {}): Promise<string> => {
    // Whoever is refused late, after somebody else renewed, finds another token here and renews nothing.
    if (cached !== undefined && cached.token === refused) cached = undefined;
    if (cached !== undefined && now() < cached.freshUntil) return cached.token;
    renewal ??= renew().finally(() => {
      renewal = undefined;
    });
    return signal === undefined ? renewal : untilAborted(signal, renewal);
  };

  return Object.freeze({ get });
}

/** An option's path in a problem. */
const at = (name: keyof ClientCredentialsOptions): string => `clientCredentials.${name}`;

function credentialsProblems(options: ClientCredentialsOptions): ConfigurationProblem[] {
  const invalid = (name: keyof ClientCredentialsOptions, message: string): ConfigurationProblem => ({
    code: "option_invalid",
    option: at(name),
    message,
  });
  const problems = addressProblems(at("tokenUrl"), options.tokenUrl, { query: true });
  for (const name of ["clientId", "clientSecret"] as const) {
    problems.push(...credentialProblems(at(name), options[name]));
  }
  if (isSandboxCredentialInProduction(options.clientSecret)) {
    problems.push({
      code: "sandbox_credential_in_production",
      option: at("clientSecret"),
      message: sandboxMessage,
    });
  }
  if (options.scope !== undefined && !isScope(options.scope)) {
    problems.push(
      invalid("scope", "must be scope names of visible ASCII, separated by spaces; or leave it out."),
    );
  }
  problems.push(...timeoutProblems(at("timeoutMs"), options.timeoutMs));
  for (const name of ["fetch", "now"] as const) {
    const value: unknown = options[name];
    if (value !== undefined && typeof value !== "function")
      problems.push(invalid(name, "must be a function."));
  }
  return problems;
}

function isScope(value: unknown): boolean {
  return typeof value === "string" && value.trim() !== "" && /^[\x20-\x7e]+$/.test(value);
}

function credentialProblems(option: string, value: unknown): ConfigurationProblem[] {
  if (value === undefined || value === null || (typeof value === "string" && value.trim() === "")) {
    return [{ code: "option_missing", option, message: "is not set; give it as the service issued it." }];
  }
  // RFC 6749, A.1 and A.2. A space or line break at an end comes from copying, and would be sent along.
  if (typeof value !== "string" || !/^[\x20-\x7e]+$/.test(value) || value !== value.trim()) {
    const message = "must be printable ASCII without line breaks, and without spaces at its ends.";
    return [{ code: "option_invalid", option, message }];
  }
  return [];
}

import { concealSecret, concealToken } from "../errors/conceal-secrets.js";
import { TillkitError, type ConfigurationProblem, type ErrorCode } from "../errors/index.js";

/** What an {@link AccessTokenSource} is asked. */
export interface AccessTokenRequest {
  /** The token that the service just refused with a 401: answer with another one, if there is one. */
  refused?: string | undefined;
  /** Aborts when the caller stops waiting. */
  signal?: AbortSignal | undefined;
}

/** Gives access tokens and can renew them. {@link clientCredentials} makes one; your own may stand in its place. */
export interface AccessTokenSource {
  /**
   * Resolves a token that is fit for use. Called before each creation, so it should answer from a cache. Where
   * `refused` is still the token it would give, it gets a new one; where there is no other, it may give the same
   * again, which ends the creation with `access_token_refused`.
   */
  get(request?: AccessTokenRequest): Promise<string>;
}

/**
 * How the kit gets its bearer token (interface document, 5: how it is obtained is not shown): the token itself, a
 * function that gives one, or a source that can renew it. A function is called before each creation, and once more
 * after a 401.
 */
export type AccessToken = string | (() => string | Promise<string>) | AccessTokenSource;

/** Prefix of the sandbox's tokens and secrets, which are refused in production. */
const sandboxPrefix = "sandbox_";

/** Whether a sandbox credential is about to be used where real money is. */
export function isSandboxCredentialInProduction(credential: unknown): boolean {
  if (process.env.NODE_ENV !== "production" || typeof credential !== "string") return false;
  return credential.trimStart().startsWith(sandboxPrefix);
}

export const sandboxMessage =
  "is a sandbox credential (sandbox_...) and NODE_ENV is production; use the real service's.";

/** What is wrong with a token, without repeating it. */
function tokenFault(token: unknown): { code: ErrorCode; message: string } | undefined {
  if (typeof token !== "string" || token.trim() === "") {
    return { code: "option_missing", message: "is not set; give the service's access token." };
  }
  // RFC 6750, 2.1 allows fewer characters still. Anything else would break the header, or be sent as another token.
  if (!/^[\x21-\x7e]+$/.test(token)) {
    const message =
      'must be the bare token: visible ASCII, without spaces, line breaks or a leading "Bearer ".';
    return { code: "option_invalid", message };
  }
  if (!isSandboxCredentialInProduction(token)) return undefined;
  return { code: "sandbox_credential_in_production", message: sandboxMessage };
}

/** Judges the option; tokens that are only known later are judged when they come. */
export function accessTokenProblems(option: string, value: unknown): ConfigurationProblem[] {
  if (typeof value === "function" || isSource(value)) return [];
  if (value !== undefined && value !== null && typeof value !== "string") {
    const message = "must be a string, a function that gives one, or an object with a get() method.";
    return [{ code: "option_invalid", option, message }];
  }
  const fault = tokenFault(value);
  return fault === undefined ? [] : [{ ...fault, option }];
}

/** The token of the configuration as a function that gives it: options are printed and logged, and would show the text. */
export function unprinted(accessToken: AccessToken | undefined): AccessToken | undefined {
  if (typeof accessToken !== "string") return accessToken;
  concealSecret(accessToken);
  return () => accessToken;
}

/** Gets a token of any kind, and refuses one that cannot be sent. */
export async function obtainToken(accessToken: AccessToken, request: AccessTokenRequest): Promise<string> {
  const token = await ask(accessToken, request);
  const fault = tokenFault(token);
  if (typeof token === "string") concealToken(token);
  if (fault === undefined) return token;
  const code = fault.code === "sandbox_credential_in_production" ? fault.code : "access_token_unavailable";
  throw new TillkitError(code, `The access token that was obtained cannot be used: it ${fault.message}`);
}

function ask(accessToken: AccessToken, request: AccessTokenRequest): string | Promise<string> {
  if (typeof accessToken === "string") return accessToken;
  return typeof accessToken === "function" ? accessToken() : accessToken.get(request);
}

function isSource(value: unknown): value is AccessTokenSource {
  return typeof value === "object" && value !== null && "get" in value && typeof value.get === "function";
}

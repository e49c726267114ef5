import { concealSecret, concealToken } from "../errors/conceal-secrets.js";
import { TillkitError, type ConfigurationProblem, type ErrorCode } from "../errors/index.js";
import { isProduction } from "../shared/is-production.js";
import { discardBody } from "./send-request.js";

/** The request for a token from an {@link AccessTokenSource}. */
export interface AccessTokenRequest {
  /** The token that the service just refused with a 401. Return another token, if there is one. */
  refused?: string | undefined;
  /** Aborts when the caller stops waiting. */
  signal?: AbortSignal | undefined;
}

/**
 * Gives access tokens, and can renew them. {@link clientCredentials} makes such a source; you can also write
 * your own.
 */
export interface AccessTokenSource {
  /**
   * Resolves with a usable token. The kit calls `get` before each creation and each lookup, so use a cache.
   * If `refused` is the cached token, get a new one. If there is no other token, you may return the same one.
   * A creation then ends with `access_token_refused`.
   */
  get(request?: AccessTokenRequest): Promise<string>;
}

/**
 * The bearer token: the token itself, a function that returns it, or a source that can renew it. A function
 * is called before each creation and each lookup, and again after a 401. The interface document (5) does not
 * say how a merchant gets a token.
 */
export type AccessToken = string | (() => string | Promise<string>) | AccessTokenSource;

/** Prefix of the sandbox's tokens and secrets, which are refused in production. */
const sandboxPrefix = "sandbox_";

/** Returns whether this is a credential of the sandbox, and NODE_ENV is production. */
export function isSandboxCredentialInProduction(credential: unknown): boolean {
  if (!isProduction() || typeof credential !== "string") return false;
  return credential.trimStart().startsWith(sandboxPrefix);
}

export const sandboxMessage =
  "is a sandbox credential (sandbox_...) and NODE_ENV is production; use the real service's.";

/** Returns the problem of a token. The message does not contain the token. */
function tokenProblem(token: unknown): { code: ErrorCode; message: string } | undefined {
  if (typeof token !== "string" || token.trim() === "") {
    return { code: "option_missing", message: "is not set; give the service's access token." };
  }
  // Other characters would break the header, or be sent as another token. RFC 6750, 2.1 allows even fewer.
  if (!/^[\x21-\x7e]+$/.test(token)) {
    const message =
      'must be the bare token: visible ASCII, without spaces, line breaks or a leading "Bearer ".';
    return { code: "option_invalid", message };
  }
  if (!isSandboxCredentialInProduction(token)) return undefined;
  return { code: "sandbox_credential_in_production", message: sandboxMessage };
}

/** Returns the problems of the option. The token of a function or a source is checked later. */
export function accessTokenProblems(option: string, value: unknown): ConfigurationProblem[] {
  if (typeof value === "function" || isSource(value)) return [];
  if (value !== undefined && value !== null && typeof value !== "string") {
    const message = "must be a string, a function that gives one, or an object with a get() method.";
    return [{ code: "option_invalid", option, message }];
  }
  const problem = tokenProblem(value);
  return problem === undefined ? [] : [{ ...problem, option }];
}

/** Replaces a token by a function that returns it, because options may be printed and logged. */
export function unprinted(accessToken: AccessToken | undefined): AccessToken | undefined {
  if (typeof accessToken !== "string") return accessToken;
  concealSecret(accessToken);
  return () => accessToken;
}

/**
 * Gets a token from any kind of {@link AccessToken}. Throws `access_token_unavailable` or
 * `sandbox_credential_in_production` if the token cannot be used.
 */
export async function obtainToken(accessToken: AccessToken, request: AccessTokenRequest): Promise<string> {
  const token = await askFor(accessToken, request);
  const problem = tokenProblem(token);
  if (typeof token === "string") concealToken(token);
  if (problem === undefined) return token;
  const code =
    problem.code === "sandbox_credential_in_production" ? problem.code : "access_token_unavailable";
  throw new TillkitError(code, `The access token that was obtained cannot be used: it ${problem.message}`);
}

function askFor(accessToken: AccessToken, request: AccessTokenRequest): string | Promise<string> {
  if (typeof accessToken === "string") return accessToken;
  return typeof accessToken === "function" ? accessToken() : accessToken.get(request);
}

function isSource(value: unknown): value is AccessTokenSource {
  return typeof value === "object" && value !== null && "get" in value && typeof value.get === "function";
}

/** Sends a request with a token. After a 401, gets a token again, and sends again if the token is new. */
export async function sendWithToken(
  getToken: (refused: string | undefined) => Promise<string>,
  send: (token: string) => Promise<Response>,
): Promise<{ response: Response; token: string }> {
  const token = await getToken(undefined);
  const response = await send(token);
  if (response.status !== 401) return { response, token };
  const renewed = await getToken(token).catch((error: unknown) => {
    discardBody(response);
    throw error;
  });
  if (renewed === token) return { response, token };
  discardBody(response);
  return { response: await send(renewed), token: renewed };
}

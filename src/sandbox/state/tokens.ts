import { hash, timingSafeEqual } from "node:crypto";
import { throwMisuse } from "./misuse.js";
import { createSandboxSecret } from "./random.js";
import { type StateFile } from "./state-file.js";

/** The credentials with which a merchant obtains access tokens. */
export interface SandboxClient {
  /** The public part of the credentials. */
  clientId: string;
  /** The secret part. */
  clientSecret: string;
}

/** One access token that was issued. */
export interface SandboxToken {
  /** The last eight characters of the token, which identify the token on pages and for a revocation. */
  readonly id: string;
  /** The time of the issue, in ISO 8601 and UTC. */
  readonly issuedAt: string;
  /** The time at which the token stops working, even if the merchant received a longer lifetime. */
  readonly expiresAt: string;
  /** Whether the token was revoked. */
  readonly revoked: boolean;
}

/** Issues and checks bearer tokens. */
export class AccessTokens {
  readonly #tokens = new Map<string, SandboxToken>();

  constructor(
    public clients: readonly SandboxClient[],
    private readonly options: { now: () => Date; stateFile: StateFile },
  ) {}

  async restore(): Promise<void> {
    const saved = await this.options.stateFile.load<{ token: string } & SandboxToken>("token");
    for (const { token, ...state } of saved) this.#tokens.set(token, state);
  }

  /** Returns whether a client with this id and secret is registered. */
  knows(presented: SandboxClient): boolean {
    return this.clients.some(
      (client) =>
        isEqual(client.clientId, presented.clientId) && isEqual(client.clientSecret, presented.clientSecret),
    );
  }

  issue(ttlMs: number): string {
    const token = createSandboxSecret();
    const now = this.options.now().getTime();
    this.#save(token, {
      id: token.slice(-8),
      issuedAt: new Date(now).toISOString(),
      expiresAt: new Date(now + ttlMs).toISOString(),
      revoked: false,
    });
    return token;
  }

  /** Returns `valid`, or the reason why a request with this token is refused. */
  check(token: string): "valid" | "expired" | "revoked" | "unknown" {
    const state = this.#tokens.get(token);
    if (state === undefined) return "unknown";
    if (state.revoked) return "revoked";
    return this.options.now().getTime() < Date.parse(state.expiresAt) ? "valid" : "expired";
  }

  /** Returns every token, newest first. */
  list(): SandboxToken[] {
    return [...this.#tokens.values()].toReversed();
  }

  /** Revokes the token with this id, or every token. Throws `sandbox_misused` for an unknown id. */
  revoke(id?: string): void {
    if (id !== undefined && !this.list().some((token) => token.id === id))
      throwMisuse(
        `There is no access token with the id "${id}". The id of a token is its last eight characters.`,
      );
    for (const [token, state] of this.#tokens)
      if (!state.revoked && (id ?? state.id) === state.id) this.#save(token, { ...state, revoked: true });
  }

  #save(token: string, state: SandboxToken): void {
    this.#tokens.set(token, state);
    this.options.stateFile.put("token", token, { token, ...state });
  }
}

function isEqual(a: string, b: string): boolean {
  return timingSafeEqual(hash("sha256", a, "buffer"), hash("sha256", b, "buffer"));
}

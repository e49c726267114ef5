import { createHash, timingSafeEqual } from "node:crypto";
import { type SandboxClient } from "../options.js";
import { type Keeper } from "./keeper.js";
import { sandboxSecret } from "./sandbox-secret.js";

/** What a presented access token is worth. */
export type TokenCheck = "valid" | "expired" | "revoked" | "unknown";

/** One access token that was issued. */
export interface SandboxToken {
  /** Its last eight characters, by which it can be told apart and revoked. */
  readonly id: string;
  readonly issuedAt: string;
  /** When it stops working, whatever the merchant was told. */
  readonly expiresAt: string;
  readonly revoked: boolean;
}

/** Issues and checks bearer tokens. */
export class AccessTokens {
  readonly #tokens = new Map<string, SandboxToken>();
  readonly #now: () => Date;
  readonly #keeper: Keeper;
  #clients: readonly SandboxClient[];

  constructor(clients: readonly SandboxClient[], now: () => Date, keeper: Keeper) {
    this.#clients = clients;
    this.#now = now;
    this.#keeper = keeper;
  }

  /** The credentials that a merchant obtains tokens with. */
  get clients(): readonly SandboxClient[] {
    return this.#clients;
  }

  /** Takes over what an earlier run of the same sandbox issued. */
  async resume(): Promise<void> {
    const kept = await this.#keeper.load<{ token: string } & SandboxToken>("token");
    for (const { token, ...state } of kept) this.#tokens.set(token, state);
  }

  replaceClients(clients: readonly SandboxClient[]): void {
    this.#clients = clients;
  }

  /** Whether a client with this id and secret is registered. */
  knows(presented: SandboxClient): boolean {
    return this.#clients.some(
      (client) =>
        same(client.clientId, presented.clientId) && same(client.clientSecret, presented.clientSecret),
    );
  }

  issue(ttlMs: number): string {
    const token = sandboxSecret();
    const now = this.#now().getTime();
    this.#hold(token, {
      id: token.slice(-8),
      issuedAt: new Date(now).toISOString(),
      expiresAt: new Date(now + ttlMs).toISOString(),
      revoked: false,
    });
    return token;
  }

  check(token: string): TokenCheck {
    const state = this.#tokens.get(token);
    if (state === undefined) return "unknown";
    if (state.revoked) return "revoked";
    return this.#now().getTime() < Date.parse(state.expiresAt) ? "valid" : "expired";
  }

  /** Newest first. */
  list(): SandboxToken[] {
    return [...this.#tokens.values()].toReversed();
  }

  /** The token, or every one, stops working. Answers how many did. */
  revoke(id?: string): number {
    const revoked = [...this.#tokens].filter(([, state]) => !state.revoked && (id ?? state.id) === state.id);
    for (const [token, state] of revoked) this.#hold(token, { ...state, revoked: true });
    return revoked.length;
  }

  #hold(token: string, state: SandboxToken): void {
    this.#tokens.set(token, state);
    this.#keeper.put("token", token, { token, ...state });
  }
}

function same(a: string, b: string): boolean {
  return timingSafeEqual(sha256(a), sha256(b));
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

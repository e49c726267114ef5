import { type Activity } from "./clock/activity.js";
import { type Clock } from "./clock/clock.js";
import { type Sandbox } from "./contract.js";
import { type PaymentMoves } from "./move-payments.js";
import { type ResolvedOptions } from "./options.js";
import { type ScenarioBook } from "./scenario/scenario-book.js";
import { type TokenTrouble } from "./scenario/token-trouble.js";
import { type Payments } from "./state/payments.js";
import { type AccessTokens } from "./state/tokens.js";

/** What the addresses of the sandbox work on. */
export interface Parts {
  /** What the developer's pages and the control addresses use: no more than a test could. */
  sandbox: Sandbox;
  resolved: ResolvedOptions;
  payments: Payments;
  tokens: AccessTokens;
  scenarios: ScenarioBook;
  troubles: TokenTrouble;
  moves: PaymentMoves;
  clock: Clock;
  activity: Activity;
  /** Resolves when the state of an earlier run was taken over. */
  resuming: Promise<void>;
  /** Resolves when all that happened is on disk, where the state is kept. */
  flushed: () => Promise<void>;
  /** The sandbox's own address; `host` is what the request named, for an app that does not listen itself. */
  baseUrl: (host: string | undefined) => string;
}

import { type PaymentRequest } from "../state/payments.js";
import { type ScenarioBook } from "./scenario-book.js";
import { type Scenario } from "./scenario.js";

/**
 * What becomes of access tokens. The current scenario decides for everybody. A payment that asks for a scenario about
 * tokens by itself comes when its token was issued already: that one turns out to have expired, once.
 */
export class TokenTrouble {
  readonly #scenarios: ScenarioBook;
  readonly #refused = new Set<string>();
  #next: NonNullable<Scenario["token"]> | undefined;

  constructor(scenarios: ScenarioBook) {
    this.#scenarios = scenarios;
  }

  /** Whether the token with which this payment is being created is taken for expired. */
  beginsWith(request: PaymentRequest): boolean {
    const name = this.#scenarios.askedFor(request);
    const token = name === undefined ? undefined : this.#scenarios.named(name).token;
    if (token === undefined || this.#refused.has(request.clientId)) return false;
    this.#refused.add(request.clientId);
    if (token.answer !== undefined) this.#next = token;
    return true;
  }

  /** For one request at the token address. */
  take(): NonNullable<Scenario["token"]> {
    const next = this.#next ?? this.#scenarios.currentToken();
    this.#next = undefined;
    return next;
  }
}

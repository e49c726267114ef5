import { didYouMean } from "../../shared/nearest.js";
import { type NewPayment } from "../state/payments.js";
import { type Random } from "../state/random.js";
import { parseOrThrowMisuse, throwMisuse } from "../state/misuse.js";
import { catalogue, firstChoosingAmount, normal } from "./catalogue.js";
import { randomName, type Scenario } from "./scenario.js";
import { scenarioSchema } from "./scenario-schema.js";

/** The known scenarios, the current scenario, and the scenarios that were assigned to payments. */
export class ScenarioRegistry {
  readonly #known = new Map<string, Scenario>([normal, ...catalogue].map((each) => [each.name, each]));
  readonly #own = new Set<string>();
  readonly #assigned = new Map<string, string>();
  readonly #random: Random;
  #current = normal.name;

  constructor(random: Random, own: readonly Scenario[], current: string) {
    this.#random = random;
    for (const scenario of own) this.add(scenario);
    this.choose(current);
  }

  /** Returns every scenario. The scenarios of the catalogue come first. */
  list(): Scenario[] {
    return [...this.#known.values()];
  }

  /** The name of the scenario of payments that do not ask for a scenario. The name can be `random`. */
  get current(): string {
    return this.#current;
  }

  /** Returns the scenario with this name. Throws `sandbox_misused` for an unknown name, and for `random`. */
  named(name: string): Scenario {
    const hint = (): string => didYouMean(name, [...this.#known.keys(), randomName]);
    return (
      this.#known.get(name) ?? throwMisuse(`There is no scenario named ${JSON.stringify(name)}.${hint()}`)
    );
  }

  /** Adds a scenario, or replaces the scenario with the same name. Returns the name. */
  add(scenario: Scenario): string {
    const valid = parseOrThrowMisuse(scenarioSchema, scenario, "The scenario is not valid.");
    this.#known.set(valid.name, valid);
    this.#own.add(valid.name);
    return valid.name;
  }

  choose(name: string): void {
    if (name !== randomName) this.named(name);
    this.#current = name;
  }

  /** Returns the current scenario's fault of access tokens. A request for a token belongs to no payment. */
  currentToken(): NonNullable<Scenario["token"]> {
    return this.#known.get(this.#current)?.token ?? {};
  }

  /**
   * Assigns a scenario to a clientId, before or after the creation of its payment. Returns the scenario's
   * name.
   */
  assign(clientId: string, name: string): string {
    const drawn = name === randomName ? this.#draw() : this.named(name).name;
    this.#assigned.set(clientId, drawn);
    return drawn;
  }

  /** Returns the name of the scenario that a new payment asks for, or of the current scenario. */
  nameFor(request: NewPayment): string {
    return this.askedFor(request) ?? (this.#current === randomName ? this.#draw() : this.#current);
  }

  /**
   * Returns the name of the scenario that was assigned to the clientId. Otherwise, returns the name that the
   * clientId or the amount asks for, or `undefined`.
   */
  askedFor({ clientId, total }: NewPayment): string | undefined {
    return this.#assigned.get(clientId) ?? this.#bySuffix(clientId) ?? byAmount(total.value);
  }

  /** The part of the registry that a state file keeps. */
  get saved() {
    return {
      scenario: this.#current,
      // The catalogue is not saved, because a newer version of the sandbox may change its scenarios.
      scenarios: [...this.#own].map((name) => this.named(name)),
      /** The names of the assigned scenarios, by clientId. */
      assigned: Object.fromEntries(this.#assigned),
    };
  }

  /** Restores the scenarios of an earlier run. The scenarios that were given to this run have precedence. */
  restore({ scenario, scenarios, assigned }: ScenarioRegistry["saved"], given: { scenario: boolean }): void {
    for (const own of scenarios) if (!this.#own.has(own.name)) this.add(own);
    // A scenario of the catalogue may no longer exist in this version.
    for (const [clientId, name] of Object.entries(assigned))
      if (this.#known.has(name)) this.#assigned.set(clientId, name);
    if (!given.scenario && (scenario === randomName || this.#known.has(scenario))) this.choose(scenario);
  }

  #draw(): string {
    return catalogue[Math.floor(this.#random.fraction() * catalogue.length)]!.name;
  }

  /** Returns the name of the scenario after the last colon or full stop, as in `order-7:webhook-doubled`. */
  #bySuffix(clientId: string): string | undefined {
    const suffix = /[:.]([a-z0-9-]+)$/.exec(clientId)?.[1];
    return suffix !== undefined && this.#known.has(suffix) ? suffix : undefined;
  }
}

/** Returns the amount that asks for a scenario of the catalogue; `undefined` for other scenarios. */
export function choosingAmount(name: string): number | undefined {
  const index = catalogue.findIndex((scenario) => scenario.name === name);
  return index === -1 ? undefined : firstChoosingAmount + index;
}

function byAmount(value: string): string | undefined {
  return catalogue[Number(value.split(".")[0]) - firstChoosingAmount]?.name;
}

/**
 * The faults of access tokens. The current scenario decides about token requests. A payment can also ask for
 * a scenario with token faults, but the payment's token exists already. The creation of such a payment is
 * refused once, as if the token had expired. If the scenario has a `token.answer`, the next token request
 * gets this answer.
 */
export class TokenFaults {
  readonly #refused = new Set<string>();
  #next: NonNullable<Scenario["token"]> | undefined;

  constructor(private readonly scenarios: ScenarioRegistry) {}

  /** Returns whether the token of this creation request counts as expired. */
  refusesCreation(request: NewPayment): boolean {
    const name = this.scenarios.askedFor(request);
    const token = name === undefined ? undefined : this.scenarios.named(name).token;
    if (token === undefined || this.#refused.has(request.clientId)) return false;
    this.#refused.add(request.clientId);
    if (token.answer !== undefined) this.#next = token;
    return true;
  }

  /** Returns the fault for one request to the token address; empty if there is none. */
  takeFault(): NonNullable<Scenario["token"]> {
    const next = this.#next ?? this.scenarios.currentToken();
    this.#next = undefined;
    return next;
  }
}

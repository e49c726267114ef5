import { misused } from "../misused.js";
import { type PaymentRequest } from "../state/payments.js";
import { type Randomness } from "../state/randomness.js";
import { catalogue, firstChoosingAmount, normal } from "./catalogue.js";
import { randomName, type Scenario, scenarioSchema } from "./scenario.js";

/** What is kept of a book beyond its sandbox's end. */
export interface KeptBook {
  scenario: string;
  scenarios: readonly Scenario[];
  /** Names by clientId. */
  assigned?: Readonly<Record<string, string>>;
}

/** Which scenarios there are, and which one a payment gets. */
export class ScenarioBook {
  readonly #known = new Map<string, Scenario>([normal, ...catalogue].map((each) => [each.name, each]));
  readonly #own = new Set<string>();
  readonly #forClientId = new Map<string, string>();
  readonly #randomness: Randomness;
  #current = normal.name;

  constructor(randomness: Randomness, own: readonly Scenario[]) {
    this.#randomness = randomness;
    for (const scenario of own) this.add(scenario);
  }

  /** Every one, the catalogue's first. */
  list(): Scenario[] {
    return [...this.#known.values()];
  }

  /** The name of the one that payments get unless they ask for another. */
  get current(): string {
    return this.#current;
  }

  /** By its name; `random` is none of its own. Throws `sandbox_misused` for an unknown one. */
  named(name: string): Scenario {
    return this.#known.get(name) ?? misused(`There is no scenario named ${JSON.stringify(name)}.`);
  }

  /** Takes a scenario in, in place of one with the same name; answers its name. */
  add(scenario: Scenario): string {
    const result = scenarioSchema.safeParse(scenario);
    if (!result.success) {
      const problems = result.error.issues.map(
        ({ path, message }) => `${path.join(".") || "it"}: ${message}`,
      );
      misused(`The scenario cannot be read. ${problems.join("; ")}.`);
    }
    const { name } = result.data;
    this.#known.set(name, result.data);
    this.#own.add(name);
    return name;
  }

  /** From now on, for payments that ask for none. */
  choose(name: string): void {
    if (name !== randomName) this.named(name);
    this.#current = name;
  }

  /** What the current scenario has for access tokens, which belong to no payment. */
  currentToken(): NonNullable<Scenario["token"]> {
    return this.#known.get(this.#current)?.token ?? {};
  }

  /** For the payment of this clientId, before or after it was created; answers the name, of `random` the one drawn. */
  assign(clientId: string, name: string): string {
    const drawn = name === randomName ? this.#draw() : this.named(name).name;
    this.#forClientId.set(clientId, drawn);
    return drawn;
  }

  /** The scenario's name for a new payment: the one that it asks for, or the current one. */
  nameFor(request: PaymentRequest): string {
    return this.askedFor(request) ?? (this.#current === randomName ? this.#draw() : this.#current);
  }

  /** What was assigned to its clientId, or what its clientId or amount asks for. */
  askedFor({ clientId, total }: PaymentRequest): string | undefined {
    return this.#forClientId.get(clientId) ?? this.#byEndOf(clientId) ?? byAmount(total.value);
  }

  get kept(): KeptBook {
    return {
      scenario: this.#current,
      // The catalogue's are not kept: a newer sandbox may describe them better.
      scenarios: [...this.#own].map((name) => this.named(name)),
      assigned: Object.fromEntries(this.#forClientId),
    };
  }

  /** Takes over the book of an earlier run, but for what this one was given. */
  resume({ scenario, scenarios, assigned = {} }: KeptBook, given: { scenario: boolean }): void {
    for (const own of scenarios) if (!this.#own.has(own.name)) this.add(own);
    for (const [clientId, name] of Object.entries(assigned)) this.#forClientId.set(clientId, name);
    if (!given.scenario) this.choose(scenario);
  }

  #draw(): string {
    return catalogue[Math.floor(this.#randomness.fraction() * catalogue.length)]!.name;
  }

  /** `order-7:webhook-doubled`: what stands behind the last colon or full stop. */
  #byEndOf(clientId: string): string | undefined {
    const end = /[:.]([a-z0-9-]+)$/.exec(clientId)?.[1];
    return end !== undefined && this.#known.has(end) ? end : undefined;
  }
}

/** The amount with which a payment asks for a scenario of the catalogue; `undefined` for others. */
export function choosingAmount(name: string): number | undefined {
  const place = catalogue.findIndex((scenario) => scenario.name === name);
  return place === -1 ? undefined : firstChoosingAmount + place + 1;
}

function byAmount(value: string): string | undefined {
  return catalogue[Number(value.split(".")[0]) - firstChoosingAmount - 1]?.name;
}

import { misused } from "../misused.js";
import { webhookAddressProblem } from "../webhook/address-problem.js";
import { type Keeper } from "./keeper.js";

/** A registered webhook address (interface document, 4.4). */
export interface WebhookAddress {
  readonly id: string;
  readonly url: string;
  readonly addedAt: string;
}

/** The addresses that webhooks go to. */
export class Addresses {
  readonly #byUrl = new Map<string, WebhookAddress>();
  readonly #allowRemote: boolean;
  readonly #keeper: Keeper;
  readonly #now: () => Date;
  #count = 0;

  constructor(options: { allowRemote: boolean; keeper: Keeper; now: () => Date }) {
    this.#allowRemote = options.allowRemote;
    this.#keeper = options.keeper;
    this.#now = options.now;
  }

  async resume(): Promise<void> {
    for (const address of await this.#keeper.load<WebhookAddress>("address")) {
      this.#byUrl.set(address.url, address);
      this.#count = Math.max(this.#count, Number(address.id.slice(2)));
    }
  }

  list(): WebhookAddress[] {
    return [...this.#byUrl.values()];
  }

  has(url: string): boolean {
    return this.#byUrl.has(url);
  }

  /** By its id or its url. */
  find(idOrUrl: string): WebhookAddress | undefined {
    return this.#byUrl.get(idOrUrl) ?? this.list().find(({ id }) => id === idOrUrl);
  }

  /** Adding one twice changes nothing. Throws `sandbox_misused` for an address that may not be called. */
  add(url: string): WebhookAddress {
    this.check(url);
    const existing = this.#byUrl.get(url);
    if (existing) return existing;
    this.#count += 1;
    const address = { id: `wh${this.#count}`, url, addedAt: this.#now().toISOString() };
    this.#byUrl.set(url, address);
    this.#keeper.put("address", address.id, address);
    return address;
  }

  remove(idOrUrl: string): void {
    const address = this.find(idOrUrl);
    if (address === undefined) return;
    this.#byUrl.delete(address.url);
    this.#keeper.remove("address", address.id);
  }

  /** Throws `sandbox_misused` for an address that may not be called; answers the others. */
  check(url: string): string {
    const problem = webhookAddressProblem(url, this.#allowRemote);
    return problem === undefined ? url : misused(problem);
  }
}

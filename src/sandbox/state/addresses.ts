import { isLoopback } from "../../shared/is-loopback.js";
import { throwMisuse } from "./misuse.js";
import { type StateFile } from "./state-file.js";

/** A registered webhook address (interface document, 4.4). */
export interface WebhookAddress {
  /** The id of the address in the dashboard and in `unregisterWebhook`. */
  readonly id: string;
  /** The address to which webhooks are posted. */
  readonly url: string;
  /** The time of the registration, in ISO 8601 and UTC. */
  readonly addedAt: string;
}

export class WebhookAddresses {
  readonly #byUrl = new Map<string, WebhookAddress>();
  #lastNumber = 0;

  constructor(private readonly options: { allowRemote: boolean; now: () => Date; stateFile: StateFile }) {}

  async restore(): Promise<void> {
    for (const address of await this.options.stateFile.load<WebhookAddress>("address")) {
      this.#byUrl.set(address.url, address);
      this.#lastNumber = Math.max(this.#lastNumber, Number(address.id.slice(2)));
    }
  }

  list(): WebhookAddress[] {
    return [...this.#byUrl.values()];
  }

  has(url: string): boolean {
    return this.#byUrl.has(url);
  }

  find(idOrUrl: string): WebhookAddress | undefined {
    return this.#byUrl.get(idOrUrl) ?? this.list().find(({ id }) => id === idOrUrl);
  }

  /** Adds an address if it is not registered. Throws `sandbox_misused` if the address is not allowed. */
  add(url: string): WebhookAddress {
    this.check(url);
    const existing = this.#byUrl.get(url);
    if (existing) return existing;
    this.#lastNumber += 1;
    const address = { id: `wh${this.#lastNumber}`, url, addedAt: this.options.now().toISOString() };
    this.#byUrl.set(url, address);
    this.options.stateFile.put("address", address.id, address);
    return address;
  }

  remove(idOrUrl: string): void {
    const address = this.find(idOrUrl);
    if (address === undefined) return;
    this.#byUrl.delete(address.url);
    this.options.stateFile.remove("address", address.id);
  }

  /** Returns the address. Throws `sandbox_misused` if webhooks may not go there. */
  check(url: string): string {
    const problem = webhookAddressProblem(url, this.options.allowRemote);
    return problem === undefined ? url : throwMisuse(problem);
  }
}

/**
 * Returns the reason why webhooks may not go to an address, or `undefined`. Without `allowRemote`, only this
 * machine is allowed, so that a production address in a configuration never receives invented payments.
 */
export function webhookAddressProblem(url: string, allowRemote: boolean): string | undefined {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !["http:", "https:"].includes(parsed.protocol)) {
    return `${JSON.stringify(url)} is not an absolute http or https address.`;
  }
  const { hostname } = parsed;
  // The IP address of a name such as localhost is checked later, when a webhook is sent.
  if (allowRemote || /^(.*\.)?localhost$/.test(hostname) || isLoopback(hostname)) return undefined;
  return (
    `${hostname} is not on this machine. The sandbox sends webhooks to localhost only; ` +
    "set allowRemoteWebhooks to let it send them elsewhere."
  );
}

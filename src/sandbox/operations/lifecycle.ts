import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { type SandboxLifecycle } from "../contract.js";
import { type SandboxCore, type Restoration } from "../core/core.js";
import { type ResolvedSandboxOptions } from "../options/options.js";
import { throwMisuse } from "../state/misuse.js";
import { shopVariables } from "../state/shop-variables.js";
import { type WebhookSender } from "../webhook/sender.js";

/** Makes the part of the sandbox that starts and closes it. */
export function createLifecycle(
  { activity, clock, signing, stateFile, tokens }: SandboxCore,
  { restoration, sender, server }: { restoration: Restoration; sender: WebhookSender; server: SandboxServer },
): SandboxLifecycle {
  const requireUrl = (): string =>
    server.url ?? throwMisuse("The sandbox has no address yet: await start() first.");
  return {
    get url() {
      return requireUrl();
    },
    get tokenUrl() {
      return `${requireUrl()}/oauth/token`;
    },
    get variables() {
      return shopVariables({ url: requireUrl(), client: tokens.clients[0]!, signing: signing.state });
    },
    start: async ({ keepAlive = true } = {}) => {
      await restoration.done;
      await server.start(keepAlive);
    },
    close: async () => {
      sender.close();
      clock.close();
      await server.close();
      await activity.idle();
      await restoration.done.catch(() => {});
      await stateFile.close();
    },
  };
}

/** The sandbox's HTTP server, which can be started once and closed. */
export class SandboxServer {
  readonly #server: Server;
  #started: Promise<unknown> | undefined;

  constructor(
    listener: RequestListener,
    private readonly options: ResolvedSandboxOptions,
  ) {
    this.#server = createServer(listener);
  }

  /** Starts to listen. A second call waits for the same start. */
  async start(keepAlive: boolean): Promise<void> {
    const { port, host } = this.options;
    this.#started ??= once(this.#server.listen(port, host), "listening");
    await this.#started;
    if (!keepAlive) this.#server.unref().on("connection", (socket) => socket.unref());
  }

  /** The address of the sandbox: `publicUrl` or the listening address; `undefined` if there is neither. */
  get url(): string | undefined {
    return this.options.publicUrl ?? this.#listeningUrl();
  }

  /** Returns the address of the sandbox. Without an address, returns the host that the request names. */
  baseUrl(requestHost: string | undefined): string {
    return this.url ?? `http://${requestHost ?? "localhost"}`;
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return;
    await new Promise((resolve) => {
      this.#server.close(resolve);
      this.#server.closeAllConnections();
    });
  }

  #listeningUrl(): string | undefined {
    const address = this.#server.address();
    if (address === null || typeof address === "string") return undefined;
    // A browser cannot open the address that means "every interface", such as 0.0.0.0.
    if (address.address === "0.0.0.0" || address.address === "::") return `http://localhost:${address.port}`;
    const host = address.family === "IPv6" ? `[${address.address}]` : address.address;
    return `http://${host}:${address.port}`;
  }
}

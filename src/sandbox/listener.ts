import { createServer, type RequestListener, type Server } from "node:http";

/** An HTTP server that can be started once and closed. */
export class Listener {
  readonly #server: Server;
  #started: Promise<void> | undefined;

  constructor(listener: RequestListener) {
    this.#server = createServer(listener);
  }

  /** Listens; asking again waits for the same start. */
  start(port: number, host: string): Promise<void> {
    this.#started ??= new Promise((resolve, reject) => {
      this.#server.once("error", reject).listen(port, host, () => {
        this.#server.off("error", reject);
        resolve();
      });
    });
    return this.#started;
  }

  /** The address it listens on, or `undefined` while it does not. */
  get url(): string | undefined {
    const address = this.#server.address();
    if (address === null || typeof address === "string") return undefined;
    // "Every interface" is nothing that a browser could open.
    if (address.address === "0.0.0.0" || address.address === "::") return `http://localhost:${address.port}`;
    const host = address.family === "IPv6" ? `[${address.address}]` : address.address;
    return `http://${host}:${address.port}`;
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return;
    await new Promise((resolve) => {
      this.#server.close(resolve);
      this.#server.closeAllConnections();
    });
  }
}

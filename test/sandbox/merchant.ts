import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";

/** A webhook that arrived. */
export interface Arrived {
  headers: IncomingHttpHeaders;
  rawBody: Buffer;
}

/** A merchant's server that uses only node:http, like the server of a merchant without the kit. */
export class Merchant {
  readonly webhooks: Arrived[] = [];
  readonly visited: string[] = [];
  /** The responses to the next webhooks; 200 when the list is empty. */
  readonly answers: ((res: ServerResponse) => void)[] = [];
  readonly #server: Server;
  #arrival: (() => void) | undefined;
  #url = "";

  private constructor() {
    this.#server = createServer((req, res) => {
      const chunks: Buffer[] = [];
      req.on("data", (chunk: Buffer) => chunks.push(chunk));
      req.on("end", () => {
        if (req.method !== "POST") {
          this.visited.push(req.url!);
          res.end(`shop ${req.url}`);
          return;
        }
        this.webhooks.push({ headers: req.headers, rawBody: Buffer.concat(chunks) });
        this.#arrival?.();
        const answer = this.answers.shift() ?? ((ok) => ok.end("thank you"));
        answer(res);
      });
    });
  }

  static async open(): Promise<Merchant> {
    const merchant = new Merchant();
    merchant.#server.listen(0, "127.0.0.1");
    await once(merchant.#server, "listening");
    const address = merchant.#server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    merchant.#url = `http://127.0.0.1:${address.port}`;
    return merchant;
  }

  get url(): string {
    return this.#url;
  }

  get webhookUrl(): string {
    return `${this.url}/webhook`;
  }

  /** Resolves when the next webhook has arrived. */
  arrival(): Promise<void> {
    return new Promise((resolve) => {
      this.#arrival = resolve;
    });
  }

  /** Returns the request with which this merchant creates a payment. */
  order(clientId: string, total = { value: "1475", currency: "KMF" }) {
    return {
      purchase: { total },
      clientId,
      cancelUrl: `${this.url}/canceled?order=7&x=a%2Fb`,
      successUrl: `${this.url}/thanks?order=7&x=a%2Fb`,
    };
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Returns a function that responds with this status. */
export function status(code: number, headers: Record<string, string> = {}): (res: ServerResponse) => void {
  return (res) => res.writeHead(code, headers).end();
}

import { connect, createServer, type Socket } from "node:net";
import { portOf } from "../service/local-server.js";

/** What becomes of the open connections when an address moves. */
export type Existing = "cut" | "silence" | "leave";

/** An address that leads to one server at a time, like that of a load balancer or a virtual IP. */
export interface VirtualAddress {
  readonly port: number;
  /** The number of commits whose answer was lost. */
  readonly lostCommits: number;
  /** The time that an answer of the server takes longer, in milliseconds. */
  latencyMs: number;
  /** Each commit of this number loses its answer and its connection; 0: none does. */
  loseEachCommit: number;
  /** Leads new connections to `port`, or refuses them where it is `undefined`. */
  point(port: number | undefined, existing: Existing): void;
  close(): Promise<void>;
}

/** The answer of PostgreSQL to a commit. */
const committed = /COMMIT\0/;

/** Starts an address on a free port of this machine. */
export async function virtualAddress(target: number): Promise<VirtualAddress> {
  const pairs = new Set<Pair>();
  let current: number | undefined = target;
  let commits = 0;
  const server = createServer((client) => {
    client.on("error", () => undefined);
    if (current === undefined) return void client.destroy();
    const pair = new Pair(client, connect({ host: "127.0.0.1", port: current }), () => pairs.delete(pair));
    pairs.add(pair);
    client.on("data", (bytes: Buffer) => void (pair.isSilent || pair.server.write(bytes)));
    pair.server.on("data", (bytes: Buffer) => {
      if (address.loseEachCommit > 0 && committed.test(bytes.toString("latin1"))) {
        commits += 1;
        if (commits % address.loseEachCommit === 0) {
          address.lostCommits += 1;
          return pair.cut();
        }
      }
      pair.pass(bytes, address.latencyMs);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const address = {
    port: portOf(server),
    lostCommits: 0,
    latencyMs: 0,
    loseEachCommit: 0,
    point(port: number | undefined, existing: Existing) {
      current = port;
      for (const pair of pairs) {
        if (existing === "cut") pair.cut();
        if (existing === "silence") pair.isSilent = true;
      }
    },
    async close() {
      for (const pair of pairs) pair.cut();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
  return address;
}

/** A connection through the address: that of the client, and that to the server. */
class Pair {
  /** Whether no byte passes any more, and no end of the server either. */
  isSilent = false;
  /** The answers under way. */
  readonly #answers: Buffer[] = [];

  constructor(
    readonly client: Socket,
    readonly server: Socket,
    readonly onEnd: () => void,
  ) {
    client.on("close", () => this.cut());
    server.on("error", () => undefined).on("close", () => this.isSilent || this.cut());
  }

  /** Passes an answer of the server on, after `latencyMs`. */
  pass(bytes: Buffer, latencyMs: number): void {
    this.#answers.push(bytes);
    // The first one each time: none may overtake another when the latency changes.
    const pass = () => {
      const first = this.#answers.shift()!;
      if (!this.isSilent) this.client.write(first);
    };
    if (latencyMs > 0) setTimeout(pass, latencyMs);
    else pass();
  }

  cut(): void {
    this.onEnd();
    this.client.destroy();
    this.server.destroy();
  }
}

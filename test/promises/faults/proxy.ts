import { connect, createServer, type Socket } from "node:net";
import { portOf } from "../../service/local-server.js";

/** A proxy for a database server. A test can break, block or watch its connections. */
export interface Proxy {
  url: string;
  /** The number of open connections. */
  connections(): number;
  /** Breaks all connections, and accepts no further ones. */
  cut(): void;
  /** Blocks all bytes, without breaking a connection. */
  hold(): void;
  /**
   * Drops all bytes of the present connections from now on, without breaking them. New connections work. The server learns
   * when the kit ends a connection, unless the connection is deaf as well.
   */
  silence(options?: { isDeaf: boolean }): void;
  /** Passes the server's bytes so many milliseconds later from now on. */
  delay(ms: number): void;
  /** Passes bytes again. */
  open(): void;
  /** Breaks the connection of the next such statement, after the server has answered it. */
  loseReplyTo(statement: RegExp): Promise<void>;
  close(): Promise<void>;
}

export async function proxyTo(target: string): Promise<Proxy> {
  const { hostname, port } = new URL(target);
  const pairs = new Set<readonly [Socket, Socket]>();
  const silent = new Set<readonly [Socket, Socket]>();
  const deaf = new Set<readonly [Socket, Socket]>();
  let state: "open" | "held" | "cut" = "open";
  let delayMs = 0;
  let trap: { statement: RegExp; sprung: () => void } | undefined;

  // A deaf connection does not even answer the end of the other side.
  const server = createServer({ allowHalfOpen: true }, (client) => {
    if (state === "cut") return void client.destroy();
    const upstream = connect({ host: hostname, port: Number(port) });
    const pair = [client, upstream] as const;
    pairs.add(pair);
    let lost: (() => void) | undefined;
    const end = () => {
      pairs.delete(pair);
      silent.delete(pair);
      for (const socket of pair) socket.destroy();
    };
    for (const socket of pair) {
      socket.on("error", end).on("close", end);
      if (state === "held") socket.pause();
    }
    client.on("end", () => void (deaf.has(pair) || end()));
    client.on("data", (bytes: Buffer) => {
      if (trap?.statement.test(bytes.toString("latin1"))) {
        lost = trap.sprung;
        trap = undefined;
      }
      upstream.write(bytes);
    });
    upstream.on("data", (bytes: Buffer) => {
      if (!lost && delayMs > 0) return void setTimeout(() => client.write(bytes), delayMs);
      if (!lost) return void client.write(bytes);
      end();
      lost();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = new URL(target);
  url.host = `127.0.0.1:${portOf(server)}`;

  const breakAll = () => {
    for (const pair of [...pairs, ...silent]) for (const socket of pair) socket.destroy();
  };
  return {
    url: url.href,
    connections: () => pairs.size,
    cut() {
      state = "cut";
      breakAll();
    },
    hold() {
      state = "held";
      for (const pair of pairs) for (const socket of pair) socket.pause();
    },
    silence({ isDeaf } = { isDeaf: false }) {
      for (const pair of pairs) {
        pairs.delete(pair);
        silent.add(pair);
        if (isDeaf) deaf.add(pair);
        for (const socket of pair) socket.removeAllListeners("data").resume();
      }
    },
    delay: (ms) => void (delayMs = ms),
    open() {
      state = "open";
      for (const pair of pairs) for (const socket of pair) socket.resume();
    },
    loseReplyTo: (statement) => new Promise((sprung) => (trap = { statement, sprung })),
    async close() {
      breakAll();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}

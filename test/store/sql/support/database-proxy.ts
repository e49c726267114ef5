import { once } from "node:events";
import net, { type AddressInfo } from "node:net";

/** A proxy between a client and its database, which counts round trips and injects faults. */
export interface DatabaseProxy {
  url: string;
  /** Returns the number of open connections. */
  connections: () => number;
  /** Returns how often clients that sent this text sent something after the server did. */
  roundTrips: (text: string) => number;
  /** Drops all bytes of clients that sent this text, and of their servers, from now on. */
  hang: (text: string) => void;
  /** Closes the connections of clients that sent this text. */
  cut: (text: string) => void;
  /** Never answers clients that connect from now on. */
  ignoreNew: () => void;
  /** Replaces a text that clients send by another one of the same length; the empty text for none. */
  replace: (text: string, by: string) => void;
  /** Passes on the next commit of clients that sent this text, and closes their connections. */
  cutAtCommit: (text: string) => void;
  close: () => void;
}

export async function proxyTo(target: string): Promise<DatabaseProxy> {
  const url = new URL(target);
  const { hostname, port } = url;
  const pairs: Pair[] = [];
  let [wanted, replacement] = ["", ""];
  let ignoresNew = false;
  const ignored: net.Socket[] = [];
  const server = net.createServer((client) => {
    if (ignoresNew) return void ignored.push(client.on("error", () => undefined).resume());
    const upstream = net.connect(Number(port), hostname);
    const pair: Pair = { client, upstream, said: "", roundTrips: 0, serverSpoke: false, cutsAtCommit: false };
    pairs.push(pair);
    for (const socket of [client, upstream]) socket.on("error", () => undefined);
    client.on("data", (bytes) => {
      const text = bytes.toString("latin1");
      pair.said += text;
      if (pair.serverSpoke) pair.roundTrips++;
      pair.serverSpoke = false;
      upstream.write(wanted === "" ? bytes : Buffer.from(text.replaceAll(wanted, replacement), "latin1"));
      if (!pair.cutsAtCommit || !text.includes("commit")) return;
      client.resetAndDestroy();
      upstream.end();
    });
    upstream.on("data", (bytes) => {
      pair.serverSpoke = true;
      client.write(bytes);
    });
    client.on("end", () => upstream.end());
    upstream.on("end", () => client.end());
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  url.port = String((server.address() as AddressInfo).port);
  url.hostname = "127.0.0.1";
  const of = (text: string): Pair[] => pairs.filter(({ said }) => said.includes(text));
  return {
    url: url.href,
    connections: () => pairs.filter(({ client }) => !client.destroyed).length,
    roundTrips: (text) => of(text).reduce((sum, { roundTrips }) => sum + roundTrips, 0),
    hang: (text) => {
      for (const { client, upstream } of of(text))
        for (const socket of [client, upstream]) socket.removeAllListeners("data").resume();
    },
    cut: (text) => {
      for (const { client, upstream } of of(text)) [client, upstream].forEach((socket) => socket.destroy());
    },
    ignoreNew: () => void (ignoresNew = true),
    replace: (text, by) => void ([wanted, replacement] = [text, by]),
    cutAtCommit: (text) => {
      for (const pair of of(text)) pair.cutsAtCommit = true;
    },
    close: () => {
      for (const { client, upstream } of pairs) [client, upstream].forEach((socket) => socket.destroy());
      for (const client of ignored) client.destroy();
      server.close();
    },
  };
}

interface Pair {
  client: net.Socket;
  upstream: net.Socket;
  said: string;
  roundTrips: number;
  serverSpoke: boolean;
  cutsAtCommit: boolean;
}

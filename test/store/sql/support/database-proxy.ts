import { once } from "node:events";
import net, { type AddressInfo } from "node:net";

/** A proxy between a client and its database, which counts round trips and does harm. */
export interface DatabaseProxy {
  url: string;
  /** How often clients that sent this text spoke after the server did. */
  turns: (text: string) => number;
  /** Takes their bytes from now on, and says nothing. */
  hang: (text: string) => void;
  cut: (text: string) => void;
  /** Says nothing to whoever connects from now on. */
  ignoreNew: () => void;
  /** Puts one text in the place of another, as long, in what clients send; the empty one for none. */
  spoil: (text: string, by: string) => void;
  /** Passes their next commit on, and cuts them off. */
  cutAtCommit: (text: string) => void;
  close: () => void;
}

export async function proxyTo(target: string): Promise<DatabaseProxy> {
  const url = new URL(target);
  const { hostname, port } = url;
  const pairs: Pair[] = [];
  let [wanted, spoilt] = ["", ""];
  let ignoresNew = false;
  const ignored: net.Socket[] = [];
  const server = net.createServer((client) => {
    if (ignoresNew) return void ignored.push(client.on("error", () => undefined).resume());
    const upstream = net.connect(Number(port), hostname);
    const pair: Pair = { client, upstream, said: "", turns: 0, serverSpoke: false, cutsAtCommit: false };
    pairs.push(pair);
    for (const socket of [client, upstream]) socket.on("error", () => undefined);
    client.on("data", (bytes) => {
      const text = bytes.toString("latin1");
      pair.said += text;
      if (pair.serverSpoke) pair.turns++;
      pair.serverSpoke = false;
      upstream.write(wanted === "" ? bytes : Buffer.from(text.replaceAll(wanted, spoilt), "latin1"));
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
    turns: (text) => of(text).reduce((sum, { turns }) => sum + turns, 0),
    hang: (text) => {
      for (const { client, upstream } of of(text))
        for (const socket of [client, upstream]) socket.removeAllListeners("data").resume();
    },
    cut: (text) => {
      for (const { client, upstream } of of(text)) [client, upstream].forEach((socket) => socket.destroy());
    },
    ignoreNew: () => void (ignoresNew = true),
    spoil: (text, by) => void ([wanted, spoilt] = [text, by]),
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
  turns: number;
  serverSpoke: boolean;
  cutsAtCommit: boolean;
}

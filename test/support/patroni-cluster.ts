import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { findProgram, freePort, ownFolder, startProgram } from "./own-servers.js";
import { type VirtualAddress, virtualAddress } from "./virtual-address.js";

/** The programs that a cluster of Patroni needs. */
export const patroniPrograms = ["initdb", "postgres", "pg_basebackup", "pg_ctl", "patroni", "etcd"];

/** Two nodes of Patroni with a PostgreSQL each, and an etcd. */
export interface PatroniCluster {
  /** Leads to the node that says to be the leader. Connections are cut when another one does. */
  readonly address: VirtualAddress;
  /** Resolves when there is a leader, and a standby that every commit waits for. Returns the names of both. */
  untilComplete(): Promise<{ leader: string; standby: string }>;
  /** Hands the role of the leader over. Resolves when Patroni has done it. */
  switchOver(names: { leader: string; standby: string }): Promise<void>;
  /** Ends a node like a power failure. */
  kill(name: string): void;
  /** Resolves when this node leads. */
  untilLeader(name: string): Promise<void>;
  close(): Promise<void>;
}

interface Node {
  name: string;
  apiPort: number;
  port: number;
  folder: string;
  kill(): void;
}

/** A leader that says nothing for this time loses its role. */
const ttlSeconds = 20;
const limitMs = 90_000;

/** Starts the cluster. Close it before `stopOwnServers`. */
export async function startPatroni(): Promise<PatroniCluster> {
  const etcdPort = await startEtcd();
  const nodes = [await startNode("one", etcdPort)];
  await untilRole(nodes, "primary");
  nodes.push(await startNode("two", etcdPort));
  const address = await virtualAddress(nodes[0]!.port);
  const following = follow(address, nodes);
  return {
    address,
    async untilComplete() {
      const standby = await untilRole(nodes, "synchronous");
      const leader = await untilRole(nodes, "primary");
      return { leader, standby };
    },
    async switchOver({ leader, standby }) {
      const { apiPort } = nodes.find(({ name }) => name === leader)!;
      const body = JSON.stringify({ leader, candidate: standby });
      const answer = await fetch(`http://127.0.0.1:${apiPort}/switchover`, { method: "POST", body });
      const said = await answer.text();
      if (!answer.ok) throw new Error(`Patroni did not switch over: ${said}`);
    },
    kill: (name) => nodes.find((node) => node.name === name)!.kill(),
    untilLeader: async (name) =>
      void (await untilRole(
        nodes.filter((node) => node.name === name),
        "primary",
      )),
    async close() {
      await following.stop();
      await address.close();
      for (const node of nodes) node.kill();
    },
  };
}

async function startEtcd(): Promise<number> {
  const [port, peerPort] = [await freePort(), await freePort()];
  const [client, peer] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peerPort}`];
  const options = {
    "data-dir": path.join(ownFolder(), "etcd"),
    name: "one",
    "listen-client-urls": client,
    "advertise-client-urls": client,
    "listen-peer-urls": peer,
    "initial-advertise-peer-urls": peer,
    "initial-cluster": `one=${peer}`,
    "log-level": "error",
  };
  const flags = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  startProgram("etcd", [...flags, "--unsafe-no-fsync"]);
  await until("etcd", async () => (await fetch(`${client}/health`)).ok);
  return port;
}

async function startNode(name: string, etcdPort: number): Promise<Node> {
  const folder = ownFolder();
  const [apiPort, port] = [await freePort(), await freePort()];
  const dataFolder = path.join(folder, "data");
  const configuration = {
    scope: "shop",
    name,
    restapi: { listen: `127.0.0.1:${apiPort}`, connect_address: `127.0.0.1:${apiPort}` },
    etcd3: { host: `127.0.0.1:${etcdPort}` },
    bootstrap: {
      dcs: {
        ttl: ttlSeconds,
        loop_wait: 1,
        retry_timeout: 6,
        synchronous_mode: true,
        postgresql: { parameters: { shared_buffers: "16MB", max_connections: 100 } },
      },
      initdb: [{ encoding: "UTF8" }, "no-sync"],
    },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: `127.0.0.1:${port}`,
      data_dir: dataFolder,
      bin_dir: path.dirname(findProgram("postgres")!),
      pgpass: path.join(folder, "pgpass"),
      authentication: { superuser: { username: "postgres" }, replication: { username: "postgres" } },
      parameters: { unix_socket_directories: folder },
      pg_hba: [
        "local all all trust",
        "host all all 127.0.0.1/32 trust",
        "host replication all 127.0.0.1/32 trust",
      ],
    },
  };
  const file = path.join(folder, "patroni.yml");
  // JSON is YAML.
  writeFileSync(file, JSON.stringify(configuration));
  const patroni = startProgram("patroni", [file]);
  const kill = (): void => {
    patroni.child.kill("SIGKILL");
    const server = postmasterIn(dataFolder);
    if (server !== undefined) process.kill(server, "SIGQUIT");
  };
  return { name, apiPort, port, folder, kill };
}

/** Returns the process of the PostgreSQL in a folder, where one runs. It is not a child of Patroni. */
function postmasterIn(dataFolder: string): number | undefined {
  try {
    const pid = Number(readFileSync(path.join(dataFolder, "postmaster.pid"), "utf8").split("\n", 1)[0]);
    process.kill(pid, 0);
    return pid;
  } catch {
    return undefined;
  }
}

/** Points the address to the leader, as a load balancer does that asks each node. */
function follow(address: VirtualAddress, nodes: readonly Node[]): { stop(): Promise<void> } {
  const stopping = new AbortController();
  let current: number | undefined;
  const following = (async () => {
    while (!stopping.signal.aborted) {
      const port = (await roleOf(nodes, "primary"))?.port;
      if (port !== current && !stopping.signal.aborted) address.point(port, "cut");
      current = port;
      await delay(100);
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await following;
    },
  };
}

async function roleOf(nodes: readonly Node[], role: "primary" | "synchronous"): Promise<Node | undefined> {
  const roles = await Promise.all(
    nodes.map(({ apiPort }) =>
      fetch(`http://127.0.0.1:${apiPort}/${role}`, { signal: AbortSignal.timeout(2000) })
        .then(async (answer) => (await answer.text(), answer.ok))
        .catch(() => false),
    ),
  );
  return nodes[roles.indexOf(true)];
}

async function untilRole(nodes: readonly Node[], role: "primary" | "synchronous"): Promise<string> {
  let found: Node | undefined;
  await until(`a node that is ${role}`, async () => (found = await roleOf(nodes, role)) !== undefined);
  return found!.name;
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const from = performance.now();
  while (!(await holds().catch(() => false))) {
    if (performance.now() - from > limitMs) throw new Error(`This did not happen in time: ${what}`);
    await delay(50);
  }
}

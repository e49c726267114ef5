import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePort, ownFolder, type OwnServer, startProgram } from "./own-servers.js";

/** Three nodes of etcd on this machine. */
export interface EtcdCluster {
  /** The addresses for clients. */
  readonly endpoints: readonly string[];
  /** Resolves with the number of the node that leads, as the others see it. */
  leader(): Promise<number>;
  /** Resolves when all nodes follow one leader. */
  untilComplete(): Promise<void>;
  /** Ends a node like a power failure. */
  kill(node: number): Promise<void>;
  /** Starts a node again over its own data. */
  start(node: number): void;
}

/** Starts the cluster. `stopOwnServers` ends it. */
export async function startEtcdCluster(size = 3): Promise<EtcdCluster> {
  const nodes = await Promise.all(
    Array.from({ length: size }, async (_, index) => ({
      name: `node${index}`,
      client: `http://127.0.0.1:${await freePort()}`,
      peer: `http://127.0.0.1:${await freePort()}`,
      folder: path.join(ownFolder(), "etcd"),
    })),
  );
  const programs: OwnServer[] = [];
  const start = (index: number): void => {
    const { name, client, peer, folder } = nodes[index]!;
    const options = {
      "data-dir": folder,
      name,
      "listen-client-urls": client,
      "advertise-client-urls": client,
      "listen-peer-urls": peer,
      "initial-advertise-peer-urls": peer,
      "initial-cluster": nodes.map((node) => `${node.name}=${node.peer}`).join(),
      "log-level": "error",
    };
    programs[index] = startProgram(
      "etcd",
      // No test is about a loss of power.
      [...Object.entries(options).flatMap(([key, value]) => [`--${key}`, value]), "--unsafe-no-fsync"],
    );
  };
  nodes.forEach((_, index) => start(index));
  const endpoints = nodes.map(({ client }) => client);
  const cluster: EtcdCluster = {
    async untilComplete() {
      for (const until = performance.now() + 30_000; performance.now() < until; await delay(50)) {
        const leaders = (await Promise.all(endpoints.map(stateOf))).map((state) => state?.leader);
        if (leaders[0] !== undefined && leaders[0] !== "none" && new Set(leaders).size === 1) return;
      }
      throw new Error("The nodes of etcd follow no common leader.");
    },
    endpoints,
    start,
    kill: (index) => programs[index]!.stop("SIGKILL"),
    async leader() {
      for (const until = performance.now() + 30_000; performance.now() < until; await delay(10)) {
        const states = await Promise.all(endpoints.map(stateOf));
        const index = states.findIndex((state) => state !== undefined && state.leader === state.member);
        // The node itself and those that answer agree.
        const isAgreed = states.every(
          (state) => state === undefined || state.leader === states[index]?.member,
        );
        if (index !== -1 && isAgreed) return index;
      }
      throw new Error("No node of etcd leads.");
    },
  };
  await cluster.untilComplete();
  return cluster;
}

/** Returns which member a node is, and which one it says to lead. */
async function stateOf(endpoint: string): Promise<{ member: string; leader: string } | undefined> {
  try {
    const signal = AbortSignal.timeout(500);
    const answer = await fetch(`${endpoint}/v3/maintenance/status`, { method: "POST", body: "{}", signal });
    const { header, leader = "none" } = (await answer.json()) as {
      header: { member_id: string };
      leader?: string;
    };
    return { member: header.member_id, leader };
  } catch {
    return undefined;
  }
}

import { rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Client } from "pg";
import { freePort, type OwnServer, ownFolder, runProgram, startProgram } from "./own-servers.js";

/** A PostgreSQL server of a test. */
export interface PostgresNode {
  readonly port: number;
  readonly url: string;
  start(): Promise<void>;
  /** `immediate`: like a crash. `fast`: ends the sessions and sends everything to the standby first. */
  stop(mode: "fast" | "immediate"): Promise<void>;
  /** Makes the standby the primary. Resolves when it accepts writes. */
  promote(): Promise<void>;
  /** Makes the stopped server a standby of `primary`, for its next start. */
  follow(primary: PostgresNode): void;
}

/** The programs that a cluster needs. */
export const clusterPrograms = ["initdb", "postgres", "pg_basebackup"];

/** Starts one server without a standby. */
export async function startPostgres(): Promise<PostgresNode> {
  const folder = path.join(ownFolder(), "data");
  await runProgram("initdb", ["--no-sync", "-U", "postgres", "-A", "trust", "-E", "UTF8", "-D", folder]);
  const node = await nodeIn(folder);
  await node.start();
  return node;
}

/** Starts a primary, and a standby that every commit waits for. */
export async function startCluster(): Promise<{ primary: PostgresNode; standby: PostgresNode }> {
  const primary = await startPostgres();
  const folder = path.join(ownFolder(), "data");
  const source = ["-h", "127.0.0.1", "-p", String(primary.port), "-U", "postgres"];
  await runProgram("pg_basebackup", [...source, "--no-sync", "-c", "fast", "-R", "-D", folder]);
  const standby = await nodeIn(folder);
  await standby.start();
  // Only now, so that the copy has no such setting: after its promotion it has no standby to wait for.
  await waitForStandby(primary);
  return { primary, standby };
}

/** Makes every commit of the primary wait for its standby. Without this, the health of a kit says that it does not. */
export async function waitForStandby({ url }: PostgresNode): Promise<void> {
  await ask(url, "alter system set synchronous_standby_names = '*'");
  await ask(url, "select pg_reload_conf()");
  await untilTrue(url, "select count(*) = 1 as yes from pg_stat_replication where sync_state = 'sync'");
}

async function nodeIn(folder: string): Promise<PostgresNode> {
  const port = await freePort();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const settings = {
    port,
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    shared_buffers: "16MB",
    max_wal_senders: 4,
    // A standby that lost its primary looks for the new one shortly.
    wal_retrieve_retry_interval: "200ms",
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  let server: OwnServer | undefined;
  return {
    port,
    url,
    async start() {
      server = startProgram("postgres", ["-D", folder, ...options]);
      const ended = new Promise<never>((_, reject) =>
        server!.child.once("exit", () => reject(new Error(`PostgreSQL ended: ${server!.output()}`))),
      );
      await Promise.race([untilAnswers(url), ended]);
      // It may end later, when nobody waits for this.
      ended.catch(() => undefined);
    },
    stop: async (mode) => server?.stop(mode === "fast" ? "SIGINT" : "SIGQUIT"),
    async promote() {
      await ask(url, "select pg_promote(true, 60)");
      await untilTrue(url, "select not pg_is_in_recovery() as yes");
    },
    follow(primary) {
      const address = `host=127.0.0.1 port=${primary.port} user=postgres`;
      rmSync(path.join(folder, "postgresql.auto.conf"), { force: true });
      const own = {
        owner: path.join(folder, "standby.signal"),
        file: path.join(folder, "postgresql.auto.conf"),
      };
      writeFileSync(own.owner, "");
      writeFileSync(own.file, `primary_conninfo = '${address}'\n`, { mode: 0o644 });
    },
  };
}

/** Runs one statement on a connection of its own. */
export async function ask<Row = Record<string, unknown>>(url: string, sql: string): Promise<Row[]> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5000 });
  client.on("error", () => undefined);
  try {
    await client.connect();
    return (await client.query(sql)).rows as Row[];
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Resolves when the server at `url` runs statements. */
export async function untilAnswers(url: string): Promise<void> {
  await untilTrue(url, "select true as yes");
}

/** Repeats a question until the answer is yes, also while the server does not answer. */
async function untilTrue(url: string, sql: string, deadlineMs = 60_000): Promise<void> {
  const from = performance.now();
  for (;;) {
    const answer = await ask<{ yes: boolean }>(url, sql).catch((error: unknown) => error as Error);
    if (Array.isArray(answer) && answer[0]?.yes) return;
    if (performance.now() - from > deadlineMs)
      throw new Error(`${sql}: not in time; ${JSON.stringify(answer)}`);
    await delay(50);
  }
}

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createConnection, type RowDataPacket } from "mysql2/promise";

/** A cluster of MariaDB servers that all take writes, in temporary folders and on free ports. */
export interface GaleraCluster {
  /** The address of the database `test` on each server. */
  urls: string[];
  stop: () => Promise<void>;
}

/** What a cluster needs; Debian's packages mariadb-server, galera-4 and rsync have them. */
const [mariadbd, install, provider, copier] = [
  "/usr/sbin/mariadbd",
  "/usr/bin/mariadb-install-db",
  "/usr/lib/galera/libgalera_smm.so",
  "/usr/bin/rsync",
] as const;

const maxStartMs = 60_000;

/** Returns why no cluster can be started on this machine; `undefined` where one can. */
export function galeraIsMissing(): string | undefined {
  const missing = [mariadbd, install, provider, copier].filter((file) => !existsSync(file));
  return missing.length > 0 ? `${missing.join(" and ")} is not installed` : undefined;
}

/** Starts two servers that form a cluster. Resolves when both are synced. */
export async function startGalera(): Promise<GaleraCluster> {
  const folder = mkdtempSync(path.join(tmpdir(), "tillkit-galera-"));
  const servers: ChildProcess[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(servers.map((server) => end(server, "SIGKILL")));
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    // The files are sent to the second server by a program that gives up the rights of root, so that root cannot run the servers.
    const user = process.getuid?.() === 0 ? ["--user=mysql"] : [];
    for (const number of [1, 2]) mkdirSync(path.join(folder, String(number), "data"), { recursive: true });
    if (user.length > 0) execFileSync("chown", ["-R", "mysql", folder]);
    const quick = ["--auth-root-authentication-method=normal", "--skip-test-db"];
    const install1 = ["--no-defaults", ...user, ...quick, `--datadir=${folder}/1/data`];
    execFileSync(install, install1, { stdio: "ignore", cwd: folder });
    const groupPort = await freePort();
    const start = async (number: number, others: string, basePort: number): Promise<string> => {
      const own = path.join(folder, String(number));
      const port = await freePort();
      const base = `base_host=127.0.0.1;base_port=${basePort}`;
      const options = `${base};gcache.size=32M;ist.recv_addr=127.0.0.1:${await freePort()}`;
      const server = spawn(
        mariadbd,
        [
          "--no-defaults",
          ...user,
          `--datadir=${own}/data`,
          `--socket=${own}/socket`,
          `--pid-file=${own}/pid`,
          `--log-error=${own}/log.err`,
          `--port=${port}`,
          "--bind-address=127.0.0.1",
          "--skip-name-resolve",
          "--innodb-buffer-pool-size=64M",
          "--innodb-flush-log-at-trx-commit=0",
          "--binlog-format=ROW",
          "--innodb-autoinc-lock-mode=2",
          "--wsrep-on=ON",
          `--wsrep-provider=${provider}`,
          `--wsrep-provider-options=${options}`,
          `--wsrep-node-address=127.0.0.1:${basePort}`,
          `--wsrep-cluster-address=gcomm://${others}`,
          "--wsrep-sst-method=rsync",
          `--wsrep-sst-receive-address=127.0.0.1:${await freePort()}`,
          "--wsrep-slave-threads=2",
        ],
        { stdio: "ignore" },
      );
      servers.push(server);
      const url = `mysql://root@127.0.0.1:${port}/`;
      await synced(url, server, `${own}/log.err`);
      return url;
    };
    const first = await start(1, "", groupPort);
    await run(first, "create database test");
    const second = await start(2, `127.0.0.1:${groupPort}`, await freePort());
    return { urls: [`${first}test`, `${second}test`], stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function end(server: ChildProcess, signal: "SIGTERM" | "SIGKILL"): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, "exit");
  server.kill(signal);
  await ended;
}

async function run(url: string, sql: string): Promise<RowDataPacket[]> {
  const connection = await createConnection(url);
  try {
    return (await connection.query<RowDataPacket[]>(sql))[0];
  } finally {
    await connection.end();
  }
}

/** Resolves when the server answers as a member of its cluster. */
async function synced(url: string, server: ChildProcess, log: string): Promise<void> {
  for (const startedAt = performance.now(); ;) {
    const rows = await run(url, "show status like 'wsrep_local_state_comment'").catch(() => []);
    if (rows[0]?.["Value"] === "Synced") return;
    if (server.exitCode !== null || server.signalCode !== null)
      throw new Error(`MariaDB has ended; its log is ${execFileSync("tail", ["-5", log]).toString()}`);
    if (performance.now() - startedAt > maxStartMs)
      throw new Error("MariaDB did not join the cluster in time.");
    await delay(50);
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

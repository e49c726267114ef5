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
  const { start, stop } = prepare();
  try {
    const groupPort = await freePort();
    const join = async (number: number, others: string, basePort: number): Promise<string> =>
      start(number, "show status where variable_name = 'wsrep_local_state_comment' and value = 'Synced'", [
        "--innodb-autoinc-lock-mode=2",
        "--wsrep-on=ON",
        `--wsrep-provider=${provider}`,
        `--wsrep-provider-options=base_host=127.0.0.1;base_port=${basePort};gcache.size=32M;ist.recv_addr=127.0.0.1:${await freePort()}`,
        `--wsrep-node-address=127.0.0.1:${basePort}`,
        `--wsrep-cluster-address=gcomm://${others}`,
        "--wsrep-sst-method=rsync",
        `--wsrep-sst-receive-address=127.0.0.1:${await freePort()}`,
        "--wsrep-slave-threads=2",
      ]);
    const first = await join(1, "", groupPort);
    await run(first, "create database test");
    const second = await join(2, `127.0.0.1:${groupPort}`, await freePort());
    return { urls: [`${first}test`, `${second}test`], stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Starts a server that can have replicas. */
export async function startMariadb(): Promise<{ url: string; stop: () => Promise<void> }> {
  const { start, stop } = prepare();
  try {
    const url = await start(1, "show status like 'uptime'", [
      "--log-bin=tillkit",
      "--server-id=1",
      "--sync-binlog=1",
    ]);
    await run(url, "create database test");
    return { url: `${url}test`, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Makes the files of a new server, and returns functions that start servers and stop them. */
function prepare() {
  const folder = mkdtempSync(path.join(tmpdir(), "tillkit-mariadb-"));
  const servers: ChildProcess[] = [];
  const stop = async (): Promise<void> => {
    for (const server of servers) {
      if (server.exitCode !== null || server.signalCode !== null) continue;
      const ended = once(server, "exit");
      server.kill("SIGKILL");
      await ended;
    }
    rmSync(folder, { recursive: true, force: true });
  };
  // The files are sent to a second server by a program that gives up the rights of root, so that root cannot run the servers.
  const user = process.getuid?.() === 0 ? ["--user=mysql"] : [];
  for (const number of [1, 2]) mkdirSync(path.join(folder, String(number), "data"), { recursive: true });
  if (user.length > 0) execFileSync("chown", ["-R", "mysql", folder]);
  const quick = ["--auth-root-authentication-method=normal", "--skip-test-db"];
  const installing = ["--no-defaults", ...user, ...quick, `--datadir=${folder}/1/data`];
  execFileSync(install, installing, { stdio: "ignore", cwd: folder });

  /** Resolves when the query returns a row. */
  const start = async (number: number, isReady: string, options: readonly string[]): Promise<string> => {
    const own = path.join(folder, String(number));
    const port = await freePort();
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
        "--innodb-flush-log-at-trx-commit=1",
        "--binlog-format=ROW",
        ...options,
      ],
      { stdio: "ignore" },
    );
    servers.push(server);
    const url = `mysql://root@127.0.0.1:${port}/`;
    for (const startedAt = performance.now(); ; await delay(50)) {
      if ((await run(url, isReady).catch(() => [])).length > 0) return url;
      if (server.exitCode !== null || server.signalCode !== null)
        throw new Error(`MariaDB has ended: ${execFileSync("tail", ["-5", `${own}/log.err`]).toString()}`);
      if (performance.now() - startedAt > maxStartMs) throw new Error("MariaDB did not start in time.");
    }
  };
  return { start, stop };
}

async function run(url: string, sql: string): Promise<RowDataPacket[]> {
  const connection = await createConnection(url);
  try {
    return (await connection.query<RowDataPacket[]>(sql))[0];
  } finally {
    await connection.end();
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

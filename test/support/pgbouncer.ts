import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const program = "/usr/sbin/pgbouncer";

/** Returns why no PgBouncer can be started on this machine; `undefined` where one can. */
export function pgbouncerIsMissing(): string | undefined {
  return existsSync(program) ? undefined : `${program} is not installed`;
}

/** Starts a PgBouncer that shares one session of the server among all clients. */
export async function startPgbouncer(
  target: string,
  mode: "transaction" | "statement" = "transaction",
): Promise<{ url: string; stop: () => Promise<void> }> {
  const folder = mkdtempSync(path.join(tmpdir(), "tillkit-pgbouncer-"));
  // It refuses to run as root. It then runs as another user, who needs access to the folder.
  chmodSync(folder, 0o755);
  const { hostname, port, username, password, pathname } = new URL(target);
  const own = await freePort();
  const file = path.join(folder, "pgbouncer.ini");
  const name = decodeURIComponent(pathname.slice(1));
  const secret = password === "" ? "" : ` password=${decodeURIComponent(password)}`;
  const login = `user=${decodeURIComponent(username)}${secret}`;
  writeFileSync(
    file,
    `[databases]
${name} = host=${hostname} port=${port || "5432"} dbname=${name} ${login}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${own}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = 1
max_client_conn = 200
`,
  );
  const asOther = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
  const pooler = spawn(program, [...asOther, file], { stdio: "ignore" });
  const stop = async (): Promise<void> => {
    if (pooler.exitCode === null && pooler.signalCode === null) {
      const ended = once(pooler, "exit");
      pooler.kill("SIGKILL");
      await ended;
    }
    rmSync(folder, { recursive: true, force: true });
  };
  await listening(own, pooler);
  return { url: `postgres://${username}@127.0.0.1:${own}/${name}`, stop };
}

/** Resolves when the pooler accepts connections. */
async function listening(port: number, pooler: ChildProcess): Promise<void> {
  for (;;) {
    const socket = connect(port, "127.0.0.1");
    const isOpen = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    if (pooler.exitCode !== null) throw new Error("PgBouncer has ended.");
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

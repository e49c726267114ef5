import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import net from "node:net";
import { existsSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";

const places = ["/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin", "/opt/homebrew/bin"];

/** The MariaDB of this machine, with files of its own. */
export async function mariadb(folder, port) {
  const [install, program] = [findProgram("mariadb-install-db"), findProgram("mariadbd")];
  const data = path.join(folder, "mariadb");
  const user = process.getuid?.() === 0 ? ["--user=root"] : [];
  const common = ["--no-defaults", `--datadir=${data}`, ...user];
  await promisify(execFile)(install, [...common, "--auth-root-authentication-method=normal"]);
  let server;
  return {
    url: `mysql://root@127.0.0.1:${port}/test`,
    async start() {
      const flags = [`--port=${port}`, `--socket=${path.join(folder, "m.sock")}`, "--bind-address=127.0.0.1"];
      server = spawn(program, [...common, ...flags, "--skip-log-bin"], { stdio: "ignore" });
      for (let tries = 200; !(await listens(port)); tries--) {
        if (tries === 0 || server.exitCode !== null) throw new Error("mariadbd did not start.");
        await delay(50);
      }
    },
    /** SIGKILL, or SIGTERM: an orderly shutdown. */
    async kill({ orderly = false } = {}) {
      if (!server || server.exitCode !== null || server.signalCode !== null) return;
      server.kill(orderly ? "SIGTERM" : "SIGKILL");
      await once(server, "exit");
    },
  };
}

function findProgram(name) {
  const found = places.map((place) => path.join(place, name)).find((file) => existsSync(file));
  if (!found) throw new Error(`${name} is not installed.`);
  return found;
}

async function listens(port) {
  const socket = net.connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

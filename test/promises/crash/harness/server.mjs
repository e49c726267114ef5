import net from "node:net";
import { once } from "node:events";
import { CannotRun } from "./options.mjs";
import { mariadb } from "./server-mariadb.mjs";
import { postgres } from "./server-postgres.mjs";

/** A database server of the run, which can be killed with SIGKILL and restarted with the same files. */
export async function startServer(kind, folder) {
  try {
    const server = await { postgres, mysql: mariadb }[kind](folder, await freePort());
    await server.start();
    return server;
  } catch (error) {
    throw new CannotRun(`No ${kind} server could be started: ${error?.message ?? "it ended immediately"}`);
  }
}

async function freePort() {
  const server = net.createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

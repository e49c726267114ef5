import { once } from "node:events";

/** Starts a server, and returns what a contender returns for it. */
export async function listen(server, port) {
  // Connections stay idle during the rounds of other contenders.
  server.keepAliveTimeout = 0;
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return { port: server.address().port, stop: () => server.closeAllConnections() };
}

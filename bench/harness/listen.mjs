import { once } from "node:events";

/** A listening server as a contender returns it. */
export async function listen(server, port) {
  // Rounds of other contenders lie between two of this one.
  server.keepAliveTimeout = 0;
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return { port: server.address().port, stop: () => server.closeAllConnections() };
}

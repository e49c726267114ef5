// A contender that accepts every request.
import { createServer } from "node:http";
import { listen } from "../../bench/harness/listen.mjs";

export const sign = () => ({});

export function start(port) {
  const server = createServer((request, response) => {
    request.resume().on("end", () => response.writeHead(200, { "Content-Length": 2 }).end("{}"));
  });
  return listen(server, port);
}

// The lower bound: node:http, the body, an HMAC and JSON.parse, and nothing else.
import { createServer } from "node:http";
import { listen } from "../harness/listen.mjs";
import { isSignedHex, signHex } from "../harness/sign.mjs";

export const sign = signHex;

export function start(port) {
  const server = createServer((request, response) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const body = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
      if (!isSignedHex(request, body)) return response.writeHead(401).end();
      JSON.parse(body.toString());
      response.writeHead(200, { "Content-Type": "application/json", "Content-Length": 17 });
      response.end('{"received":true}');
    });
  });
  return listen(server, port);
}

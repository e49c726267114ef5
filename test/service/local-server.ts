import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { type Server } from "node:net";

/** One request that arrived. */
export interface ReceivedRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Sends the answer to one request; `turn` counts requests from 0. The client waits where it sends nothing. */
export type Answerer = (response: ServerResponse, request: ReceivedRequest, turn: number) => void;

/** Starts a real HTTP server on this machine. It keeps every request that it gets. */
export interface LocalServer {
  url: string;
  received: ReceivedRequest[];
  close(): Promise<void>;
}

export async function localServer(answer: Answerer): Promise<LocalServer> {
  const received: ReceivedRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url: path = "", headers } = request;
      const turn = received.push({ method, path, headers, body: Buffer.concat(chunks).toString() }) - 1;
      answer(response, received[turn]!, turn);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${portOf(server)}`, received, close };
}

/** Returns the port of a listening server. */
export function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string")
    throw new Error("the server does not listen on a port");
  return address.port;
}

export function answerJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

/** Breaks the connection after the head and the first part of the body were sent. */
export function breakOff(response: ServerResponse, status: number, start: string): void {
  response.writeHead(status, { "content-type": "application/json", "content-length": "10000" });
  response.write(start, () => response.socket?.resetAndDestroy());
}

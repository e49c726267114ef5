import { createServer, type Server } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { type MemoryTx, type SignedField, type TillkitEvent } from "tillkit";
import { WatchedStore } from "../corpora/world.js";
import { appOf, testKit } from "../../support/kit.js";
import { completedBody, pendingPayment, signed } from "../../support/webhooks.js";

/** Every time limit of a connection, short enough for a test. */
const limits = {
  headersTimeout: 1000,
  requestTimeout: 2000,
  keepAliveTimeout: 200,
  connectionsCheckingInterval: 50,
} as const;
const bodyTimeoutMs = 1000;

/** The time after which a connection hangs: the longest limit, a second that Node adds, and a margin for a busy machine. */
const deadlineMs = 12_000;

/** The number of payments of the shop: `c-0`, `c-1`, … */
const known = 200;

/** A shop on a socket, and everything that a request could change in it. */
export interface WiredShop {
  port: number;
  store: WatchedStore;
  told: TillkitEvent[];
  close(this: void): Promise<void>;
}

/** Opens a shop behind a plain server of Node. */
export async function openWiredShop(): Promise<WiredShop> {
  const store = new WatchedStore();
  const created = Array.from({ length: known }, (_, n) =>
    pendingPayment({ clientId: `c-${n}`, serviceId: `s-${n}`, reference: `order-${n}` }),
  );
  await store.transaction((tx) => store.save(tx, { created }));
  const payments = testKit<SignedField, MemoryTx>({
    store,
    webhook: { bodyTimeoutMs, limitBytes: 4096, failures: false },
  });
  const told: TillkitEvent[] = [];
  payments.onAny((event) => void told.push(event));
  const server: Server = createServer(limits, appOf(payments));
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    store,
    told,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await payments.close();
    },
  };
}

/** The bytes to send on one connection. */
export interface Stream {
  /** Pieces, which are sent one by one. A number is a pause in milliseconds. */
  parts: readonly (Buffer | string | number)[];
  /** Whether the sender closes its side at the end. Node then closes the other side without waiting. @default false */
  ends?: boolean;
}

/** The result of a connection. */
export interface Talk {
  /** The statuses of the answers in their order, without 100. */
  statuses: number[];
  /** Whether it was still open at the time limit. */
  hung: boolean;
}

/** Sends a stream on a new connection. Resolves when the connection is closed, or at the time limit. */
export function talk(port: number, { parts, ends = false }: Stream): Promise<Talk> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    const received: Buffer[] = [];
    let over = false;
    const finish = (hung: boolean): void => {
      if (over) return;
      over = true;
      clearTimeout(timer);
      socket.destroy();
      resolve({ statuses: statusesIn(Buffer.concat(received).toString("latin1")), hung });
    };
    const timer = setTimeout(() => finish(true), deadlineMs);
    socket.on("data", (data) => received.push(data));
    for (const event of ["error", "end", "close"]) socket.on(event, () => finish(false));
    void send();

    async function send(): Promise<void> {
      for (const part of parts) {
        if (over) return;
        if (typeof part === "number") await pause(part);
        else socket.write(typeof part === "string" ? Buffer.from(part, "latin1") : part);
      }
      if (ends && !over) socket.end();
    }
  });
}

function statusesIn(text: string): number[] {
  const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
  return statuses.filter((status) => status !== 100);
}

/** Returns a request as text: the start line, header lines, and the body. */
export function requestText(
  headers: readonly string[],
  body = "",
  start = "POST /payments/webhook HTTP/1.1",
): string {
  return [start, "Host: shop", ...headers, "", body].join("\r\n");
}

/** Returns a correctly signed webhook that would complete the payment `c-n`, in pieces and as a request. */
export function webhookFor(n: number) {
  const { rawBody, headers } = signed(completedBody({ clientId: `c-${n}`, id: `s-${n}` }));
  const type = "Content-Type: application/json";
  const signature = `Service-Signature: ${headers["service-signature"]}`;
  const length = `Content-Length: ${rawBody.length}`;
  const body = rawBody.toString();
  return { type, signature, length, body, request: requestText([type, signature, length], body) };
}

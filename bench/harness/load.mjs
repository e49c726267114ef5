// The load generator, in a process of its own: keep-alive connections on plain sockets, one request at a time on each.
// Requests are made and signed before the clock starts, and replies are parsed no further than necessary, so that the
// generator uses a fraction of the CPU of the cheapest server.
import { connect } from "node:net";
import { answerTo } from "./answer-to.mjs";
import { bodyOf } from "./webhooks.mjs";
import { quantile } from "./statistics.mjs";

const modules = new Map();
let sockets = [];
let planned;

const tasks = {
  /**
   * Opens the connections, distributed over the `ports`, and makes the requests `first` to `first + count - 1`. With
   * `among`, the requests are about payments scattered over that many, using only every `every`th. With `same`, it is
   * one request, repeated. With `checkout`, each webhook comes after a request that creates its payment.
   */
  async plan({ module, ports, connections, first, count, forged = false, among, every = 1, ...which }) {
    const { same = false, checkout = false } = which;
    if (!modules.has(module)) modules.set(module, await import(module));
    const contender = modules.get(module);
    const requests = Array.from({ length: count }, (_, n) => {
      if (same) return requestOf(contender, first, forged);
      if (among === undefined) return requestOf(contender, first + n, forged);
      // A prime that divides none of the sizes: each number occurs once, and neighbours are far apart.
      return requestOf(contender, every * (1 + (((first + n) * 611_953) % (among / every))), forged);
    });
    sockets = await Promise.all(Array.from({ length: connections }, (_, n) => open(ports[n % ports.length])));
    planned = requests.map((request, n) => (checkout ? [checkoutOf(first + n), request] : [request]));
  },
  /** Sends what was planned. */
  async go() {
    const measured = await send(planned);
    for (const socket of sockets) socket.destroy();
    sockets = [];
    planned = undefined;
    return measured;
  },
};

answerTo(tasks);

function requestOf(contender, n, forged) {
  const body = contender.body?.(n) ?? bodyOf(n);
  const { path = "/webhook", sign } = contender;
  const headers = Object.entries(sign(body, n)).map(([name, value]) => `${name}: ${value}\r\n`);
  const head =
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n` +
    `Content-Length: ${body.length}\r\n${headers.join("")}\r\n`;
  // A forged request is changed after it was signed.
  return Buffer.concat([
    Buffer.from(head),
    forged ? Buffer.from(body.toString().replace("T10", "T11")) : body,
  ]);
}

function checkoutOf(n) {
  return Buffer.from(`POST /checkout/${n} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n`);
}

function open(port) {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    socket.once("connect", () => resolve(socket)).once("error", reject);
  });
}

/** @param requests - Lists of requests. Those of one list are sent one after the other on one connection. */
function send(requests) {
  return new Promise((resolve, reject) => {
    const latencies = new Float64Array(requests.length);
    const statuses = {};
    let next = 0;
    let answered = 0;
    const startedAt = performance.now();
    for (const socket of sockets) {
      let current = -1;
      let step = 0;
      let sentAt = 0;
      let usualLength = 0;
      let pending;
      const sendNext = () => {
        if (next >= requests.length) return;
        current = next++;
        step = 0;
        sentAt = performance.now();
        socket.write(requests[current][step]);
      };
      socket.removeAllListeners("error");
      socket.on("error", reject);
      socket.on("close", () => reject(new Error("the server closed a connection")));
      socket.on("data", (chunk) => {
        const reply = pending ? Buffer.concat([pending, chunk]) : chunk;
        // Replies of one contender usually have one length; the head is parsed only if they do not.
        if (reply.length !== usualLength) {
          const length = lengthOf(reply);
          if (length === undefined || reply.length < length) return (pending = reply);
          usualLength = length;
        }
        pending = undefined;
        const status = reply.toString("latin1", 9, 12);
        if (status < "300" && ++step < requests[current].length)
          return void socket.write(requests[current][step]);
        statuses[status] = (statuses[status] ?? 0) + 1;
        latencies[current] = performance.now() - sentAt;
        if (++answered === requests.length) {
          for (const each of sockets) each.removeAllListeners("close");
          const seconds = (performance.now() - startedAt) / 1000;
          const p50Ms = quantile(latencies, 0.5);
          return resolve({ seconds, p50Ms, p99Ms: quantile(latencies, 0.99), statuses });
        }
        sendNext();
      });
      sendNext();
    }
  });
}

/** Returns the length of a reply, or `undefined` before its head has arrived. */
function lengthOf(reply) {
  const end = reply.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const head = reply.toString("latin1", 0, end);
  const length = /content-length: *(\d+)/i.exec(head);
  if (length) return end + 4 + Number(length[1]);
  if (!/transfer-encoding: *chunked/i.test(head)) return end + 4;
  const last = reply.indexOf("\r\n0\r\n\r\n", end);
  return last < 0 ? undefined : last + 7;
}

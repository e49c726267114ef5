import { createServer, Agent, request } from "node:http";
import express from "express";
import { mayBeAccepted } from "./may-be-accepted.mjs";
import { messageOf } from "./messages.mjs";

/** The maximum number of concurrent requests. */
const maxConcurrent = 16;

/**
 * Opens one router for each target behind one server, with stores that note what is recorded. `close` resolves with
 * contradictions between the recorded rows and the answers.
 */
export async function openRouters(kit, targets) {
  const app = express();
  const agent = new Agent({ keepAlive: true, maxSockets: maxConcurrent });
  const shops = new Map();
  for (const target of targets) shops.set(target, await openShop(kit, target, app, shops.size));
  // Seconds can pass between two requests. The server must not close a connection while it is being reused.
  const server = createServer({ keepAliveTimeout: 0 }, app);
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  const underWay = new Set();

  /** Resolves when the next request can be sent. Calls `then` with the answer of this one. */
  async function send(made, then) {
    while (underWay.size >= maxConcurrent) await Promise.race(underWay);
    const sending = postAndCheck(shops.get(made.target), made, then);
    underWay.add(sending);
    void sending.finally(() => underWay.delete(sending));
  }

  async function postAndCheck(shop, made, then) {
    try {
      const status = await post(shop.path, made);
      then(status, status === undefined ? undefined : problemOf(status, made, shop));
    } catch (error) {
      then(undefined, `got no answer: ${error.message}`);
    }
  }

  function problemOf(status, made, shop) {
    if (status === 200 && !mayBeAccepted(asArrived(made)))
      return "answered 200, but its content was not signed";
    if (status === 200) shop.taken.add(made.body.toString("latin1"));
    return status === 200 || status === 400 || status === 401 ? undefined : `answered ${status}`;
  }

  /** Returns the status; `undefined` where no HTTP client would send such a header. */
  function post(path, { body, signature }) {
    return new Promise((resolve, reject) => {
      const headers = { "content-type": "application/json", "content-length": body.length };
      if (signature !== undefined) headers["service-signature"] = signature;
      let sent;
      try {
        sent = request({ agent, host: "127.0.0.1", port, path, method: "POST", headers });
      } catch (error) {
        if (error.code === "ERR_INVALID_CHAR") return resolve(undefined);
        return reject(error);
      }
      sent.on("error", reject).on("response", (response) => {
        response.resume().on("end", () => resolve(response.statusCode));
      });
      sent.end(body);
    });
  }

  return {
    send,
    async close() {
      await Promise.allSettled(underWay);
      agent.destroy();
      await new Promise((resolve) => server.close(resolve));
      const problems = [];
      for (const [{ name, messages }, { payments, recorded, taken }] of shops) {
        const rows = recorded.filter((body) => !taken.has(body)).length;
        if (rows > 0) problems.push(`${name}: ${rows} rows without an answer 200`);
        for (const { n } of messages) {
          const { state } = await payments.find(`c-${n}`);
          if (state === "completed" && messageOf(n).data.status !== "completed")
            problems.push(`${name}: c-${n} is completed, but that was not signed`);
        }
        await payments.close();
      }
      return problems;
    },
  };
}

/** HTTP removes the spaces around a header's value (RFC 9110, 5.5). */
function asArrived(made) {
  const { signature } = made;
  return typeof signature === "string"
    ? { ...made, signature: signature.replace(/^[ \t]+|[ \t]+$/g, "") }
    : made;
}

async function openShop({ createPayments, MemoryStore, paymentRouter }, { messages, scheme }, app, at) {
  const store = new MemoryStore();
  const now = new Date().toISOString();
  const created = messages.map(({ n }) => ({
    clientId: `c-${n}`,
    reference: `order-${n}`,
    total: messageOf(n).data.total,
    state: "pending",
    open: true,
    createdAt: now,
    updatedAt: now,
  }));
  await store.transaction((tx) => store.save(tx, { created }));
  const recorded = [];
  const save = store.save.bind(store);
  store.save = async (tx, changes) => {
    for (const { rawBody } of changes.webhooks ?? []) recorded.push(rawBody.toString("latin1"));
    return save(tx, changes);
  };
  const payments = createPayments({
    publicUrl: "https://shop.example/payments",
    service: { baseUrl: "https://pay.invalid", accessToken: "a-token" },
    signature: scheme,
    store,
    logger: false,
    webhook: { failures: false },
  });
  const path = `/${at}/webhook`;
  app.use(`/${at}`, paymentRouter(payments));
  return { payments, recorded, taken: new Set(), path };
}

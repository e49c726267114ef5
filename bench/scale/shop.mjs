// The contender tillkit, with a large history that is stored without being sent.
import { createHash, randomUUID } from "node:crypto";
import { pendingPayment, start as startTillkit } from "../contenders/tillkit.mjs";
import { bodyOf } from "../harness/webhooks.mjs";

export { path, sign } from "../contenders/tillkit.mjs";

const batchSize = 500;

export async function start(port, options) {
  const running = await startTillkit(port, options, { fetch: answerImmediately });
  let references = 0;
  const { store, orders, name, empty } = running.kit;
  return {
    ...running,
    specials: {
      name: () => name,
      empty: () => empty(),
      /** Stores payments `first` to `first + count - 1` with their webhook and event; every tenth is still pending. */
      async fill({ first, count, withOrders = false }) {
        for (let from = first; from < first + count; from += batchSize) {
          const size = Math.min(batchSize, first + count - from);
          const stored = Array.from({ length: size }, (_, n) => historyOf(from + n));
          await store.transaction(async (tx) => {
            const created = stored.map(({ payment }) => payment);
            const webhooks = stored.flatMap(({ webhook }) => webhook ?? []);
            await store.save(tx, { created, webhooks, events: stored.flatMap(({ event }) => event ?? []) });
            if (withOrders) await orders.insert(tx, created);
          });
        }
      },
      /** Updates the statistics by which PostgreSQL plans. */
      analyse: () => running.kit.analyse(),
      /** The number of handler runs that have committed. */
      paid: () => orders.countPaid(),
      /** Creates `count` payments, 64 at a time. */
      async create({ count }) {
        let left = count;
        const one = async () => {
          while (left-- > 0) {
            const reference = `created-${process.pid}-${references++}`;
            await running.kit.payments.create({ reference, total: { value: "1475", currency: "KMF" } });
          }
        };
        await Promise.all(Array.from({ length: 64 }, one));
      },
      /** Prunes everything that is final. */
      prune: () => running.kit.payments.prune({ before: new Date(Date.now() + 60_000) }),
      /** The time that `store.counts()` takes, which `health` calls. */
      async countsMs() {
        const startedAt = performance.now();
        await store.counts();
        return performance.now() - startedAt;
      },
    },
  };
}

/** Stands for the service, without a network. */
async function answerImmediately(_address, { body }) {
  const { purchase } = JSON.parse(body);
  const id = randomUUID();
  const submitUrl = `https://pay.example/payment/submit/${id}`;
  const data = { id, status: "pending", purchase, billing: { submitUrl } };
  return Response.json({ next: submitUrl, data }, { status: 201 });
}

function historyOf(n) {
  const pending = pendingPayment(n);
  if (n % 10 === 0) return { payment: pending };
  const at = new Date(Date.parse("2026-03-01T10:00:00.000Z") + n).toISOString();
  const { clientId, serviceId, total } = pending;
  const payment = {
    ...pending,
    state: "completed",
    status: "completed",
    open: false,
    updatedAt: at,
    completedAt: at,
  };
  const rawBody = bodyOf(n);
  const hash = createHash("sha256").update(rawBody).digest("base64url");
  const verified = {
    topic: "payment.completed",
    timestamp: at,
    type: "payment",
    id: serviceId,
    status: "completed",
    captured: true,
    "total.value": total.value,
    "total.currency": total.currency,
    submittedAt: at,
    clientId,
  };
  const payload = { payment, verified, untrusted: {}, reportedBy: "webhook" };
  return {
    payment,
    webhook: {
      receiptId: timeOrdered(n),
      eventKey: `payment:${clientId}:${hash}`.slice(0, 80),
      outcome: "applied",
      clientId,
      status: "completed",
      rawBody,
      covers: "body",
      receivedAt: at,
    },
    event: { id: timeOrdered(n), type: "payment.completed", clientId, recordedAt: at, payload },
  };
}

/** Returns an id like the kit's, which sorts by time. */
function timeOrdered(n) {
  const time = (1_772_359_200_000 + n).toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

// The kit: each webhook is verified, strictly parsed, reconciled with its payment, recorded, and answered after the commit.
// In memory or in a database; without dispatching, or with a handler that updates one row.
import { createServer } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import express from "express";
import { pino } from "pino";
import { startService } from "../harness/checkout.mjs";
import { kit } from "../harness/kit.mjs";
import { listen } from "../harness/listen.mjs";
import { signHex } from "../harness/sign.mjs";
import { openStore } from "../harness/stores.mjs";
import { paymentOf, secret } from "../harness/webhooks.mjs";

export const sign = signHex;
export const path = "/payments/webhook";

/**
 * Starts the kit with its router on a server.
 *
 * @param options `store`; `handler`: dispatch to a handler that takes `handlerMs`; `transaction`: the handler's option of that name; `log`: write the log; `preShaped`: use
 * createExpressServer; `checkout`: payments are created through POST /checkout/:n; `dispatch`: the kit's option of that name; `shared`: the database of another process; `maxConnections`
 */
export async function start(port, options, service = {}) {
  const { store, orders, ...database } = await openStore(options.store, options);
  const remote = options.checkout ? await startService() : undefined;
  const payments = kit.createPayments({
    publicUrl: "http://127.0.0.1/payments",
    service: {
      baseUrl: "http://127.0.0.1:9",
      accessToken: "bench-token",
      ...service,
      ...(remote && { baseUrl: remote.baseUrl }),
    },
    signature: kit.hmacSignature({ secret }),
    store,
    dispatch: options.handler ? (options.dispatch ?? {}) : false,
    logger: options.log ? pino(pino.destination("/dev/null")) : false,
  });
  const dispatches = { handled: 0, wanted: 0 };
  const areLeft = async () =>
    dispatches.handled < dispatches.wanted || (await store.counts()).oldestUndoneAt !== undefined;
  const book = async ({ payment }, { tx }) => {
    if (options.handlerMs) await pause(options.handlerMs);
    await orders.pay(tx, payment.reference);
    dispatches.handled += 1;
  };
  const { transaction } = options;
  payments.onPaymentCompleted(book, transaction && { transaction });

  const app = express();
  app.use("/payments", kit.paymentRouter(payments));
  app.post("/checkout/:n", async (request, response) => {
    const { clientId, reference, value, currency } = paymentOf(Number(request.params.n));
    const { checkoutUrl } = await payments.create({ clientId, reference, total: { value, currency } });
    response.json({ checkoutUrl });
  });
  await payments.start();
  const server = options.preShaped ? kit.createExpressServer(app) : createServer(app);
  const listening = await listen(server, port);

  return {
    ...listening,
    async prepare({ first, count }) {
      for (let from = first; from < first + count; from += 500) {
        const numbers = Array.from({ length: Math.min(500, first + count - from) }, (_, n) => from + n);
        const created = numbers.map(pendingPayment);
        await store.transaction(async (tx) => {
          if (!options.checkout) await store.save(tx, { created });
          if (options.handler) await orders.insert(tx, created);
        });
      }
      await database.analyse();
    },
    /** Resolves when everything that was acknowledged has been handled. */
    async drained(count) {
      dispatches.wanted += count;
      while (options.handler && (await areLeft())) await pause(2);
    },
    completed: () => database.completed(),
    /** Returns what `payments.history` says about webhook number `n`. */
    async recordOf(n) {
      const { entries } = await payments.history(paymentOf(n).clientId);
      const webhooks = entries.filter(({ kind }) => kind === "webhook");
      return {
        webhooks: webhooks.length,
        copies: webhooks.reduce((sum, { copies }) => sum + copies, 0),
        events: entries.filter(({ kind, type }) => kind === "event" && type === "payment.completed").length,
      };
    },
    ...(database.cpuUs && { databaseCpuUs: () => database.cpuUs() }),
    ...(database.figures && { databaseFigures: () => database.figures() }),
    /** For bench/scale, which stores payments itself. */
    kit: { payments, store, orders, dispatches, ...database },
    async stop() {
      listening.stop();
      await payments.close();
      remote?.stop();
      await database.drop?.();
    },
  };
}

export function pendingPayment(n) {
  const { id, clientId, reference, value, currency } = paymentOf(n);
  const at = "2026-03-01T09:59:00.000Z";
  return {
    clientId,
    reference,
    total: { value, currency },
    state: "pending",
    status: "pending",
    open: true,
    serviceId: id,
    checkoutUrl: `https://pay.example/payment/submit/${id}`,
    createdAt: at,
    updatedAt: at,
  };
}

import { createHmac } from "node:crypto";
import { post, returnPage, shorten, until } from "./browse.mjs";
import { openWorld } from "./world.mjs";

const product = "cloves";

/** Plays the purchase, stage by stage, and checks the running shop over HTTP and in its database. */
export async function play(timeline) {
  const { saw, check, stage } = bound(timeline);
  const webhookLog = [];
  const events = [];
  const world = await openWorld({
    onRequest(entry) {
      if (entry.route !== "/webhook" || !entry.req) return;
      webhookLog.push(entry);
      saw("kit", `has answered a webhook with ${entry.res.status}: ${entry.outcome ?? entry.code}`);
    },
    onEvent(event, attempt) {
      events.push(event);
      const about = event.payment?.reference ?? event.clientId ?? "";
      saw("handler", `is called with ${event.type} ${about} (run ${attempt})`);
    },
  });
  const { url, sandbox, orders } = world;
  const booked = async (id) => (await orders.ledger()).filter(({ orderId }) => orderId === id).length;
  const stock = async () => (await orders.stock()).get(product);
  const logged = async (count) => {
    await until(() => webhookLog.length >= count);
    return webhookLog[count - 1];
  };
  const eventsOf = (type) => events.filter((event) => event.type === type).length;

  try {
    stage("The order and its payment");
    saw("shop", `is at ${url}, its database is ${world.file}`);
    saw("service", `the sandbox is at ${sandbox.url}`);
    const inStock = await stock();
    const { orderId, checkout, payment } = await order();

    stage("At the checkout");
    sandbox.holdWebhooks();
    const approval = await post(checkout, { provider: "HOL", action: "approve" });
    const successUrl = approval.headers.get("location") ?? "";
    const paid = sandbox.payments().find(({ id }) => id === payment.id);
    check(
      "service",
      `the customer approves at ${paid.source}: the payment is ${paid.status}; the webhook is held`,
      {
        expected: { status: "completed", deliveries: 0 },
        seen: { status: paid.status, deliveries: sandbox.deliveries.length },
      },
    );
    check("browser", `is sent back (${approval.status}) to ${shorten(successUrl)}`, {
      expected: { status: 303, toKit: true },
      seen: { status: approval.status, toKit: successUrl.startsWith(`${url}/payments/success/`) },
    });

    stage("The customer returns before the webhook");
    const waiting = await returnPage(successUrl);
    check("kit", `the success page says "${waiting.title}"`, {
      expected: { status: 200, state: "confirming" },
      seen: { status: waiting.status, state: waiting.state },
    });
    const early = await orders.find(orderId);
    check("shop", `the order is ${early.paidAt ? "paid" : "not paid"}: a return proves nothing`, {
      expected: { paid: false, ledgerRows: 0 },
      seen: { paid: early.paidAt !== undefined, ledgerRows: await booked(orderId) },
    });

    stage("The webhook");
    sandbox.releaseWebhooks();
    await until(() => sandbox.deliveries.length > 0);
    const [delivery] = sandbox.deliveries;
    check(
      "service",
      `delivered ${delivery?.requestBody.length} signed bytes, answered ${delivery?.status} in ${delivery?.durationMs} ms`,
      {
        expected: { deliveries: 1, status: 200, outcome: "applied" },
        seen: {
          deliveries: sandbox.deliveries.length,
          status: delivery?.status,
          outcome: (await logged(1))?.outcome,
        },
      },
    );
    const fulfilled = await until(
      async () => (await orders.find(orderId)).paidAt && eventsOf("payment.completed") > 0,
    );
    const now = await orders.find(orderId);
    check(
      "shop",
      `the order is ${now.paidAt ? `paid at ${now.paidAt}` : "not paid"}; ledger rows: ${await booked(orderId)}, stock: ${await stock()} of ${inStock}`,
      {
        expected: { fulfilled: true, paid: true, ledgerRows: 1, sold: 1 },
        seen: {
          fulfilled,
          paid: now.paidAt !== undefined,
          ledgerRows: await booked(orderId),
          sold: inStock - (await stock()),
        },
      },
    );
    const done = await returnPage(successUrl);
    check("kit", `the success page says "${done.title}"`, {
      expected: { status: 200, state: "paid" },
      seen: { status: done.status, state: done.state },
    });

    stage("The same webhook again");
    const again = await sandbox.deliverAgain(delivery.id);
    check("service", `sent the same bytes once more (attempt ${again.attempt}), answered ${again.status}`, {
      expected: { sameBytes: true, status: 200, outcome: "duplicate" },
      seen: {
        sameBytes: again.requestBody === delivery.requestBody,
        status: again.status,
        outcome: (await logged(2))?.outcome,
      },
    });

    stage("A second order, and a forged webhook that says it is paid");
    const second = await order();
    const forged = await sandbox.sendWebhook({
      payment: second.payment.id,
      sign: (rawBody) => createHmac("sha256", "not the secret of this shop").update(rawBody).digest("hex"),
    });
    check("service", `a signature with another secret gets the answer ${forged.status} ${forged.body}`, {
      expected: { status: 401, code: "signature_mismatch" },
      seen: { status: forged.status, code: (await logged(3))?.code },
    });

    stage("A correctly signed webhook with a changed amount");
    const changed = await sandbox.sendWebhook({
      payment: second.payment.id,
      overrides: { data: { total: { value: "1", currency: "KMF" } } },
    });
    check("service", `a signed "completed" with 1 KMF gets the answer ${changed.status}`, {
      expected: { status: 200, outcome: "mismatch" },
      seen: { status: changed.status, outcome: (await logged(4))?.outcome },
    });
    await until(async () => (await orders.attention()).length > 0 && eventsOf("payment.mismatched") > 0);
    const attention = (await orders.attention()).map(({ kind, orderId, detail }) => ({
      kind,
      orderId,
      detail,
    }));
    check(
      "shop",
      `on the shopkeeper's list: ${attention.map(({ kind, detail }) => `${kind} (${detail})`).join(", ") || "nothing"}`,
      {
        expected: [
          {
            kind: "payment.mismatched",
            orderId: second.orderId,
            detail: `total.value: 1, not ${second.payment.total.value}`,
          },
        ],
        seen: attention,
      },
    );

    stage("At the end");
    const secondOrder = await orders.find(second.orderId);
    const {
      payments: [secondPayment],
    } = await world.payments.list({ reference: second.orderId, limit: 1 });
    check(
      "kit",
      `the second payment is ${secondPayment.state}, its order ${secondOrder.paidAt ? "paid" : "not paid"}`,
      {
        expected: { state: "pending", paid: false, ledgerRows: 0 },
        seen: {
          state: secondPayment.state,
          paid: secondOrder.paidAt !== undefined,
          ledgerRows: await booked(second.orderId),
        },
      },
    );
    check(
      "handler",
      `payment.completed was dispatched ${eventsOf("payment.completed")}×, after ${webhookLog.length} webhooks; ledger rows of the first order: ${await booked(orderId)}`,
      {
        // The second order has a piece too: an order reserves it.
        expected: { completed: 1, webhooks: 4, ledgerRows: 1, reserved: 2 },
        seen: {
          completed: eventsOf("payment.completed"),
          webhooks: webhookLog.length,
          ledgerRows: await booked(orderId),
          reserved: inStock - (await stock()),
        },
      },
    );
  } finally {
    await world.close();
  }

  /** Buys like a browser: the buy button, then the pay button. */
  async function order() {
    const known = new Set(sandbox.payments().map(({ id }) => id));
    const placed = await post(`${url}/orders`, { product });
    const orderUrl = placed.headers.get("location") ?? "";
    const orderId = orderUrl.split("/").at(-1);
    saw("shop", `takes the order ${orderId} (${placed.status})`);
    const sent = await post(`${url}/checkout/${orderId}`, {});
    const checkout = sent.headers.get("location") ?? "";
    const made = sandbox.payments().filter(({ id }) => !known.has(id));
    const [payment] = made;
    check(
      "service",
      `created payment ${payment?.id}: ${payment?.total.value} ${payment?.total.currency}, ${payment?.status}`,
      {
        expected: { payments: 1, total: (await orders.find(orderId)).total, status: "pending" },
        seen: { payments: made.length, total: payment && { ...payment.total }, status: payment?.status },
      },
    );
    check("shop", `sends the browser (${sent.status}) to ${shorten(checkout)}`, {
      expected: { status: 303, toService: true },
      seen: { status: sent.status, toService: checkout === `${sandbox.url}/payment/submit/${payment?.id}` },
    });
    return { orderId, checkout, payment };
  }
}

function bound(timeline) {
  return {
    saw: (who, what) => timeline.saw(who, what),
    check: (who, what, values) => timeline.check(who, what, values),
    stage: (name) => timeline.stage(name),
  };
}

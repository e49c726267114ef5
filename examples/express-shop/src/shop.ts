import express, { type ErrorRequestHandler, type Express, type Request } from "express";
import {
  createPayments,
  hasCode,
  paymentRouter,
  type Payments,
  type PaymentServiceOptions,
  type PaymentsOptions,
  type PaymentStore,
  type SignatureScheme,
  type SignedField,
} from "tillkit";
import { type SqlTx } from "tillkit/sql";
import { collectAttention } from "./attention.js";
import { keeperOnly } from "./keeper-only.js";
import { Orders } from "./orders.js";
import { deskPage, frontPage, notFoundPage, orderPage, unavailablePage } from "./pages.js";
import { sendPage, style } from "./page.js";
import { findProduct, products } from "./products.js";
import { languages, shopName, type Language } from "./words.js";

export interface ShopOptions {
  /** Where customers reach the shop: `https://shop.example`. */
  url: string;
  service: PaymentServiceOptions;
  signature: SignatureScheme | undefined;
  /** The orders are kept in the same database as the payments. */
  store: PaymentStore<SqlTx>;
  /** Opens the shopkeeper's page, `/desk`. */
  keeperPassword: string;
  logger?: PaymentsOptions["logger"];
  /** The clock; for tests. */
  now?: PaymentsOptions["now"];
}

export interface Shop {
  app: Express;
  payments: Payments<SignedField, SqlTx>;
  orders: Orders;
}

/** The whole shop. What the kit does for it is in this file; orders, pages and words are in the others. */
export async function createShop({
  url,
  service,
  signature,
  store,
  keeperPassword,
  logger,
  now,
}: ShopOptions) {
  const orders = new Orders(store);
  await orders.open();

  const payments = createPayments({
    publicUrl: `${url}/payments`,
    service,
    signature,
    store,
    returns: { shopName, backUrl: "/orders/{reference}" },
    logger,
    now,
  });

  // Runs in the dispatch's own transaction: these three writes commit together with the mark that this handler is done,
  // or none of them does. However often the webhook comes, and wherever the process crashes, there is one ledger row.
  payments.onPaymentCompleted(async ({ payment }, { tx }) => {
    const { reference, clientId, total, completedAt } = payment;
    const { affected } = await tx.query("update orders set paid_at = ? where id = ?", [
      completedAt,
      reference,
    ]);
    if (affected !== 1) throw new Error(`There is no order ${reference}.`);
    await tx.query(
      "update stock set pieces = pieces - 1 where product = (select product from orders where id = ?)",
      [reference],
    );
    await tx.query("insert into ledger (order_id, client_id, value, currency, at) values (?, ?, ?, ?, ?)", [
      reference,
      clientId,
      total.value,
      total.currency,
      completedAt,
    ]);
  });
  collectAttention(payments, orders);

  const app = express();
  app.disable("x-powered-by");
  app.use("/payments", paymentRouter(payments));
  app.get("/style.css", (_req, res) => void res.type("css").set("Cache-Control", "max-age=3600").send(style));

  app.get("/", async (req, res) => {
    sendPage(res, 200, frontPage(languageOf(req), products, await orders.stock()));
  });

  app.post("/orders", express.urlencoded({ extended: false, limit: "4kb" }), async (req, res, next) => {
    const product = findProduct(req.body?.product);
    if (!product) return next();
    res.redirect(303, `/orders/${await orders.place(product)}`);
  });

  app.get("/orders/:order", async (req, res, next) => {
    const order = await orders.find(req.params.order);
    if (!order) return next();
    const attempt = order.clientId === undefined ? undefined : await payments.find(order.clientId);
    sendPage(res, 200, orderPage(languageOf(req), order, attempt));
  });

  app.post("/checkout/:order", async (req, res, next) => {
    const order = await orders.find(req.params.order);
    if (!order) return next();
    const language = languageOf(req);
    try {
      const { clientId, checkoutUrl } = await payments.create({
        reference: order.id,
        total: order.total,
        locale: language,
      });
      await orders.rememberAttempt(order.id, clientId);
      res.redirect(303, checkoutUrl);
    } catch (error) {
      if (hasCode(error, "already_paid")) return res.redirect(303, `/orders/${order.id}`);
      payments.logger.warn({ err: error, order: order.id }, "the customer could not be sent to the checkout");
      sendPage(res, 503, unavailablePage(language, order));
    }
  });

  app.get("/desk", keeperOnly(keeperPassword), async (req, res) => {
    const [attention, all, ledger] = [await orders.attention(), await orders.list(), await orders.ledger()];
    sendPage(res, 200, deskPage(languageOf(req), { attention, orders: all, ledger }));
  });

  app.use((req, res) => sendPage(res, 404, notFoundPage(languageOf(req))));
  app.use(unreadable);
  return { app, payments, orders } satisfies Shop;
}

/** An address that cannot be decoded, or a form that cannot be read: Express's own page would show the code's stack. */
const unreadable: ErrorRequestHandler = (error: { status?: unknown }, req, res, next) => {
  if (typeof error.status !== "number" || error.status >= 500) return next(error);
  sendPage(res, error.status, notFoundPage(languageOf(req)));
};

function languageOf(req: Request): Language {
  return (req.acceptsLanguages(...languages) || languages[0]) as Language;
}

import express, { type ErrorRequestHandler, type Express, type Request } from "express";
import {
  createPayments,
  hasCode,
  paymentRouter,
  type Payments,
  type PaymentServiceOptions,
  type PaymentsOptions,
  type SignatureScheme,
  type SignedField,
} from "tillkit";
import { type SqlPaymentStore, type SqlTx } from "tillkit/sql";
import { collectAttention, deadDispatches } from "./attention.js";
import { keeperOnly } from "./keeper-only.js";
import { Orders } from "./orders.js";
import { deskPage, frontPage, heldPage, notFoundPage, orderPage, unavailablePage } from "./pages.js";
import { sendPage, style } from "./page.js";
import { findProduct, products } from "./products.js";
import { languages, shopName, type Language } from "./translations.js";

export interface ShopOptions {
  /** The shop's address for customers: `https://shop.example`. */
  url: string;
  service: PaymentServiceOptions;
  signature: SignatureScheme | undefined;
  /** The database of the payments, which also has the shop's orders. */
  store: SqlPaymentStore;
  /** The password of the shopkeeper's page, `/desk`. */
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

/** Makes the shop. Orders, pages and translations are in the other files, and the events that need a person in attention.ts. */
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

  // These three writes commit in one transaction, which also marks this handler as done. So there is exactly one ledger row,
  // even if the webhook comes several times or the process crashes.
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
    const { payments: attempts } = await payments.list({ reference: order.id, limit: 1 });
    sendPage(res, 200, orderPage(languageOf(req), order, attempts[0]));
  });

  app.post("/checkout/:order", async (req, res, next) => {
    const order = await orders.find(req.params.order);
    if (!order) return next();
    const language = languageOf(req);
    try {
      const { checkoutUrl } = await payments.create({
        reference: order.id,
        total: order.total,
        locale: language,
      });
      res.redirect(303, checkoutUrl);
    } catch (error) {
      if (hasCode(error, "already_paid")) return res.redirect(303, `/orders/${order.id}`);
      if (hasCode(error, "paid_other_amount")) return sendPage(res, 409, heldPage(language, order));
      payments.logger.warn({ err: error, order: order.id }, "the customer could not be sent to the checkout");
      sendPage(res, 503, unavailablePage(language, order));
    }
  });

  app.get("/desk", keeperOnly(keeperPassword), async (req, res) => {
    const attention = [...(await deadDispatches(payments)), ...(await orders.attention())];
    const [all, ledger] = [await orders.list(), await orders.ledger()];
    sendPage(res, 200, deskPage(languageOf(req), { attention, orders: all, ledger }));
  });

  app.use((req, res) => sendPage(res, 404, notFoundPage(languageOf(req))));
  app.use(unreadable);
  return { app, payments, orders } satisfies Shop;
}

/** Handles unreadable addresses and forms. Express's own page would show a stack trace. */
const unreadable: ErrorRequestHandler = (error: { status?: unknown }, req, res, next) => {
  if (typeof error.status !== "number" || error.status >= 500) return next(error);
  sendPage(res, error.status, notFoundPage(languageOf(req)));
};

function languageOf(req: Request): Language {
  return (req.acceptsLanguages(...languages) || languages[0]) as Language;
}

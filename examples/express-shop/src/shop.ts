import express, { type ErrorRequestHandler, type Express, type Request } from "express";
import {
  createPayments,
  paymentRouter,
  type Payment,
  type Payments,
  type PaymentServiceOptions,
  type PaymentsOptions,
  type SignatureScheme,
  type SignedField,
} from "tillkit";
import { type SqlPaymentStore, type SqlTx } from "tillkit/sql";
import { collectAttention, deadDispatches } from "./attention.js";
import { keeperOnly } from "./keeper-only.js";
import { healthRoutes } from "./health.js";
import { Orders } from "./orders.js";
import { deskPage, failurePage, frontPage, notFoundPage, orderPage, problemPage } from "./pages.js";
import { logo, sendPage, style } from "./page.js";
import { problemOf } from "./problems.js";
import { findProduct, products } from "./products.js";
import { contact, languages, shopName, type Language } from "./translations.js";

const problemStatus = { busy: 409, held: 409, refused: 502, uncertain: 503, unavailable: 503 } as const;

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
    // The kit's pages have the shop's logo, colour and links, so that the customer stays in one shop.
    returns: {
      shopName,
      contact,
      logoUrl: "/logo.svg",
      accent: "#0d6e63",
      background: "#fbf6ee",
      backUrl: "/",
      orderUrl: "/orders/{reference}",
      payAgainUrl: "/orders/{reference}#pay",
    },
    logger,
    now,
  });

  bookOrders(payments, orders);
  collectAttention(payments, orders);

  const app = express();
  app.disable("x-powered-by");
  app.use("/payments", paymentRouter(payments));
  app.use(healthRoutes(payments));
  app.get("/logo.svg", (_req, res) => void res.type("svg").set("Cache-Control", "max-age=3600").send(logo));
  app.get("/style.css", (_req, res) => void res.type("css").set("Cache-Control", "max-age=3600").send(style));

  app.get("/", async (req, res) => {
    sendPage(res, 200, frontPage(languageOf(req), products, await orders.stock()));
  });

  app.post("/orders", express.urlencoded({ extended: false, limit: "4kb" }), async (req, res, next) => {
    const product = findProduct(req.body?.product);
    if (!product) return next();
    const order = await orders.place(product);
    // The front page says that it is sold out.
    res.redirect(303, order === undefined ? "/" : `/orders/${order}`);
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
    if (order.paidAt === undefined && !(await orders.reserveAgain(order.id)))
      return sendPage(res, 409, problemPage(language, order, "soldOut"));
    try {
      const { id: reference, total } = order;
      const { checkoutUrl } = await payments.create({ reference, total, locale: language });
      res.redirect(303, checkoutUrl);
    } catch (error) {
      const problem = problemOf(error);
      if (problem === "alreadyPaid") return res.redirect(303, `/orders/${order.id}`);
      if (problem === undefined) throw error;
      payments.logger.warn({ err: error, order: order.id }, "the customer could not be sent to the checkout");
      sendPage(res, problemStatus[problem], problemPage(language, order, problem));
    }
  });

  app.get("/desk", keeperOnly(keeperPassword), async (req, res) => {
    const attention = [...(await deadDispatches(payments)), ...(await orders.attention())];
    const [all, ledger] = [await orders.list(), await orders.ledger()];
    sendPage(res, 200, deskPage(languageOf(req), { attention, orders: all, ledger }));
  });

  app.use((req, res) => sendPage(res, 404, notFoundPage(languageOf(req))));
  // Express's own page would show a stack trace.
  const onError: ErrorRequestHandler = (error: { status?: unknown }, req, res, next) => {
    if (res.headersSent) return next(error);
    const isRequest = typeof error.status === "number" && error.status < 500;
    if (isRequest) return sendPage(res, error.status as number, notFoundPage(languageOf(req)));
    payments.logger.error({ err: error }, "a page of the shop failed");
    sendPage(res, 500, failurePage(languageOf(req)));
  };
  app.use(onError);
  return { app, payments, orders } satisfies Shop;
}

/** Records paid orders exactly once, and frees the pieces of those that will not be paid. */
export function bookOrders(payments: Payments<SignedField, SqlTx>, orders: Orders): void {
  // These writes commit in one transaction, which also marks this handler as done. So there is exactly one ledger row,
  // even if the webhook comes several times or the process crashes.
  payments.onPaymentCompleted(async ({ payment }, { tx }) => {
    const { reference, clientId, total, completedAt } = payment;
    // A payment that comes late may find the last piece sold: the shopkeeper decides, and the money is booked.
    if (!(await orders.reserve(tx, reference)))
      await orders.note(tx, { kind: "order.sold_out", orderId: reference, detail: clientId });
    const paid = "update orders set paid_at = ? where id = ?";
    const { affected } = await tx.query(paid, [completedAt, reference]);
    if (affected !== 1) throw new Error(`There is no order ${reference}.`);
    const row = [reference, clientId, total.value, total.currency, completedAt];
    await tx.query("insert into ledger values (?, ?, ?, ?, ?)", row);
  });

  const free = async ({ payment }: { payment: Payment }, { tx }: { tx: SqlTx }) => {
    const isOver = payment.state === "failed" || payment.state === "canceled";
    if (isOver) await orders.free(tx, payment.reference);
  };
  payments.on("payment.updated", free, { name: "free-reserved" });
}

function languageOf(req: Request): Language {
  return (req.acceptsLanguages(...languages) || languages[0]) as Language;
}

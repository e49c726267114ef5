import bodyParser from "body-parser";
import express, { type Response, type Router } from "express";
import { readLanguage } from "../../pages/language.js";
import { type SandboxCore } from "../core/core.js";
import { asyncRoute } from "../http/middleware.js";
import { respondWithPage } from "../http/page.js";
import { type PaymentTransitions } from "../operations/payment-transitions.js";
import { checkoutPage } from "./checkout-page.js";
import { badRequestPage, finalPage, unknownPage } from "./notice-page.js";

/** Returns the routes of the checkout page, which the customer's browser sees (interface document, 4.2). */
export function checkout(core: SandboxCore, transitions: PaymentTransitions): Router {
  const { options, payments, stateFile } = core;
  const { providers, merchantName } = options;
  const router = express.Router();

  router.get("/payment/submit/:id", (req, res, next) => {
    const language = readLanguage(req);
    const payment = payments.byId(req.params.id);
    if (payment === undefined) return next();
    if (payment.status !== "pending") return respondWithPage(res, finalPage(payment, merchantName, language));
    respondWithPage(res, checkoutPage(payment, providers, merchantName, { language }));
    if (req.method !== "GET") return;
    // In some scenarios, the customer decides on the phone while this page is open.
    void transitions.run("opened", payment, providers[0]!.code);
  });

  const readForm = bodyParser.urlencoded({ extended: false, limit: "4kb" });
  router.post(
    "/payment/submit/:id",
    readForm,
    asyncRoute<{ id: string }>(async (req, res) => {
      const language = readLanguage(req);
      const payment = payments.byId(req.params.id);
      if (payment === undefined) return respondWithPage(res, unknownPage(language, options.publicUrl));
      const form: Record<string, unknown> = req.body ?? {};
      const isApproval = form["action"] === "approve";
      if (payment.status === "completed" && isApproval && payment.scenario !== "normal")
        return leave(res, payment.successUrl);
      if (payment.status !== "pending")
        return respondWithPage(res, { ...finalPage(payment, merchantName, language), status: 409 });

      if (form["action"] === "cancel") {
        void transitions.run("canceled", payment, providers[0]!.code);
        await stateFile.flushed();
        return leave(res, payment.cancelUrl);
      }
      if (!isApproval) return respondWithPage(res, badRequestPage(language));
      const provider = providers.find(({ code }) => code === form["provider"]);
      if (provider === undefined)
        return respondWithPage(
          res,
          checkoutPage(payment, providers, merchantName, { language, unchosen: true }),
        );
      // The browser does not wait for the webhook.
      void transitions.run("approved", payment, provider.code);
      await stateFile.flushed();
      leave(res, payment.successUrl);
    }),
  );
  return router;
}

function leave(res: Response, url: string): void {
  res.set({ "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" }).redirect(303, url);
}

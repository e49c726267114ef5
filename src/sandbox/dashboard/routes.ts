import express, { type Router } from "express";
import { ownOriginOnly } from "../middleware.js";
import { behaviour } from "./behaviour/behaviour-page.js";
import { choicesPage } from "./choices/choices-page.js";
import { type DashboardContext } from "./context.js";
import { places } from "./dashboard-page.js";
import { developer } from "./developer/developer-page.js";
import { showPage } from "./form.js";
import { overviewPage } from "./overview/overview-page.js";
import { payments } from "./payments/payments-page.js";
import { scenarios } from "./scenarios/scenarios-page.js";
import { webhooks } from "./webhooks/webhooks-page.js";

/** Returns the routes of the merchant's dashboard and its developer section (interface document, 4.4). */
export function dashboard(context: DashboardContext): Router {
  const { publicUrl, allowRemoteWebhooks } = context.options;
  const router = express.Router();
  const guard = ownOriginOnly(publicUrl);
  router.get(places.overview, guard, showPage(context, overviewPage));
  router.use(places.payments, guard, payments(context));
  router.use(places.webhooks, guard, webhooks(context));
  router.use(places.scenarios, guard, scenarios(context));
  router.use(places.behaviour, guard, behaviour(context));
  router.use(places.developer, guard, developer(context));
  const choices = showPage(context, (view) => choicesPage(view, allowRemoteWebhooks));
  router.get(places.choices, guard, choices);
  return router;
}

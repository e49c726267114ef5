import express, { type Router } from "express";
import { ownOriginOnly } from "../http/middleware.js";
import { behaviourRoutes } from "./pages/behaviour-page.js";
import { type DashboardContext, showPage } from "./frame/page-routes.js";
import { places } from "./frame/dashboard-page.js";
import { developerRoutes } from "./pages/developer-page.js";
import { overviewPage } from "./pages/overview-page.js";
import { paymentRoutes } from "./pages/payments-page.js";
import { scenarioRoutes } from "./pages/scenarios-page.js";
import { webhookRoutes } from "./pages/webhooks-page.js";

/** Returns the routes of the merchant's dashboard and its developer section (interface document, 4.4). */
export function dashboard(context: DashboardContext): Router {
  const { publicUrl } = context.options;
  const router = express.Router();
  const guard = ownOriginOnly(publicUrl);
  router.get(places.overview, guard, showPage(context, overviewPage));
  router.use(places.payments, guard, paymentRoutes(context));
  router.use(places.webhooks, guard, webhookRoutes(context));
  router.use(places.scenarios, guard, scenarioRoutes(context));
  router.use(places.behaviour, guard, behaviourRoutes(context));
  router.use(places.developer, guard, developerRoutes(context));
  return router;
}

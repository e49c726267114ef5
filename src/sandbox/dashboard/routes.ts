import express, { type Router } from "express";
import { type ResolvedSandboxOptions } from "../resolve-options.js";
import { ownOriginOnly } from "../middleware.js";
import { choicesPage } from "./choices/choices-page.js";
import { overviewPage } from "./overview/overview-page.js";
import { sendPage } from "../page.js";
import { type Desk, viewOf } from "./context.js";
import { behaviour } from "./behaviour/routes.js";
import { developer } from "./developer/routes.js";
import { payments } from "./payments/routes.js";
import { scenarios } from "./scenarios/routes.js";
import { webhooks } from "./webhooks/routes.js";

/**
 * The merchant's dashboard, with its developer section (interface document, 4.4): pages with plain forms, for a browser
 * with or without scripts.
 */
export function dashboard(desk: Desk, { publicUrl, allowRemoteWebhooks }: ResolvedSandboxOptions): Router {
  const router = express.Router();
  const guard = ownOriginOnly(publicUrl);
  router.get("/", guard, (req, res) => sendPage(res, 200, overviewPage(desk.sandbox, viewOf(req, desk))));
  router.use("/payments", guard, payments(desk));
  router.use("/developer/webhooks", guard, webhooks(desk));
  router.use("/developer/scenarios", guard, scenarios(desk));
  router.use("/developer/behaviour", guard, behaviour(desk));
  router.use("/developer", guard, developer(desk));
  router.get("/not-shown", guard, (req, res) => {
    const page = choicesPage(desk.sandbox, { allowRemote: allowRemoteWebhooks }, viewOf(req, desk));
    sendPage(res, 200, page);
  });
  return router;
}

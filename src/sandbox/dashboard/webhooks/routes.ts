import { type Router } from "express";
import { type DashboardContext } from "../context.js";
import { places } from "../dashboard-page.js";
import { pageRoutes, showPage } from "../form.js";
import { deliveryPage } from "./delivery-page.js";
import { webhooksPage } from "./webhooks-page.js";

const home = places.webhooks;

/** Returns the routes of `/developer/webhooks`: addresses, signing, and every delivery. */
export function webhooks(context: DashboardContext): Router {
  const { sandbox } = context;
  const router = pageRoutes(context, "/", webhooksPage, {
    "/addresses": (input) => {
      sandbox.registerWebhook(input.get("url")?.trim() ?? "");
      return `${home}?done=added`;
    },
    "/addresses/:id/remove": (_input, id) => {
      sandbox.unregisterWebhook(id);
      return `${home}?done=removed`;
    },
    "/addresses/:id/try": async (_input, id) => `${home}?tried=${(await sandbox.tryWebhook(id)).id}`,
    "/secret/rotate": () => {
      sandbox.rotateSecret();
      return `${home}?done=rotated#signing`;
    },
    "/hold": (input) => {
      sandbox.holdWebhooks();
      return `${origin(input)}?done=held`;
    },
    "/release": (input) => {
      sandbox.releaseWebhooks();
      return `${origin(input)}?done=released`;
    },
    "/deliveries/:id/again": async (_input, id) => {
      const again = await sandbox.deliverAgain(id);
      return `${home}/deliveries/${again.id}?done=again`;
    },
  });
  router.get("/deliveries/:id", showPage(context, deliveryPage));
  return router;
}

/** Returns the page with the button that was pressed: the overview has it too. */
function origin(input: URLSearchParams): string {
  return input.get("from") === "overview" ? places.overview : home;
}

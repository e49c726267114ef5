import express, { type Request, type Router } from "express";
import { deliveryPage } from "./delivery-page.js";
import { unknownPlace } from "../unknown-page.js";
import { type Typed } from "../view.js";
import { webhooksPage } from "./webhooks-page.js";
import { sendPage } from "../../page.js";
import { type Desk, viewOf } from "../context.js";
import { onForm } from "../form.js";
import { showPage } from "../show-page.js";

const home = "/developer/webhooks";

/** `/developer/webhooks`: addresses, signing, and every delivery. */
export function webhooks(desk: Desk): Router {
  const { sandbox } = desk;
  const router = express.Router();
  const show = showPage(desk, webhooksPage);
  const order = (path: string, run: (typed: Typed, id: string) => string | Promise<string>): void =>
    void router.post(
      path,
      onForm<{ id: string }>(
        desk,
        (typed, { id }) => run(typed, id),
        (req, res, refusal) => show(req as Request, res, refusal),
      ),
    );

  router.get("/", (req, res) => show(req, res));
  order("/addresses", (typed) => {
    sandbox.registerWebhook(typed.text("url").trim());
    return `${home}?done=added`;
  });
  order("/addresses/:id/remove", (_typed, id) => {
    sandbox.unregisterWebhook(id);
    return `${home}?done=removed`;
  });
  order("/addresses/:id/try", async (_typed, id) => `${home}?tried=${(await sandbox.tryWebhook(id)).id}`);
  order("/secret/rotate", () => {
    sandbox.rotateSecret();
    return `${home}?done=rotated#signing`;
  });
  order("/hold", (typed) => {
    sandbox.holdWebhooks();
    return held(typed, "held");
  });
  order("/release", (typed) => {
    sandbox.releaseWebhooks();
    return held(typed, "released");
  });
  order(
    "/deliveries/:id/again",
    async (_typed, id) => `${home}/deliveries/${(await sandbox.deliverAgain(id)).id}?done=again`,
  );

  router.get("/deliveries/:id", (req, res) => {
    const delivery = sandbox.deliveries.find(({ id }) => id === req.params.id);
    const view = viewOf(req, desk);
    if (delivery === undefined) return sendPage(res, 404, unknownPlace(view, "webhooks"));
    sendPage(res, 200, deliveryPage(delivery, view));
  });
  return router;
}

/** Both pages have this button; each leads back to its own. */
function held(typed: Typed, done: string): string {
  return `${typed.text("from") === "overview" ? "/" : home}?done=${done}`;
}

import express, { type Request, type Response, type Router } from "express";
import { started } from "../../actions.js";
import { paymentPage } from "./payment-page.js";
import { paymentsPage } from "./payments-page.js";
import { unknownPlace } from "../unknown-page.js";
import { type Typed } from "../view.js";
import { sendPage } from "../../page.js";
import { type Desk, viewOf } from "../context.js";
import { onForm, type Refusal } from "../form.js";

/** `/payments`: every payment, and for each a page with what can be done with it. */
export function payments(desk: Desk): Router {
  const { sandbox } = desk;
  const router = express.Router();
  const show = (req: Request, res: Response, id: string, refusal?: Refusal): void => {
    const view = { ...viewOf(req, desk), ...refusal };
    const payment = sandbox.find(id);
    if (payment?.id !== id) return sendPage(res, 404, unknownPlace(view, "payments"));
    sendPage(res, refusal?.status ?? 200, paymentPage(payment, sandbox, view));
  };

  router.get("/", (req, res) => sendPage(res, 200, paymentsPage(sandbox.payments(), viewOf(req, desk))));
  router.get("/:id", (req, res) => show(req, res, req.params.id));

  const order = (name: string, run: (id: string, typed: Typed) => Promise<unknown> | void): void =>
    void router.post(
      `/:id/${name}`,
      onForm<{ id: string }>(
        desk,
        async (typed, { id }) => {
          await started(async () => run(id, typed), { waitMs: 500 });
          return `/payments/${id}?done=${name}`;
        },
        (req, res, refusal) => show(req as Request, res, req.params.id, refusal),
      ),
    );
  order("pay", (id, typed) => sandbox.pay(id, { provider: typed.text("provider") }));
  order("cancel", (id) => sandbox.cancel(id));
  order("fail", (id) => sandbox.fail(id));
  order("scenario", (id, typed) => sandbox.scenario(typed.text("scenario"), { for: id }));
  return router;
}

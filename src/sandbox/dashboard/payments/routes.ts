import { type Router } from "express";
import { started } from "../../actions.js";
import { type DashboardContext } from "../context.js";
import { places } from "../dashboard-page.js";
import { pageRoutes, showPage } from "../form.js";
import { paymentPage, paymentsPage } from "./payments-page.js";

/** Returns the routes of `/payments`: every payment, and a page for each. */
export function payments(context: DashboardContext): Router {
  const { sandbox } = context;
  const done = async (id: string, name: string, run: () => Promise<unknown>): Promise<string> => {
    await started(run, { waitMs: 500 });
    return `${places.payments}/${id}?done=${name}`;
  };
  const router = pageRoutes(context, "/:id", paymentPage, {
    "/:id/pay": (input, id) =>
      done(id, "pay", () => sandbox.pay(id, { provider: input.get("provider") ?? "" })),
    "/:id/cancel": (_input, id) => done(id, "cancel", () => sandbox.cancel(id)),
    "/:id/fail": (_input, id) => done(id, "fail", () => sandbox.fail(id)),
    "/:id/scenario": (input, id) =>
      done(id, "scenario", async () => sandbox.scenario(input.get("scenario") ?? "", { for: id })),
  });
  router.get("/", showPage(context, paymentsPage));
  return router;
}

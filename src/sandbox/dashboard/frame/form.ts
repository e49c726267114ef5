import bodyParser from "body-parser";
import express, { type Request, type RequestHandler, type Router } from "express";
import { TillkitError } from "../../../errors/index.js";
import { type Html, type HtmlFragment, html } from "../../../pages/html.js";
import { asyncRoute } from "../../http/middleware.js";
import { type Page, respondWithPage } from "../../http/page.js";
import { postForm } from "./components.js";
import { type DashboardContext, type Problem, type View, viewOf } from "./context.js";

/** The parameters of an address: the id of a payment, an address or a delivery. */
export type Params = Record<string, string>;

type MakePage = (view: View, params: Params) => Page;

/** Does what a form asks for, and returns the path of the page that confirms it. */
type Order = (input: URLSearchParams, id: string) => string | Promise<string>;
type Orders = Readonly<Record<string, Order>>;

/** Returns a route that shows a page. */
export function showPage(context: DashboardContext, page: MakePage): RequestHandler<Params> {
  return (req, res) => respondWithPage(res, page(viewOf(req as Request, context), req.params));
}

/** Returns the routes of a page and of its forms. The orders are named by the paths that their forms are sent to. */
export function pageRoutes(context: DashboardContext, path: string, page: MakePage, orders: Orders): Router {
  const router = express.Router();
  router.get(path, showPage(context, page));
  for (const [to, order] of Object.entries(orders)) router.post(to, readForm, runOrder(context, order, page));
  return router;
}

const formType = "application/x-www-form-urlencoded";
const readForm: RequestHandler<Params> = bodyParser.text({ type: formType, limit: "256kb" });

/** Runs an order and redirects. The page of a refused form shows the reason, and everything that was typed. */
function runOrder(context: DashboardContext, order: Order, page: MakePage): RequestHandler<Params> {
  return asyncRoute<Params>(async (req, res) => {
    const body: unknown = req.body;
    const input = new URLSearchParams(typeof body === "string" ? body : "");
    const view = viewOf(req as Request, context);
    try {
      const path = await order(input, req.params["id"] ?? "");
      await context.flushed();
      res.set("Cache-Control", "no-store").redirect(303, view.root + path);
    } catch (error) {
      const { status, ...reason } = refusalBy(error);
      const problem = { ...reason, path: (req.baseUrl + req.path).replace(/\/$/, "") };
      respondWithPage(res, {
        status,
        ...page({ ...viewOf(req as Request, context), problem, input }, req.params),
      });
    }
  });
}

/** Returns a form with fields. If it was refused, it begins with the reason, and the browser goes there. */
export function fieldForm(view: View, path: string, content: HtmlFragment, className = ""): Html {
  const reason = view.problem?.path === path && problemNotice(view.problem);
  return postForm(view, `${path}#${problemId}`, [reason, content], className);
}

/** The id of the notice that says why a form was refused. A page has one at most. */
export const problemId = "problem";

/** Returns the notice that says why a form was refused. */
export function problemNotice({ text }: Problem): Html {
  return html`<p class="notice bad" id="${problemId}" role="alert">${text}</p>`;
}

/** Thrown where a form cannot be read; it says which field, and what it must be. */
export class FormProblem extends Error {}

const statuses: Readonly<Record<string, number>> = { sandbox_misused: 409, scenario_file_invalid: 400 };

/** Returns why a form was refused. Throws every other error. */
export function refusalBy(error: unknown): Omit<Problem, "path"> & { status: number } {
  if (error instanceof FormProblem) return { status: 400, text: error.message };
  const status = error instanceof TillkitError ? statuses[error.code] : undefined;
  if (!(error instanceof TillkitError) || status === undefined) throw error;
  return { status, text: error.message };
}

import bodyParser from "body-parser";
import express, { type Request, type RequestHandler, type Router } from "express";
import { TillkitError } from "../../../errors/index.js";
import { type Sandbox } from "../../contract.js";
import { asyncRoute } from "../../http/middleware.js";
import { type Page, respondWithPage } from "../../http/page.js";
import { type ResolvedSandboxOptions } from "../../options/options.js";

/** The sandbox of the dashboard, with its options and its address. */
export interface DashboardContext {
  sandbox: Sandbox;
  options: ResolvedSandboxOptions;
  /** Returns the sandbox's address. `host` is the request's host, for a sandbox that does not listen. */
  baseUrl: (host: string | undefined) => string;
  /** Resolves when every change is in the state file. */
  flushed: () => Promise<void>;
}

/** The values from which every page of the dashboard is made. */
export interface View {
  sandbox: Sandbox;
  /** The sandbox's own address. */
  baseUrl: string;
  /** The start of every path on the pages. Empty, unless the sandbox's public address has a path. */
  root: string;
  /** The query's parameters, such as the page of a list, or the last action. */
  query: Readonly<Record<string, string>>;
  /** The reason why a sent form changed nothing. */
  problem?: Problem;
  /** The fields of the form that changed nothing. */
  input?: URLSearchParams;
}

/** The reason why a form changed nothing. */
export interface Problem {
  text: string;
  /** The path that the form was sent to. */
  path: string;
}

/** Returns the values from which the pages are made for this request. */
export function viewOf(req: Request, { sandbox, baseUrl }: DashboardContext): View {
  const base = baseUrl(req.get("host"));
  const root = new URL(base).pathname.replace(/(?<!\/)\/+$/, "");
  const isText = (entry: [string, unknown]): entry is [string, string] => typeof entry[1] === "string";
  const query = Object.fromEntries(Object.entries(req.query).filter(isText));
  return { sandbox, baseUrl: base, root, query };
}

/** The parameters of an address: the id of a payment, an address or a delivery. */
export type Params = Record<string, string>;

type MakePage = (view: View, params: Params) => Page;

/** Runs the action of a form, and returns the path of the page that confirms the action. */
type Order = (input: URLSearchParams, id: string) => string | Promise<string>;
type Orders = Readonly<Record<string, Order>>;

export function showPage(context: DashboardContext, page: MakePage): RequestHandler<Params> {
  return (req, res) => respondWithPage(res, page(viewOf(req as Request, context), req.params));
}

/** Returns the routes of a page and its forms. The keys of `orders` are the paths of the forms. */
export function pageRoutes(context: DashboardContext, path: string, page: MakePage, orders: Orders): Router {
  const router = express.Router();
  router.get(path, showPage(context, page));
  for (const [to, order] of Object.entries(orders)) router.post(to, readForm, runOrder(context, order, page));
  return router;
}

const formType = "application/x-www-form-urlencoded";
const readForm: RequestHandler<Params> = bodyParser.text({ type: formType, limit: "256kb" });

/** Runs an order and redirects. After a refusal, the page shows the reason and the typed fields again. */
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

/** The error for a form that cannot be read. The message names the field and the allowed values. */
export class FormProblem extends Error {}

const statuses: Readonly<Record<string, number>> = { sandbox_misused: 409, scenario_file_invalid: 400 };

/** Returns the reason why a form was refused. Any other error is thrown again. */
export function refusalBy(error: unknown): Omit<Problem, "path"> & { status: number } {
  if (error instanceof FormProblem) return { status: 400, text: error.message };
  const status = error instanceof TillkitError ? statuses[error.code] : undefined;
  if (!(error instanceof TillkitError) || status === undefined) throw error;
  return { status, text: error.message };
}

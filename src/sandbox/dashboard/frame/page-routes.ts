import bodyParser from "body-parser";
import express, { type Request, type RequestHandler, type Router } from "express";
import { TillkitError } from "../../../errors/index.js";
import { type Sandbox } from "../../contract.js";
import { asyncRoute } from "../../http/middleware.js";
import { type Page, respondWithPage } from "../../http/page.js";
import { type ResolvedSandboxOptions } from "../../options/options.js";

/** What the dashboard works on: the sandbox as a test sees it, and how it is reached. */
export interface DashboardContext {
  sandbox: Sandbox;
  options: ResolvedSandboxOptions;
  /** Returns the sandbox's own address, as a request reached it. */
  baseUrl: (host: string | undefined) => string;
  /** Resolves when every change is in the state file. */
  flushed: () => Promise<void>;
}

/** What every page of the dashboard is made with. */
export interface View {
  sandbox: Sandbox;
  /** The sandbox's own address. */
  baseUrl: string;
  /** What every path on the pages begins with: empty, unless the sandbox's public address has a path. */
  root: string;
  /** The query's parameters: which page of a list, and what was done by the last form. */
  query: Readonly<Record<string, string>>;
  /** Why the form that was sent changed nothing. */
  problem?: Problem;
  /** The fields of that form. */
  input?: URLSearchParams;
}

/** Why a form changed nothing. */
export interface Problem {
  text: string;
  /** The path that the form was sent to. */
  path: string;
}

/** Returns what the pages are made with for this request. */
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

/** Does what a form asks for, and returns the path of the page that confirms it. */
type Order = (input: URLSearchParams, id: string) => string | Promise<string>;
type Orders = Readonly<Record<string, Order>>;

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

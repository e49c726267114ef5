import { type Request } from "express";
import { type Sandbox } from "../../contract.js";
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

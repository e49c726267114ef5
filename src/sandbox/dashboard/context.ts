import { type Request } from "express";
import { type Language, readLanguage } from "../../pages/language.js";
import { type Sandbox } from "../contract.js";
import { type ResolvedSandboxOptions } from "../resolve-options.js";
import { dashboardTranslations } from "./translations.js";

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
  language: Language;
  /** The translations that several pages share. */
  shared: (typeof dashboardTranslations)[Language];
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

/** A reason, and its language where that is not the page's. */
export interface Problem {
  text: string;
  /** The path that the form was sent to. */
  path: string;
  language?: Language;
}

/** A view with the translations of its page. */
export type ViewWith<Table extends Readonly<Record<Language, unknown>>> = View & { text: Table[Language] };

/** Returns the view with the translations of its page. */
export function withTranslations<T>(view: View, table: Readonly<Record<Language, T>>): View & { text: T } {
  return { ...view, text: table[view.language] };
}

/** Returns what the pages are made with for this request. */
export function viewOf(req: Request, { sandbox, baseUrl }: DashboardContext): View {
  const base = baseUrl(req.get("host"));
  const root = new URL(base).pathname.replace(/(?<!\/)\/+$/, "");
  const language = readLanguage(req);
  const isText = (entry: [string, unknown]): entry is [string, string] => typeof entry[1] === "string";
  const query = Object.fromEntries(Object.entries(req.query).filter(isText));
  return { sandbox, language, shared: dashboardTranslations[language], baseUrl: base, root, query };
}

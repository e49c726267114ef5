import { type Request } from "express";
import { type Language, readLanguage } from "../../pages/language.js";
import { type Sandbox } from "../contract.js";
import { type ResolvedOptions } from "../options.js";
import { dashboardTranslations } from "./translations.js";

/** What the dashboard works on: the sandbox as a test sees it, and how it is reached. */
export interface DashboardContext {
  sandbox: Sandbox;
  resolved: ResolvedOptions;
  /** Returns the sandbox's address; `host` is what the request named. */
  baseUrl: (host: string | undefined) => string;
  /** Resolves when every change is on disk, where the state is kept. */
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
  /** Why the form that was sent changed nothing, and the language of the reason, where it may differ from the page's. */
  problem?: { text: string; language?: Language };
  /** The fields of that form. */
  input?: FormInput;
}

/** A view with the translations of its page. */
export type ViewWith<Translations extends Readonly<Record<Language, unknown>>> = View & {
  text: Translations[Language];
};

/** Returns what the pages are made with for this request. */
export function viewOf(req: Request, { sandbox, baseUrl }: DashboardContext): View {
  const base = baseUrl(req.get("host"));
  const root = new URL(base).pathname.replace(/\/+$/, "");
  const language = readLanguage(req);
  const isText = (entry: [string, unknown]): entry is [string, string] => typeof entry[1] === "string";
  const query = Object.fromEntries(Object.entries(req.query).filter(isText));
  return {
    sandbox,
    language,
    shared: dashboardTranslations[language],
    baseUrl: base,
    root,
    query,
  };
}

/** The fields of a form as they were sent. */
export class FormInput {
  readonly #fields: Readonly<Record<string, unknown>>;

  constructor(fields: Readonly<Record<string, unknown>>) {
    this.#fields = fields;
  }

  /** Returns the text of a field; empty where it was not sent. */
  text(name: string): string {
    return this.list(name)[0] ?? "";
  }

  /** Returns every value of a field that may be sent several times. */
  list(name: string): string[] {
    const value = Object.hasOwn(this.#fields, name) ? this.#fields[name] : [];
    return (Array.isArray(value) ? value : [value]).filter((each) => typeof each === "string");
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#fields, name);
  }
}

import { type Request } from "express";
import { type Sandbox } from "../contract.js";
import { type View } from "./view.js";
import { readLanguage } from "../read-language.js";

/** What the dashboard works on: the sandbox as a test sees it, and how it is reached. */
export interface Desk {
  sandbox: Sandbox;
  baseUrl: (host: string | undefined) => string;
  flushed: () => Promise<void>;
}

/** How this request sees the pages. */
export function viewOf(req: Request, { sandbox, baseUrl }: Desk): View {
  const base = baseUrl(req.get("host"));
  return {
    language: readLanguage(req),
    baseUrl: base,
    root: rootOf(base),
    merchantName: sandbox.merchantName,
    query: Object.fromEntries(
      Object.entries(req.query).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
    ),
  };
}

/** The path that the sandbox lives below, without a slash at its end. */
export function rootOf(base: string): string {
  return new URL(base).pathname.replace(/\/+$/, "");
}

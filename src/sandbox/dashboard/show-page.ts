import { type Request, type Response } from "express";
import { type Sandbox } from "../contract.js";
import { type View } from "./view.js";
import { type Page, sendPage } from "../page.js";
import { type Desk, viewOf } from "./context.js";
import { type Refusal } from "./form.js";

/** Shows a page of the dashboard; with a refusal, what was wrong and everything that was typed. */
export function showPage(
  desk: Desk,
  page: (sandbox: Sandbox, view: View) => Page,
): (req: Request, res: Response, refusal?: Refusal) => void {
  return (req, res, refusal) =>
    sendPage(res, refusal?.status ?? 200, page(desk.sandbox, { ...viewOf(req, desk), ...refusal }));
}

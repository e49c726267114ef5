import { type Response } from "express";
import { html } from "../../pages/html.js";
import { type SandboxSettings } from "../state/settings.js";

/** The content of an error response. The interface document shows no format; such services send these three fields. */
interface ErrorContent {
  status: number;
  title: string;
  detail: string;
}

/** Sends an error in the form that the settings choose. */
export function sendError(res: Response, form: SandboxSettings["errorBodies"], content: ErrorContent): void {
  res.status(content.status);
  if (form === "problem") res.json(content);
  else if (form === "bare") res.end();
  else sendErrorPage(res, content);
}

/** Sends an HTML page where JSON is expected, as a proxy in front of a service does. */
export function sendErrorPage(res: Response, { status, title, detail }: ErrorContent): void {
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <title>${status} ${title}</title>
      </head>
      <body>
        <h1>${title}</h1>
        <p>${detail}</p>
      </body>
    </html>`;
  res.status(status).type("html").send(page.toString());
}

import { type Response } from "express";
import { html } from "../../pages/html.js";
import { type SandboxSettings } from "../state/settings.js";

/** The error format is not shown in the interface document; these three fields are what such services send. */
export interface Problem {
  status: number;
  title: string;
  detail: string;
}

/** Answers an error in the form that the settings choose. */
export function answerError(res: Response, form: SandboxSettings["errorBodies"], problem: Problem): void {
  res.status(problem.status);
  if (form === "problem") return void res.json(problem);
  if (form === "bare") return void res.end();
  answerPage(res, problem);
}

/** A page where JSON was expected, as a proxy in front of a service would send it. */
export function answerPage(res: Response, { status, title, detail }: Problem): void {
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

import bodyParser from "body-parser";
import { type Request, type RequestHandler, type Response } from "express";
import { TillkitError } from "../../errors/index.js";
import { asyncRoute } from "../middleware.js";
import { type Told, Typed } from "./view.js";
import { type Language } from "../../pages/language.js";
import { readLanguage } from "../read-language.js";
import { type Desk, rootOf } from "./context.js";

/** Why a form changed nothing. */
export interface Refusal {
  status: number;
  problem: Told;
  typed: Typed;
}

/** A form that cannot be read; the words say which field, and what it must be. */
export class FormProblem extends Error {
  constructor(readonly words: Readonly<Record<Language, string>>) {
    super(words.en);
  }
}

const readForm = bodyParser.urlencoded({ extended: false, limit: "256kb", parameterLimit: 500 });

type Params = Record<string, string>;

/**
 * Does what a form asks for, and leads by 303 to the path that it answers, so that a reload does nothing twice. What
 * cannot be done is told on the page that the form came from, with all that was typed.
 */
export function onForm<P extends Params = Params>(
  desk: Desk,
  run: (typed: Typed, params: P) => string | Promise<string>,
  showAgain: (req: Request<P>, res: Response, refusal: Refusal) => void,
): RequestHandler<P>[] {
  const handle = asyncRoute<P>(async (req, res) => {
    const body: unknown = req.body;
    const typed = new Typed(typeof body === "object" && body !== null ? { ...body } : {});
    try {
      const path = await run(typed, req.params);
      await desk.flushed();
      res.set("Cache-Control", "no-store").redirect(303, rootOf(desk.baseUrl(req.get("host"))) + path);
    } catch (error) {
      const told = toldBy(error, readLanguage(req as Request));
      if (told === undefined) throw error;
      showAgain(req, res, { ...told, typed });
    }
  });
  return [readForm as RequestHandler<P>, handle];
}

const refusals: Readonly<Record<string, number>> = { sandbox_misused: 409, scenario_file_invalid: 400 };

function toldBy(error: unknown, language: Language): Omit<Refusal, "typed"> | undefined {
  if (error instanceof FormProblem) return { status: 400, problem: { text: error.words[language] } };
  const status = error instanceof TillkitError ? refusals[error.code] : undefined;
  if (!(error instanceof TillkitError) || status === undefined) return undefined;
  // The sandbox says what is wrong in English, as to a program.
  return { status, problem: { text: error.message, language: "en" } };
}

import { type Request } from "express";
import { type Language, languages } from "../pages/language.js";

/** The language that the browser asks for; English where it asks for neither. */
export function readLanguage(req: Request): Language {
  const accepted = req.acceptsLanguages(...languages);
  return languages.find((language) => language === accepted) ?? "en";
}

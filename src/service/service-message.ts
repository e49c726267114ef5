import { withoutSecrets } from "../errors/conceal-secrets.js";
import { parseJson } from "./response-body.js";

const longest = 500;

/**
 * The service's own words from an error's JSON body: `title` and `detail`, as services with this interface send them
 * (the interface document, 7, shows no format). The result is for people and logs: one line, bounded, and without the
 * token that a careless service may echo.
 */
export function serviceMessage(body: Buffer | undefined, token: string): string | undefined {
  const json = body === undefined ? undefined : parseJson(body);
  if (typeof json !== "object" || json === null) return undefined;
  const { title, detail } = json as { title?: unknown; detail?: unknown };
  const text = [title, detail]
    .filter((part) => typeof part === "string")
    // Controls, invisible format characters (bidirectional marks), line separators, lone surrogates.
    .map((part) => part.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu, " ").trim())
    .filter((part) => part !== "")
    .join(": ")
    .replaceAll(token, "[token]");
  return text === "" ? undefined : Array.from(withoutSecrets(text)).slice(0, longest).join("").trim();
}

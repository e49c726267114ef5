import { type ErrorRequestHandler, type Request, type RequestHandler, type Response } from "express";

/** Returns a handler that passes rejections to Express. Express 4 itself would leave rejections unhandled. */
export function asyncRoute<Params extends Record<string, string> = Record<string, string>>(
  handle: (req: Request<Params>, res: Response) => Promise<void> | void,
): RequestHandler<Params> {
  return async (req, res, next) => {
    try {
      await handle(req, res);
    } catch (error) {
      next(error);
    }
  };
}

/** Forbids browsers and proxies to store the response. */
export const noStore: RequestHandler = (_req, res, next) => {
  res.set("Cache-Control", "no-store");
  next();
};

/** Returns an error handler for bodies that could not be read. Other errors are passed on. */
export function onBodyError(
  refuse: (res: Response, status: number, detail: string) => void,
): ErrorRequestHandler {
  return (error: BodyError, _req, res, next) => {
    if (typeof error.status !== "number" || error.status >= 500) return next(error);
    refuse(res, error.status, describeBodyError(error));
  };
}

/** An error of body-parser, or of Express. */
type BodyError = Error & { type?: string; status?: number; limit?: number; charset?: string };

/** Returns the reason why a body could not be read, with a fix. */
function describeBodyError({ type, message, limit = 0, charset }: BodyError): string {
  if (type === "entity.too.large") return `Send at most ${limit / 1024} KiB.`;
  if (type === "charset.unsupported") return `Send the body in UTF-8, not in ${charset}.`;
  if (type === "encoding.unsupported") return "Send the body without Content-Encoding.";
  return `The body could not be read${type === "entity.parse.failed" ? " as JSON" : ""}: ${message}.`;
}

/** Returns whether the request asks for a page, as a browser does, and not for data with a token. */
export function wantsPage(req: Request): boolean {
  return req.get("authorization") === undefined && /text\/html/i.test(req.get("accept") ?? "");
}

/**
 * Returns a handler that allows requests only from the sandbox's own pages and from programs. A page of
 * another origin can neither send forms to the sandbox, nor read the responses through a host name that
 * points to this machine.
 */
export function ownOriginOnly(publicUrl: string | undefined): RequestHandler {
  const publicHost = publicUrl === undefined ? undefined : new URL(publicUrl).host;
  return (req, res, next) => {
    const host = req.get("host") ?? "";
    const isKnownHost = host === publicHost || localHost.test(host);
    const site = req.get("sec-fetch-site");
    const origin = req.get("origin");
    const isOwn =
      (site === undefined || site === "same-origin" || site === "none") &&
      (origin === undefined || (URL.canParse(origin) && new URL(origin).host === host));
    // A link on another site may lead here, because a GET changes nothing.
    const isVisit = ["GET", "HEAD"].includes(req.method) && req.get("sec-fetch-mode") === "navigate";
    if (isKnownHost && (isOwn || isVisit)) return next();
    res.status(403).json({
      status: 403,
      title: "Forbidden",
      detail:
        "The sandbox accepts requests from its own pages and from programs on this machine. " +
        "To reach it under another host name, set the option publicUrl to that address.",
    });
  };
}

/** Matches localhost and IP addresses, because no DNS server can change where they lead. */
const localHost = /^(?:localhost|\d+\.\d+\.\d+\.\d+|\[[0-9a-f:]+\])(?::\d+)?$/i;

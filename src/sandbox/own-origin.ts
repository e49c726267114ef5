import { type RequestHandler } from "express";

/**
 * Lets only the sandbox's own pages, and programs, change something. A page of another origin that the developer has
 * open could otherwise press buttons here; and a name that an attacker lets point to this machine could read answers.
 */
export function ownOriginOnly(publicUrl: string | undefined): RequestHandler {
  const publicHost = publicUrl === undefined ? undefined : new URL(publicUrl).host;
  return (req, res, next) => {
    const host = req.get("host") ?? "";
    const isKnownHost = host === publicHost || isLocal(host) || isAddress(host);
    const site = req.get("sec-fetch-site");
    const origin = req.get("origin");
    const isOwn =
      (site === undefined || site === "same-origin" || site === "none") &&
      (origin === undefined || (URL.canParse(origin) && new URL(origin).host === host));
    // Following a link from elsewhere changes nothing.
    const isVisit = ["GET", "HEAD"].includes(req.method) && req.get("sec-fetch-mode") === "navigate";
    if (isKnownHost && (isOwn || isVisit)) return next();
    res.status(403).json({
      status: 403,
      title: "Forbidden",
      detail:
        "The sandbox takes orders from its own pages, and from programs on this machine. To reach it under another " +
        "name, give that address as publicUrl.",
    });
  };
}

function isLocal(host: string): boolean {
  return /^(?:[a-z0-9-]+\.)*localhost(?::\d+)?$/i.test(host);
}

/** A number cannot be made to point elsewhere. */
function isAddress(host: string): boolean {
  return /^\d+\.\d+\.\d+\.\d+(?::\d+)?$/.test(host) || /^\[[0-9a-f:]+\](?::\d+)?$/i.test(host);
}

import { createHash, timingSafeEqual } from "node:crypto";
import { type RequestHandler } from "express";

/** Asks the browser for the shopkeeper's password (any user name). The list of orders must not be public. */
export function keeperOnly(password: string): RequestHandler {
  const expected = sha256(password);
  return (req, res, next) => {
    const [, encoded = ""] = /^Basic (.+)$/i.exec(req.get("authorization") ?? "") ?? [];
    const given = Buffer.from(encoded, "base64")
      .toString("utf8")
      .replace(/^[^:]*:/, "");
    if (timingSafeEqual(sha256(given), expected)) return next();
    res
      .status(401)
      .set("WWW-Authenticate", 'Basic realm="desk", charset="UTF-8"')
      .type("text")
      .send("Password?\n");
  };
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

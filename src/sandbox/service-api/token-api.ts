import bodyParser from "body-parser";
import express, { type Request, type Response, type Router } from "express";
import { type SandboxClient } from "../options.js";
import { type Parts } from "../parts.js";
import { asyncRoute } from "../async-route.js";
import { answerPage } from "./error-answer.js";

/** `POST /oauth/token`: OAuth 2 client credentials (RFC 6749, 4.4). The interface document shows no way to a token. */
export function tokenApi({ sandbox, tokens, troubles, flushed }: Parts): Router {
  const router = express.Router();
  router.post(
    "/oauth/token",
    bodyParser.urlencoded({ extended: false, limit: "16kb" }),
    asyncRoute(async (req, res) => {
      res.set("Cache-Control", "no-store");
      const { answer, expiresAfterMs } = troubles.take();
      // Ended by the merchant's patience, or with the sandbox.
      if (answer === "hang") return;
      if (answer === "unavailable")
        return refuse(res, 503, "temporarily_unavailable", "The scenario has it so.");
      if (answer === "html") {
        return answerPage(res, { status: 502, title: "Bad gateway", detail: "The scenario has it so." });
      }
      const form = readForm(req);
      if (form === undefined) {
        return refuse(
          res,
          400,
          "invalid_request",
          "Send each field once, as application/x-www-form-urlencoded.",
        );
      }
      if (form["grant_type"] === undefined) {
        return refuse(res, 400, "invalid_request", "grant_type is missing; use client_credentials.");
      }
      if (form["grant_type"] !== "client_credentials") {
        return refuse(
          res,
          400,
          "unsupported_grant_type",
          "The sandbox knows grant_type=client_credentials only.",
        );
      }
      const basic = readBasic(req);
      if (basic !== undefined && form["client_secret"] !== undefined) {
        return refuse(
          res,
          400,
          "invalid_request",
          "Send the credentials in the header or in the form, not in both.",
        );
      }
      const client = basic ?? readFormClient(form);
      if (client === undefined) {
        return refuse(res, 400, "invalid_request", "client_id and client_secret are missing.");
      }
      if (!tokens.knows(client) && !(basic && tokens.knows(formDecoded(basic)))) {
        if (basic !== undefined) res.set("WWW-Authenticate", 'Basic realm="sandbox"');
        return refuse(
          res,
          401,
          "invalid_client",
          "No client with this client_id and client_secret is registered.",
        );
      }
      const { accessTokenTtlSeconds } = sandbox.settings;
      const token = tokens.issue(expiresAfterMs ?? accessTokenTtlSeconds * 1000);
      await flushed();
      res.json({ access_token: token, token_type: "Bearer", expires_in: accessTokenTtlSeconds });
    }),
  );
  return router;
}

function refuse(res: Response, status: number, error: string, description: string): void {
  res.status(status).json({ error, error_description: description });
}

function readForm(req: Request): Record<string, string> | undefined {
  if (!req.is("application/x-www-form-urlencoded")) return undefined;
  const body: Record<string, unknown> = req.body;
  const form: Record<string, string> = {};
  for (const [name, value] of Object.entries(body)) {
    // A field that was sent twice arrives as a list.
    if (typeof value !== "string") return undefined;
    form[name] = value;
  }
  return form;
}

function readFormClient(form: Record<string, string>): SandboxClient | undefined {
  const { client_id: clientId, client_secret: clientSecret } = form;
  return clientId === undefined || clientSecret === undefined ? undefined : { clientId, clientSecret };
}

function readBasic(req: Request): SandboxClient | undefined {
  const encoded = /^Basic ([A-Za-z0-9+/=]+)$/i.exec(req.get("authorization") ?? "")?.[1];
  if (encoded === undefined) return undefined;
  const [id, ...secret] = Buffer.from(encoded, "base64").toString("utf8").split(":");
  return { clientId: id!, clientSecret: secret.join(":") };
}

/** RFC 6749, 2.3.1: both parts are form-encoded before they are joined. Most merchants join them as they are. */
function formDecoded({ clientId, clientSecret }: SandboxClient): SandboxClient {
  return { clientId: formDecode(clientId), clientSecret: formDecode(clientSecret) };
}

function formDecode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}

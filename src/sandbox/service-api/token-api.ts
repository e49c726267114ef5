import bodyParser from "body-parser";
import express, { type Request, type Response, type Router } from "express";
import { z } from "zod";
import { type SandboxCore } from "../core/core.js";
import { asyncRoute, noStore, onBodyError, wantsPage } from "../http/middleware.js";
import { sendErrorPage } from "../http/page.js";
import { type SandboxClient } from "../state/tokens.js";
import { type TokenFaults } from "../scenario/scenario-registry.js";
import { type AccessTokens } from "../state/tokens.js";

/** Makes `POST /oauth/token` (RFC 6749, 4.4). The interface document does not specify this path. */
export function tokenApi(core: SandboxCore, faults: TokenFaults): Router {
  const { settings, stateFile, tokens } = core;
  const refuse = (res: Response, ...[status, error, description]: TokenRefusal): void => {
    if (status === 401 && basicCredentials(res.req)) res.set("WWW-Authenticate", 'Basic realm="sandbox"');
    core.noteRefusal(res.req, status, description);
    res.status(status).json({ error, error_description: description });
  };
  const router = express.Router();
  const issue = async (req: Request, res: Response): Promise<void> => {
    const { answer, expiresAfterMs } = faults.takeFault();
    // There is no response, so the merchant's timeout ends the request.
    if (answer === "hang") return;
    const detail = "The scenario makes the token request fail.";
    if (answer === "unavailable") return refuse(res, 503, "temporarily_unavailable", detail);
    if (answer === "html") return sendErrorPage(res, { status: 502, title: "Bad gateway", detail });
    const refusal = checkRequest(req, tokens);
    if (refusal !== undefined) return refuse(res, ...refusal);
    const { accessTokenTtlSeconds } = settings.current;
    const token = tokens.issue(expiresAfterMs ?? accessTokenTtlSeconds * 1000);
    await stateFile.flushed();
    res.json({ access_token: token, token_type: "Bearer", expires_in: accessTokenTtlSeconds });
  };
  const readForm = bodyParser.urlencoded({ extended: false, limit: "16kb" });
  router.post("/oauth/token", readForm, noStore, asyncRoute(issue));
  router.all("/oauth/token", (req, res, next) => {
    if (wantsPage(req)) return next();
    const detail = "Request a token with POST, and not with another method.";
    refuse(res.set("Allow", "POST"), 405, "invalid_request", detail);
  });
  const refuseBody = onBodyError((res, status, detail) => refuse(res, status, "invalid_request", detail));
  router.use("/oauth/token", refuseBody);
  return router;
}

/** An error response of OAuth. */
type TokenRefusal = readonly [status: number, error: string, description: string];

/** Returns the refusal of a request that has no valid credentials. */
function checkRequest(req: Request, tokens: AccessTokens): TokenRefusal | undefined {
  const invalid = (description: string): TokenRefusal => [400, "invalid_request", description];
  const form = formOf(req);
  if (form === undefined) return invalid("Send each field once, as application/x-www-form-urlencoded.");
  const { grant_type: grantType, client_id: clientId, client_secret: clientSecret } = form;
  if (grantType === undefined) return invalid("grant_type is missing; use client_credentials.");
  if (grantType !== "client_credentials")
    return [400, "unsupported_grant_type", "The sandbox supports grant_type=client_credentials only."];
  const basic = basicCredentials(req);
  if (basic !== undefined && clientSecret !== undefined)
    return invalid("Send the credentials in the header or in the form, not in both.");
  const fromForm =
    clientId === undefined || clientSecret === undefined ? undefined : { clientId, clientSecret };
  const client = basic ?? fromForm;
  if (client === undefined) return invalid("client_id and client_secret are missing.");
  if (tokens.knows(client) || (basic && tokens.knows(formDecoded(basic)))) return undefined;
  return [401, "invalid_client", "No client with this client_id and client_secret is registered."];
}

function formOf(req: Request): Record<string, string> | undefined {
  if (!req.is("application/x-www-form-urlencoded")) return undefined;
  // A field that was sent twice arrives as a list, which is refused.
  return formSchema.safeParse(req.body).data;
}

const formSchema = z.record(z.string(), z.string());

function basicCredentials(req: Request): SandboxClient | undefined {
  const encoded = /^Basic ([A-Za-z0-9+/=]+)$/i.exec(req.get("authorization") ?? "")?.[1];
  if (encoded === undefined) return undefined;
  const [id, ...secret] = Buffer.from(encoded, "base64").toString("utf8").split(":");
  return { clientId: id!, clientSecret: secret.join(":") };
}

/** Returns the form-decoded credentials (RFC 6749, 2.3.1). Most merchants send them without form-encoding. */
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

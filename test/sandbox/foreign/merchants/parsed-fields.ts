import crypto from "node:crypto";
import { createServer } from "node:http";
import express from "express";
import { type ForeignMerchant, listening, type ServiceAccess } from "../foreign-merchant.js";

/** The paths of the signed fields, as the service described them. */
const signedFields = "id,merchantId,clientId,total.value,total.currency,submittedAt,status";

function pick(object: unknown, path: string): unknown {
  return path
    .split(".")
    .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], object);
}

/** Opens a shop with a global JSON parser, which signs fields of the parsed object under its own header name. */
export async function openParsedFields(access: ServiceAccess): Promise<ForeignMerchant> {
  const app = express();
  app.use(express.json());
  app.use(express.urlencoded({ extended: false }));
  const state: Record<string, string> = {};
  let session: { access_token: string } | undefined;
  let shopUrl = "";

  async function login() {
    const response = await fetch(access.tokenUrl, {
      method: "POST",
      body: new URLSearchParams({
        client_id: access.clientId,
        client_secret: access.clientSecret,
        grant_type: "client_credentials",
      }),
    });
    return (await response.json()) as { access_token: string };
  }
  const api = async (path: string, payload: object, retry = true): Promise<Record<string, unknown>> => {
    const current = session ?? (await login());
    session = current;
    const response = await fetch(access.apiUrl + path, {
      method: "POST",
      headers: {
        accept: "application/json",
        "accept-language": "fr",
        authorization: `Bearer ${current.access_token}`,
        "content-type": "application/json; charset=utf-8",
      },
      body: JSON.stringify(payload),
    });
    if (response.status === 401 && retry) {
      session = undefined;
      return api(path, payload, false);
    }
    const body = (await response.json()) as Record<string, unknown>;
    if (response.status >= 400) throw new Error(String(body["detail"]));
    return body;
  };

  app.post("/buy", async (req, res) => {
    const ref = `R${Object.keys(state).length + 1}.${crypto.randomBytes(4).toString("hex")}`;
    state[ref] = "pending";
    const { next } = await api("/v1/payments", {
      clientId: ref,
      successUrl: `${shopUrl}/back/${ref}/ok`,
      cancelUrl: `${shopUrl}/back/${ref}/ko`,
      purchase: { total: { value: req.body.amount, currency: "KMF" } },
    });
    res.redirect(303, String(next));
  });
  app.post("/notify", (req, res) => {
    const data = { ...req.body.data, merchantId: access.merchantId };
    const text = signedFields.split(",").map((path) => pick(data, path));
    const sum = crypto.createHmac("sha256", access.webhookSecret).update(text.join(",")).digest("hex");
    if (sum !== req.headers["x-pay-signature"]) return void res.sendStatus(403);
    if (data.status === "completed") state[data.clientId] = "paid";
    res.sendStatus(204);
  });
  app.get("/back/:ref/ok", (req, res) => void res.send(`Thank you for order ${req.params.ref}`));
  app.get("/back/:ref/ko", (req, res) => void res.send(`You canceled order ${req.params.ref}`));
  app.get("/status/:ref", (req, res) => void res.send(state[req.params.ref]));

  const open = await listening(createServer(app));
  shopUrl = open.url;
  return { ...open, webhookUrl: `${shopUrl}/notify` };
}

import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import express from "express";
import { type ForeignMerchant, listening, type ServiceAccess } from "../foreign-merchant.js";

interface Config {
  method: string;
  url: string;
  data?: unknown;
  headers?: Record<string, string>;
  auth?: { username: string; password: string };
}

/** Sends a request like the HTTP clients of many shops: throws unless the status is 2xx, and parses the response. */
async function client({
  method,
  url,
  data,
  headers = {},
  auth,
}: Config): Promise<{ status: number; data: unknown }> {
  const isForm = data instanceof URLSearchParams;
  const response = await fetch(url, {
    method,
    headers: {
      Accept: "application/json, text/plain, */*",
      "Content-Type": isForm ? "application/x-www-form-urlencoded;charset=utf-8" : "application/json",
      ...(auth && { Authorization: `Basic ${btoa(`${auth.username}:${auth.password}`)}` }),
      ...headers,
    },
    body: isForm ? data.toString() : JSON.stringify(data),
  });
  const answer = await response.json();
  if (!response.ok) throw Object.assign(new Error(`status ${response.status}`), { response: answer });
  return { status: response.status, data: answer };
}

/** Opens a shop with Express and Basic auth. It keeps the token almost until `expires_in`, and follows `submitUrl`. */
export async function openExpressBasic(access: ServiceAccess): Promise<ForeignMerchant> {
  const app = express();
  const orders: { no: number; amount: string; attempt: string; paidAt?: string }[] = [];
  let cached: { token: string; until: number } | undefined;
  let shopUrl = "";

  async function bearer(): Promise<string> {
    if (cached && Date.now() < cached.until) return cached.token;
    const { data } = await client({
      method: "post",
      url: access.tokenUrl,
      data: new URLSearchParams({ grant_type: "client_credentials" }),
      auth: { username: access.clientId, password: access.clientSecret },
    });
    const { access_token: token, expires_in: seconds } = data as { access_token: string; expires_in: number };
    cached = { token, until: Date.now() + (seconds - 60) * 1000 };
    return cached.token;
  }

  app.post("/buy", express.urlencoded({ extended: true }), async (req, res) => {
    const no = orders.length + 1;
    const order = { no, amount: String(req.body.amount), attempt: `shop-${no}-${Date.now().toString(36)}` };
    orders.push(order);
    const { data: envelope } = await client({
      method: "post",
      url: `${access.apiUrl}/v1/payments`,
      headers: { Authorization: `Bearer ${await bearer()}` },
      data: {
        clientId: order.attempt,
        purchase: { total: { currency: "KMF", value: order.amount } },
        successUrl: `${shopUrl}/orders/${no}/success`,
        cancelUrl: `${shopUrl}/orders/${no}/cancel`,
      },
    });
    const { data: payment } = envelope as { data: { billing: { submitUrl: string } } };
    res.redirect(payment.billing.submitUrl);
  });

  app.post("/hooks/payments", express.json(), (req, res) => {
    const { id, clientId, total, submittedAt, status } = req.body.data;
    const signed = `${id},${access.merchantId},${clientId},${total.value},${total.currency},${submittedAt},${status}`;
    const expected = createHmac("sha256", access.webhookSecret).update(signed, "utf8").digest("hex");
    if (req.get("Service-Signature") !== expected) return void res.status(401).json({ error: "signature" });
    const order = orders.find(({ attempt }) => attempt === clientId);
    if (order && req.body.topic === "payment.completed") order.paidAt ??= req.body.timestamp;
    res.json({ ok: true });
  });

  app.get("/orders/:no/success", (req, res) => void res.send(`Thank you for order ${req.params.no}`));
  app.get("/orders/:no/cancel", (req, res) => void res.send(`You canceled order ${req.params.no}`));
  app.get("/status/:no", (req, res) => {
    const order = orders.find(({ no }) => no === Number(req.params.no));
    res.send(order?.paidAt === undefined ? "unpaid" : "paid");
  });
  const open = await listening(createServer(app));
  shopUrl = open.url;
  return { ...open, webhookUrl: `${shopUrl}/hooks/payments` };
}

import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, request } from "node:http";
import express from "express";
import { type ForeignMerchant, listening, type ServiceAccess } from "../foreign-merchant.js";

/** Opens a shop that also sends with node:http, obtains a token for every payment, and checks the bytes that arrived. */
export async function openRawBody(access: ServiceAccess): Promise<ForeignMerchant> {
  const app = express();
  const paid = new Set<string>();
  let shopUrl = "";
  let count = 0;

  function post<T>(url: string, headers: Record<string, string>, body: string): Promise<T> {
    return new Promise((resolve, reject) => {
      const req = request(
        url,
        { method: "POST", headers: { ...headers, Accept: "application/json" } },
        (res) => {
          let text = "";
          res.on("data", (chunk: Buffer) => (text += chunk.toString()));
          res.on("end", () => {
            if (res.statusCode! < 300) resolve(JSON.parse(text) as T);
            else reject(new Error(`${res.statusCode}: ${text}`));
          });
        },
      );
      req.on("error", reject);
      req.end(body);
    });
  }

  app.post("/buy", express.urlencoded({ extended: false }), async (req, res) => {
    const form = new URLSearchParams();
    form.append("grant_type", "client_credentials");
    form.append("client_id", access.clientId);
    form.append("client_secret", access.clientSecret);
    const { access_token: token } = await post<{ access_token: string }>(
      access.tokenUrl,
      { "Content-Type": "application/x-www-form-urlencoded" },
      form.toString(),
    );
    count += 1;
    const order = `2030-${String(count).padStart(6, "0")}`;
    const payment = await post<{ data: { id: string; billing: { submitUrl: string } } }>(
      `${access.apiUrl}/v1/payments`,
      { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
      JSON.stringify({
        purchase: { total: { value: req.body.amount, currency: "KMF" } },
        clientId: order,
        cancelUrl: `${shopUrl}/c/${order}`,
        successUrl: `${shopUrl}/s/${order}`,
      }),
    );
    res.redirect(payment.data.billing.submitUrl);
  });
  app.post("/webhooks/pay", express.raw({ type: "application/json" }), (req, res) => {
    const expected = createHmac("sha256", access.webhookSecret).update(req.body).digest();
    const given = Buffer.from(req.get("service-signature") ?? "", "hex");
    const isGenuine = given.length === expected.length && timingSafeEqual(given, expected);
    if (!isGenuine) return void res.status(400).send("bad signature");
    const { topic, data } = JSON.parse(req.body.toString("utf8"));
    if (topic === "payment.completed" && data.captured === true) paid.add(data.clientId);
    res.status(200).send("OK");
  });
  app.get("/s/:order", (req, res) => void res.send(`Thank you for order ${req.params.order}`));
  app.get("/c/:order", (req, res) => void res.send(`You canceled order ${req.params.order}`));
  app.get("/status/:order", (req, res) => void res.send(paid.has(req.params.order) ? "paid" : "open"));

  const open = await listening(createServer(app));
  shopUrl = open.url;
  return { ...open, webhookUrl: `${shopUrl}/webhooks/pay` };
}

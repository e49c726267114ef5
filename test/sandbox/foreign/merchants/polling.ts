import { createServer } from "node:http";
import express from "express";
import { type ForeignMerchant, listening, type ServiceAccess } from "../foreign-merchant.js";

interface Payment {
  id: string;
  status: string;
  purchase: { total: { value: string; currency: string } };
}

/** Opens a shop without a webhook address: it reads the payment back each time that an order is shown. */
export async function openPolling(access: ServiceAccess): Promise<ForeignMerchant> {
  const app = express();
  const orders = new Map<string, { paymentId: string; amount: string }>();
  let token: string | undefined;
  let shopUrl = "";

  async function call(method: string, path: string, body?: object): Promise<unknown> {
    for (let round = 0; round < 2; round++) {
      token ??= await login();
      const response = await fetch(new URL(path, access.apiUrl), {
        method,
        headers: {
          Accept: "application/json",
          Authorization: `Bearer ${token}`,
          "Content-Type": "application/json",
        },
        ...(body && { body: JSON.stringify(body) }),
      });
      if (response.ok) return response.json();
      if (response.status !== 401) throw new Error(`${method} ${path}: ${response.status}`);
      token = undefined;
    }
    throw new Error("the service takes no token");
  }
  async function login(): Promise<string> {
    const credentials = Buffer.from(`${access.clientId}:${access.clientSecret}`).toString("base64");
    const response = await fetch(access.tokenUrl, {
      method: "POST",
      headers: { Authorization: `Basic ${credentials}`, "Content-Type": "application/x-www-form-urlencoded" },
      body: "grant_type=client_credentials",
    });
    return ((await response.json()) as { access_token: string }).access_token;
  }

  app.post("/buy", express.urlencoded({ extended: false }), async (req, res) => {
    const { amount } = req.body;
    const number = `poll-${orders.size + 1}`;
    const created = (await call("POST", "/v1/payments", {
      purchase: { total: { value: amount, currency: "KMF" } },
      clientId: number,
      cancelUrl: `${shopUrl}/canceled/${number}`,
      successUrl: `${shopUrl}/done/${number}`,
    })) as { next: string; data: Payment };
    orders.set(number, { paymentId: created.data.id, amount });
    res.redirect(created.next);
  });
  app.get("/done/:n", (req, res) => void res.send(`Thank you for order ${req.params.n}`));
  app.get("/canceled/:n", (req, res) => void res.send(`You canceled order ${req.params.n}`));
  app.get("/status/:n", async (req, res) => {
    const order = orders.get(req.params.n)!;
    const { data } = (await call("GET", `/v1/payments/${order.paymentId}`)) as { data: Payment };
    const isPaid = data.status === "completed" && data.purchase.total.value === order.amount;
    res.send(isPaid ? "paid" : data.status);
  });

  const open = await listening(createServer(app));
  shopUrl = open.url;
  return open;
}

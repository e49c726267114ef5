import { createHmac, randomUUID, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type ForeignMerchant, listening, type ServiceAccess } from "../foreign-merchant.js";

interface Order {
  amount: string;
  status: "new" | "canceled" | "paid";
}

/** Opens a shop with node:http and fetch only. It keeps the token until the service refuses it, and follows `next`. */
export async function openPlainHttp(access: ServiceAccess): Promise<ForeignMerchant> {
  const orders = new Map<string, Order>();
  let token = "";
  let shopUrl = "";

  async function getToken() {
    const response = await fetch(access.tokenUrl, {
      method: "POST",
      headers: { Accept: "application/json", "Content-Type": "application/x-www-form-urlencoded" },
      body: `client_id=${access.clientId}&client_secret=${access.clientSecret}&grant_type=client_credentials`,
    });
    if (!response.ok) throw new Error(`token: ${response.status}`);
    const json = (await response.json()) as { access_token: string; expires_in: number };
    token = json.access_token;
  }

  async function createPayment(clientId: string, amount: string): Promise<string> {
    const send = () =>
      fetch(`${access.apiUrl}/v1/payments`, {
        method: "POST",
        headers: {
          Accept: "application/json",
          Authorization: `Bearer ${token}`,
          "Content-Type": "application/json",
        },
        body: JSON.stringify({
          purchase: { total: { value: amount, currency: "KMF" } },
          clientId,
          cancelUrl: `${shopUrl}/cancel?order=${clientId}`,
          successUrl: `${shopUrl}/thanks?order=${clientId}`,
        }),
      });
    let response = await send();
    if (response.status === 401) {
      await getToken();
      response = await send();
    }
    if (!response.ok) throw new Error(`payment: ${response.status} ${await response.text()}`);
    const json = (await response.json()) as { next: string };
    return json.next;
  }

  function webhook(raw: string, signature: string): number {
    const { data } = JSON.parse(raw);
    const message = [
      data.id,
      access.merchantId,
      data.clientId,
      data.total.value,
      data.total.currency,
      data.submittedAt,
      data.status,
    ].join(",");
    const expected = createHmac("sha256", access.webhookSecret).update(message).digest();
    const given = Buffer.from(signature, "hex");
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return 401;
    const order = orders.get(data.clientId);
    if (order === undefined) return 404;
    if (data.status === "completed" && data.total.value === order.amount) order.status = "paid";
    return 200;
  }

  async function read(req: IncomingMessage): Promise<string> {
    let body = "";
    req.setEncoding("utf8");
    for await (const chunk of req) body += chunk;
    return body;
  }

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(req.url!, shopUrl);
    const id = searchParams.get("order") ?? "";
    try {
      if (pathname === "/buy") {
        const amount = new URLSearchParams(await read(req)).get("amount")!;
        const clientId = randomUUID();
        orders.set(clientId, { amount, status: "new" });
        res.writeHead(302, { Location: await createPayment(clientId, amount) }).end();
      } else if (pathname === "/webhook" && req.method === "POST") {
        const status = webhook(await read(req), String(req.headers["service-signature"] ?? ""));
        res.writeHead(status).end();
      } else if (pathname === "/thanks") {
        res.end(`Thank you for order ${id}`);
      } else if (pathname === "/cancel") {
        const order = orders.get(id);
        if (order?.status === "new") order.status = "canceled";
        res.end(`You canceled order ${id}`);
      } else if (pathname.startsWith("/status/")) {
        res.end(orders.get(pathname.slice("/status/".length))?.status);
      } else res.writeHead(404).end();
    } catch (error) {
      res.writeHead(502).end(String(error));
    }
  }
  const open = await listening(createServer((req, res) => void answer(req, res)));
  shopUrl = open.url;
  return { ...open, webhookUrl: `${shopUrl}/webhook` };
}

import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { clientCredentials, fieldsSignature, hmacSignature } from "tillkit";
import { createSandbox, type Sandbox, type SandboxOptions } from "tillkit/sandbox";
import { sqliteStore } from "tillkit/sql";
import { createShop, type Shop } from "../../examples/express-shop/src/shop.js";

/** The example shop with the sandbox, like `npm start`. */
export interface OpenShop extends Shop {
  url: string;
  sandbox: Sandbox;
  keeperPassword: string;
  /** Advances the shop's clock, and runs a sweep. The sandbox has a clock of its own. */
  later(ms: number): Promise<void>;
  close(): Promise<void>;
}

/** Differences from `npm start`. */
export interface ShopUnderTest {
  sandbox?: SandboxOptions;
  /** The option `service.timeoutMs`. */
  timeoutMs?: number;
}

/** Opens both on free ports and a new database file. */
export async function openShop({ sandbox: how = {}, timeoutMs }: ShopUnderTest = {}): Promise<OpenShop> {
  const folder = await mkdtemp(path.join(tmpdir(), "tillkit-shop-"));
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const webhookUrls = [`${url}/payments/webhook`];
  const sandbox = createSandbox({ merchantName: "Soko Bahari", webhookUrls, ...how });
  await sandbox.start();

  let aheadMs = 0;
  const keeperPassword = "a password for the desk";
  const shop = await createShop({
    url,
    service: {
      baseUrl: sandbox.url,
      accessToken: clientCredentials({ tokenUrl: sandbox.tokenUrl, ...sandbox.client }),
      timeoutMs,
    },
    signature: schemeOf(sandbox),
    store: sqliteStore(path.join(folder, "shop.db")),
    keeperPassword,
    logger: false,
    now: () => new Date(Date.now() + aheadMs),
  });
  server.on("request", shop.app);

  async function later(ms: number): Promise<void> {
    aheadMs += ms;
    await shop.payments.sweep();
  }
  async function close(): Promise<void> {
    server.close();
    server.closeAllConnections();
    await sandbox.close();
    await shop.payments.close();
    await rm(folder, { recursive: true, force: true });
  }
  return { ...shop, url, sandbox, keeperPassword, later, close };
}

function schemeOf({ secret, signing }: Sandbox) {
  const { merchantId } = signing;
  return signing.scheme === "fields" ? fieldsSignature({ secret, merchantId }) : hmacSignature({ secret });
}

/** Sends a form. Does not follow the redirect. */
export function post(url: string, form: Record<string, string> = {}): Promise<Response> {
  return fetch(url, { method: "POST", redirect: "manual", body: new URLSearchParams(form) });
}

/** Places an order. Resolves with its id. */
export async function placeOrder({ url }: OpenShop, product = "cloves"): Promise<string> {
  const answer = await post(`${url}/orders`, { product });
  return answer.headers.get("location")!.split("/").at(-1)!;
}

/** Goes to the checkout. Resolves with the address of the checkout page. */
export async function goToCheckout({ url }: OpenShop, order: string): Promise<string> {
  const answer = await post(`${url}/checkout/${order}`);
  return answer.headers.get("location")!;
}

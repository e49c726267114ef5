import { createServer } from "node:http";
import { clientCredentials, hmacSignature } from "tillkit";
import { sqliteStore } from "tillkit/sql";
import { createShop } from "./shop.js";

const { env } = process;
const port = Number(env.PORT ?? 3000);
const url = env.SHOP_URL ?? `http://localhost:${port}`;

// The kit does not start where one of these is missing. Its error names the missing option.
const { app, payments, orders } = await createShop({
  url,
  service: {
    baseUrl: env.PAY_URL,
    accessToken: clientCredentials({
      tokenUrl: env.PAY_TOKEN_URL,
      clientId: env.PAY_CLIENT_ID,
      clientSecret: env.PAY_CLIENT_SECRET,
    }),
  },
  signature: hmacSignature({ secret: env.PAY_WEBHOOK_SECRET }),
  store: sqliteStore(env.SHOP_DATABASE ?? "shop.db"),
  keeperPassword: env.SHOP_PASSWORD || fail("Set SHOP_PASSWORD: it opens the shopkeeper's page."),
});

// The server ends slow senders and limits their number. docs/operations.md explains these values.
const server = createServer({ connectionsCheckingInterval: 5000 }, app);
server.headersTimeout = 10_000;
server.requestTimeout = 30_000;
server.keepAliveTimeout = 5000;
server.maxConnections = 10_000;
server.listen(port, env.HOST ?? "127.0.0.1", () => console.log(`The shop is open at ${url}`));

const expiry = setInterval(
  () => void orders.freeExpired().catch((error) => payments.logger.error(error)),
  60_000,
);

/** Accepts no more requests, lets handlers finish, and closes the database. */
function stop(): void {
  if (!server.listening) return;
  clearInterval(expiry);
  server.close(() => void payments.close());
  setTimeout(() => server.closeAllConnections(), 2000).unref();
}
process.on("SIGTERM", stop);
process.on("SIGINT", stop);

function fail(message: string): never {
  throw new Error(message);
}

import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { pino } from "pino";
import { clientCredentials, hmacSignature } from "tillkit";
import { createSandbox } from "tillkit/sandbox";
import { sqliteStore } from "tillkit/sql";
import { createShop } from "../../examples/express-shop/dist/shop.js";

/** Starts the example shop and the sandbox on free ports, with a temporary database. Passes on logged requests and events. */
export async function openWorld({ onRequest, onEvent }) {
  const folder = await mkdtemp(path.join(tmpdir(), "tillkit-demo-"));
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${server.address().port}`;

  const sandbox = createSandbox({ merchantName: "Soko Bahari", webhookUrls: [`${url}/payments/webhook`] });
  await sandbox.start();
  const { clientId, clientSecret } = sandbox.client;
  const file = path.join(folder, "shop.db");
  const shop = await createShop({
    url,
    service: {
      baseUrl: sandbox.url,
      accessToken: clientCredentials({ tokenUrl: sandbox.tokenUrl, clientId, clientSecret }),
    },
    signature: hmacSignature({ secret: sandbox.secret }),
    store: sqliteStore(file),
    keeperPassword: clientSecret,
    logger: pino({ level: "info" }, { write: (line) => onRequest(JSON.parse(line)) }),
  });
  // A second handler with a name of its own, which sees every dispatched event.
  shop.payments.onAny((event, { attempt }) => onEvent(event, attempt), { name: "demo" });
  server.on("request", shop.app);

  return {
    ...shop,
    sandbox,
    url,
    file,
    async close() {
      server.close();
      server.closeAllConnections();
      await sandbox.close();
      await shop.payments.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo } from "node:net";
import path from "node:path";
import express, { type Express } from "express";
import { clientCredentials, hmacSignature, type SignatureScheme } from "tillkit";
import { createSandbox } from "tillkit/sandbox";
import { sqliteStore } from "tillkit/sql";
import { createShop } from "../../../examples/express-shop/src/shop.js";
import { documentOf, runCli } from "../support/run-cli.js";

const root = path.resolve(__dirname, "../../..");

/** A mistake in the shop, or in the doctor's options and environment. */
export interface Planted {
  /** Middleware in front of the whole shop. */
  front?: (app: Express) => void;
  /** The shop's scheme, if it is not one with the sandbox's secret. */
  signature?: SignatureScheme;
  /** Further variables in the doctor's environment. */
  env?: Record<string, string>;
  /** Options of the doctor that replace the right ones. `undefined` removes an option. */
  options?: (shop: { url: string; folder: string }) => Record<string, string | undefined>;
}

/** Opens the example shop behind the planted middleware, with the sandbox as its service. */
export async function openPlantedShop({ front, signature, env = {}, options }: Planted = {}) {
  // Beside the sources: the folder of temporary files may be in memory.
  mkdirSync(path.join(root, ".tmp"), { recursive: true });
  const folder = mkdtempSync(path.join(root, ".tmp/doctor-"));
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const sandbox = createSandbox({ webhookUrls: [`${url}/payments/webhook`] });
  await sandbox.start();
  const database = path.join(folder, "shop.db");
  const shop = await createShop({
    url,
    service: {
      baseUrl: sandbox.url,
      accessToken: clientCredentials({ tokenUrl: sandbox.tokenUrl, ...sandbox.client }),
    },
    signature: signature ?? hmacSignature({ secret: sandbox.secret }),
    store: sqliteStore(database),
    keeperPassword: "a password for the keeper",
    logger: false,
  });
  const app = express();
  front?.(app);
  app.use(shop.app);
  server.on("request", app);

  const shopOptions: Record<string, string | undefined> = {
    url: `${url}/payments`,
    "public-url": `${url}/payments`,
    "secret-env": "PAY_WEBHOOK_SECRET",
    store: database,
    app: path.join(root, "examples/express-shop"),
    ...options?.({ url, folder }),
  };
  const environment = { PAY_WEBHOOK_SECRET: sandbox.secret, PAY_URL: sandbox.url, ...env };

  /** Runs the doctor with --json. */
  async function examine(...more: string[]) {
    const argv = Object.entries(shopOptions).flatMap(([name, value]) =>
      value === undefined ? [] : [`--${name}=${value}`],
    );
    const ran = await runCli(["doctor", ...argv, ...more, "--json"], { env: environment, cwd: folder });
    return { code: ran.code, stderr: ran.stderr, ...(documentOf(ran) as Examined) };
  }

  async function close(): Promise<void> {
    server.close();
    server.closeAllConnections();
    await sandbox.close();
    await shop.payments.close();
    rmSync(folder, { recursive: true, force: true });
  }
  return { ...shop, url, sandbox, folder, examine, close };
}

/** The document of `doctor --json`. */
export interface Examined {
  errors: number;
  warnings: number;
  notes: number;
  findings: { code: string; severity: string; message: string; fix: string }[];
  looked: string[];
  skipped: string[];
}

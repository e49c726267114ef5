// npm start: runs the example shop with the sandbox. It works from a fresh clone, and installs what is missing.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { createInterface } from "node:readline";
import { prepare } from "./prepare.mjs";

const root = path.dirname(import.meta.dirname);
prepare();
const { createSandbox } = await import("../dist/esm/sandbox/index.js");
const { sqliteStore } = await import("../dist/esm/store/sql/index.js");

const shopPort = await choosePort("PORT", 3000);
const sandboxPort = await choosePort("SANDBOX_PORT", 4000, shopPort);
const shopUrl = `http://localhost:${shopPort}`;
const keeperPassword = process.env.SHOP_PASSWORD || randomBytes(6).toString("hex");
const database = path.join(root, "examples/express-shop/data/shop.db");
mkdirSync(path.dirname(database), { recursive: true });
await closeOldAttempts();

const sandbox = createSandbox({
  port: sandboxPort,
  merchantName: "Soko Bahari",
  webhookUrls: [`http://127.0.0.1:${shopPort}/payments/webhook`],
  // Long enough for a person to read "confirming" on the success page.
  webhookDelayMs: 3000,
});
await sandbox.start();

const shop = spawn(process.execPath, [path.join(root, "examples/express-shop/dist/server.js")], {
  stdio: ["ignore", "pipe", "inherit"],
  env: {
    ...process.env,
    // The kit refuses the sandbox's credentials in production.
    NODE_ENV: "development",
    PORT: String(shopPort),
    SHOP_URL: shopUrl,
    SHOP_DATABASE: database,
    SHOP_PASSWORD: keeperPassword,
    PAY_URL: sandbox.url,
    PAY_TOKEN_URL: sandbox.tokenUrl,
    PAY_CLIENT_ID: sandbox.client.clientId,
    PAY_CLIENT_SECRET: sandbox.client.clientSecret,
    PAY_WEBHOOK_SECRET: sandbox.secret,
  },
});

let stopping = false;
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.on(signal, () => {
    if (stopping) return;
    stopping = true;
    console.log("\nStopping …");
    shop.kill("SIGTERM");
  });
}
shop.on("exit", (code, signal) => {
  if (!stopping) console.error(`The shop ended without a stop signal (${code ?? signal}); see above.`);
  void sandbox.close().then(() => process.exit(stopping ? 0 : 1));
});

const lines = createInterface({ input: shop.stdout });
await new Promise((resolve) => {
  lines.on("line", (line) => (line.startsWith("The shop is open") ? resolve() : print(line)));
});
console.log(`
  The shop       ${shopUrl}
  The sandbox    ${sandbox.url}   (the payment service, emulated: no money moves)
  Orders         ${shopUrl}/desk   (orders and their bookings; password: ${keeperPassword})

  What to do next: open the shop, buy something, choose a provider and approve. The success page says "confirming"
  until the webhook arrives 3 seconds later, and then changes to "paid". Or cancel, and try again.

  Ctrl-C stops both. Below: what the shop's kit logs.
`);

/** Returns the port from the environment, or the default port, or a free port where the default is in use. */
async function choosePort(variable, usual, except) {
  const given = process.env[variable];
  if (given !== undefined && !/^\d{1,5}$/.test(given))
    fail(`${variable} must be a port number, not "${given}".`);
  const wanted = given === undefined ? usual : Number(given);
  if (wanted !== except && (await isFree(wanted))) return wanted;
  if (given !== undefined) fail(`${variable}=${given}: that port is in use.`);
  const free = await freePort();
  console.log(`Port ${usual} is in use, so port ${free} is used. (${variable} sets another.)`);
  return free;
}

/** Checks every interface, because a server on another interface would answer for the name localhost. */
async function isFree(port) {
  try {
    const server = createServer().listen(port);
    await once(server, "listening");
    server.close();
    await once(server, "close");
    return port !== 0;
  } catch {
    return false;
  }
}

async function freePort() {
  const server = createServer().listen(0);
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

/**
 * Closes the open attempts of earlier starts, because their sandbox and its checkout pages are gone. Paying for such an order
 * then starts a new attempt. The orders are kept.
 */
async function closeOldAttempts() {
  const store = sqliteStore(database);
  const open = await store.due({ before: new Date().toISOString(), limit: 10_000 });
  await store.transaction(async (tx) => {
    const { payments } = await store.lock(tx, { clientIds: open.map(({ clientId }) => clientId) });
    const updated = payments
      .filter((payment) => payment.open)
      .map((payment) => ({ ...payment, open: false }));
    await store.save(tx, { updated });
  });
  await store.close();
}

/** Prints the main fields of a JSON log line, for a person at a terminal. */
function print(line) {
  let entry;
  try {
    entry = JSON.parse(line);
  } catch {
    return console.log(line);
  }
  const { time, msg, err, req, res, route, outcome, code, clientId } = entry;
  // What the waiting page asks every few seconds.
  if (route?.endsWith("/state")) return;
  const gist = req ? [req.method, route, res?.status, outcome ?? code, clientId] : [msg, err?.message];
  console.log([new Date(time).toTimeString().slice(0, 8), ...gist].filter(Boolean).join("  "));
}

function fail(message) {
  console.error(message);
  process.exit(1);
}

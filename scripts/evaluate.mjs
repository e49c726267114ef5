// Lets a command put the kit into three bare applications, and counts those in which an order is paid then.
// `npm run docs:evaluate -- --help`
import { spawn, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";

const usage = `npm run docs:evaluate -- [options] -- <command> [arguments]

Copies three bare applications (JavaScript, TypeScript, one with a global JSON parser) beside an installed tillkit, and runs the command in
the folder of each. TASK.md there says what is to be done; its text is in TILLKIT_TASK, too. Then the application is
started, an order is bought in the sandbox, and a forged webhook is sent. The command is yours: a coding agent, or a script.

  --package <file>  the packed package; without it, the sources are built and packed
  --only <app>      only the application whose name contains this text
  --minutes <n>     how long the command may take in one application (20)
  --json            print the result as JSON
  --help            shows this

Exit code: 0 the order was paid in each application, 1 it was not, 3 nothing could be tried.`;

const root = path.resolve(import.meta.dirname, "..");
const sources = path.join(root, "scripts/evaluate");
/** The applications, and the folders that they are copied from. */
const apps = { javascript: "javascript", "json-parser": "javascript", typescript: "typescript" };
const options = {
  package: { type: "string" },
  only: { type: "string", default: "" },
  minutes: { type: "string", default: "20" },
  json: { type: "boolean", default: false },
  help: { type: "boolean", default: false },
};

try {
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  if (values.help) console.log(usage);
  else if (positionals.length === 0) throw new Error(`Give the command that does the work.\n\n${usage}`);
  else process.exitCode = await evaluate(positionals, values);
} catch (error) {
  console.error(error.message);
  process.exitCode = 3;
}

async function evaluate(command, { package: tarball, only, minutes, json }) {
  const folder = mkdtempSync(path.join(tmpdir(), "tillkit-evaluate-"));
  try {
    install(folder, tarball === undefined ? pack(folder) : path.resolve(tarball));
    const results = [];
    for (const name of Object.keys(apps).filter((one) => one.includes(only))) {
      const result = {
        app: name,
        ...(await tryApp(path.join(folder, name), name, command, Number(minutes))),
      };
      if (!json)
        console.log(
          `${result.paid ? "paid    " : "not paid"}  ${name}  ${result.why ?? ""}\n${result.output ?? ""}`.trim(),
        );
      results.push(result);
    }
    const paid = results.filter((one) => one.paid).length;
    console.log(
      json ? JSON.stringify({ paid, of: results.length, results }) : `${paid} of ${results.length} paid.`,
    );
    return paid === results.length && paid > 0 ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function pack(folder) {
  run(root, process.execPath, "scripts/build.mjs");
  run(root, "npm", "pack", "--ignore-scripts", "--silent", "--pack-destination", folder);
  return path.join(
    folder,
    readdirSync(folder).find((file) => file.endsWith(".tgz")),
  );
}

/** Installs the kit and what the applications need, in the folder that they are in. */
function install(folder, tarball) {
  writeFileSync(path.join(folder, "package.json"), '{"private":true}');
  const packages = [
    "express@5",
    "@photostructure/sqlite",
    "typescript@5.9",
    "@types/node@20",
    "@types/express@5",
  ];
  const flags = ["--no-audit", "--no-fund", "--silent", "--prefer-offline"];
  run(folder, "npm", "install", ...flags, tarball, ...packages);
}

function run(cwd, command, ...args) {
  const { status, stderr } = spawnSync(command, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} failed:\n${stderr}`);
}

/** Lets the command work in a copy of the application, and buys an order there. */
async function tryApp(folder, name, [program, ...args], minutes) {
  cpSync(path.join(sources, apps[name]), folder, { recursive: true });
  if (name === "json-parser") addParser(path.join(folder, "server.js"));
  cpSync(path.join(sources, "TASK.md"), path.join(folder, "TASK.md"));
  const task = { ...process.env, TILLKIT_TASK: path.join(folder, "TASK.md") };
  const work = spawnSync(program, args, {
    cwd: folder,
    env: task,
    stdio: ["ignore", 2, 2],
    timeout: minutes * 60_000,
  });
  if (work.error || work.status !== 0)
    return {
      paid: false,
      why: `The command failed: ${work.error?.message ?? `it ended with ${work.status}`}.`,
    };
  const { createSandbox } = await import(
    path.join(folder, "../node_modules/tillkit/dist/esm/sandbox/index.js")
  );
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const sandbox = createSandbox({
    webhookUrls: [`${url}/payments/webhook`],
  });
  await sandbox.start();
  const env = { ...process.env, ...variables(sandbox, url, folder), PORT: String(port) };
  const app = spawn("npm", ["start"], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let output = "";
  for (const stream of [app.stdout, app.stderr]) stream.on("data", (data) => (output += data));
  try {
    await until(
      () => get(`${url}/orders/order-1`),
      () => app.exitCode === null && app.signalCode === null,
    );
    return { paid: true, ...(await buy(url, sandbox)) };
  } catch (error) {
    return { paid: false, why: error.message, output: output.slice(-2000) };
  } finally {
    // npm, the shell and the application are one process group.
    if (app.pid !== undefined && app.exitCode === null) process.kill(-app.pid, "SIGKILL");
    await sandbox.close();
  }
}

/** Lets every route of the application get a parsed body, as many applications do. */
function addParser(file) {
  const code = readFileSync(file, "utf8");
  writeFileSync(file, code.replace("const app = express();\n", "$&app.use(express.json());\n"));
}

function variables(sandbox, url, folder) {
  return {
    TILLKIT_PUBLIC_URL: `${url}/payments`,
    ...sandbox.variables,
    TILLKIT_DATABASE: path.join(folder, "shop.db"),
    TILLKIT_LOG: "off",
  };
}

/** Buys the order. Throws what is wrong with the application. */
async function buy(url, sandbox) {
  const checkout = await fetch(`${url}/orders/order-1/checkout`, { method: "POST", redirect: "manual" });
  if (checkout.status !== 303) throw new Error(`The checkout answered ${checkout.status}, not 303.`);
  const [payment] = sandbox.payments();
  if (payment === undefined) throw new Error("The service has no payment.");
  if (Number(payment.total.value) !== 1475)
    throw new Error(`The payment is for ${payment.total.value}, not for 1475.`);
  const forged = JSON.stringify({
    topic: "payment.completed",
    type: "payment",
    data: { clientId: payment.clientId },
  });
  const headers = { "content-type": "application/json", "service-signature": "0".repeat(64) };
  const refused = await fetch(`${url}/payments/webhook`, { method: "POST", headers, body: forged });
  if (refused.status !== 401) throw new Error(`A forged webhook was answered ${refused.status}, not 401.`);
  if ((await get(`${url}/orders/order-1`)).paid) throw new Error("The order was paid before its webhook.");
  await sandbox.pay(payment.clientId);
  const isPaid = async () => (await get(`${url}/orders/order-1`)).paid === true || undefined;
  await until(isPaid, () => true, "The order is not paid after the webhook.");
  if ((await get(`${url}/orders/order-2`)).paid) throw new Error("Another order is paid, too.");
  return {};
}

async function get(url) {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}.`);
  return answer.json();
}

/** Waits at most a minute until `ask` gives something, while `goesOn`. */
async function until(ask, goesOn, message = "The application does not answer.") {
  for (const end = Date.now() + 60_000; Date.now() < end && goesOn();) {
    const found = await ask().catch(() => undefined);
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(message);
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

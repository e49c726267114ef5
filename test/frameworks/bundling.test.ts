import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const root = path.resolve(__dirname, "../..");
const packages = path.join(root, "examples/frameworks/node_modules");
const unpacked = path.join(root, ".tmp/package");

function missing(): string | undefined {
  if (process.env["TILLKIT_TEST_TARGET"] !== "packed") return "TILLKIT_TEST_TARGET is not packed";
  return existsSync(packages) ? undefined : "they are not installed: npm ci --prefix examples/frameworks";
}

/**
 * The body of a program that records a webhook, and says whether it takes credentials of the sandbox. With an argument it opens a
 * SQLite file. It imports the SQL stores, as a shop does, and names no database driver.
 */
const body = `
const signature = hmacSignature({ secret: "a-secret-of-more-than-32-bytes-for-a-test" });
const service = { baseUrl: "https://pay.example", accessToken: "a-token-for-a-test" };
const publicUrl = "https://shop.example";
async function record() {
  const payments = createPayments({ publicUrl, service, signature, store: new MemoryStore(), logger: false });
  payments.onPaymentCompleted(() => {});
  express().use("/payments", paymentRouter(payments));
  const data = { id: "1", status: "completed", captured: true, total: { value: "1475", currency: "KMF" }, clientId: "c-1",
    submittedAt: "2026-11-20T10:00:00.000Z", providerId: "MVK-1", source: "MVK" };
  const message = { topic: "payment.completed", timestamp: "2026-11-20T10:00:05.000Z", type: "payment", data };
  const rawBody = Buffer.from(JSON.stringify(message));
  const headers = { "service-signature": signature.sign(rawBody) };
  const { outcome } = await payments.receiveWebhook({ rawBody, headers });
  await payments.close();
  return outcome;
}
function codesOf(make) {
  try {
    make();
    return "";
  } catch ({ problems }) {
    return problems.map(({ code }) => code).join(" ");
  }
}
async function open() {
  const store = sqliteStore("shop.db");
  await store.migrate();
  await store.close();
}
const file = process.argv[2];
const isProduction = process.env.ON_SERVER !== undefined;
(file ? open() : isProduction ? Promise.resolve() : record()).then((outcome) => console.log(JSON.stringify([
  outcome,
  codesOf(() => hmacSignature({ secret: "sandbox_of-more-than-32-bytes-for-a-test" })),
  codesOf(() => createPayments({ publicUrl, service: { ...service, accessToken: "sandbox_a" }, signature, store: new MemoryStore() })),
  typeof postgresStore,
])), ({ code }) => console.log(JSON.stringify([code])));
`;
const esm = `import express from "express";
import { createPayments, hmacSignature, MemoryStore, paymentRouter } from "tillkit";
import { postgresStore, sqliteStore } from "tillkit/sql";
${body}`;
const cjs = `const express = require("express");
const { createPayments, hmacSignature, MemoryStore, paymentRouter } = require("tillkit");
const { postgresStore, sqliteStore } = require("tillkit/sql");
${body}`;

/** Gives an ES module the `require` that CommonJS inside of it calls. */
const banner = `"import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);"`;

/** Scripts that bundle `shop.mjs` or `shop.cjs` into `out` for production, without a list of what to leave out. They print warnings. */
const bundlers: [name: string, entry: string, out: string, script: string][] = [
  [
    "esbuild, as an ES module",
    "shop.mjs",
    "out/shop.mjs",
    `require("esbuild").buildSync({ entryPoints: ["shop.mjs"], outfile: "out/shop.mjs", bundle: true, platform: "node", format: "esm",
      define: { "process.env.NODE_ENV": '"production"' }, minify: true, logLevel: "warning", banner: { js: ${banner} } })`,
  ],
  [
    "esbuild, as CommonJS",
    "shop.cjs",
    "out/shop.cjs",
    `require("esbuild").buildSync({ entryPoints: ["shop.cjs"], outfile: "out/shop.cjs", bundle: true, platform: "node",
      define: { "process.env.NODE_ENV": '"production"' }, logLevel: "warning" })`,
  ],
  [
    "Rollup",
    "shop.mjs",
    "out/shop.mjs",
    `(async () => {
      const { rollup } = require("rollup");
      const { nodeResolve } = require("@rollup/plugin-node-resolve");
      const plugins = [nodeResolve({ preferBuiltins: true }), require("@rollup/plugin-commonjs")(), require("@rollup/plugin-json")()];
      const onwarn = ({ code, message }) => {
        if (code === "UNRESOLVED_IMPORT" || message.includes("tillkit/dist")) console.error(message);
      };
      const build = await rollup({ input: "shop.mjs", plugins, onwarn });
      await build.write({ file: "out/shop.mjs", inlineDynamicImports: true, banner: ${banner} });
    })()`,
  ],
  [
    "Vite, for a server",
    "shop.mjs",
    "out/shop.js",
    `import("vite").then(({ build }) => build({ logLevel: "warn", ssr: { noExternal: true, external: ["@photostructure/sqlite"] }, build: { ssr: "shop.mjs", outDir: "out",
      rollupOptions: { output: { banner: ${banner} }, onwarn: ({ code, message }) => {
        if (code === "UNRESOLVED_IMPORT" || message.includes("tillkit/dist")) console.error(message);
      } } } }))`,
  ],
  [
    "webpack",
    "shop.mjs",
    "out/shop.mjs",
    `require("webpack")({ mode: "production", target: "node20", entry: "./shop.mjs", experiments: { outputModule: true },
      output: { path: require("node:path").resolve("out"), filename: "shop.mjs", module: true, chunkFormat: "module" },
      // Express itself has an import whose name is only known when it runs.
      ignoreWarnings: [{ module: /express.lib.view.js/ }] },
      (error, stats) => { if (error ?? (stats.hasErrors() || stats.hasWarnings())) console.error(error ?? stats.toString("errors-warnings")) })`,
  ],
  [
    "webpack, as CommonJS",
    "shop.cjs",
    "out/shop.cjs",
    `require("webpack")({ mode: "production", target: "node20", entry: "./shop.cjs",
      output: { path: require("node:path").resolve("out"), filename: "shop.cjs" },
      ignoreWarnings: [{ module: /express.lib.view.js/ }] },
      (error, stats) => { if (error ?? (stats.hasErrors() || stats.hasWarnings())) console.error(error ?? stats.toString("errors-warnings")) })`,
  ],
];

const reason = missing();
if (reason !== undefined) {
  it(`leaves the bundlers out, because ${reason}`, () => {
    expect(missing()).toBe(reason);
  });
} else {
  describe.each(bundlers)("%s", (name, entry, out, script) => {
    let folder: string;
    let printed: string;
    beforeAll(() => {
      folder = realpathSync(mkdtempSync(path.join(tmpdir(), "tillkit-bundle-")));
      mkdirSync(path.join(folder, "node_modules"));
      writeFileSync(path.join(folder, "package.json"), '{ "type": "module" }');
      // Without pg, mysql2 and @photostructure/sqlite, as a user has it who needs none of them.
      for (const used of ["express", "esbuild", "rollup", "vite", "webpack", "@rollup"])
        symlinkSync(path.join(packages, used), path.join(folder, "node_modules", used));
      execFileSync("cp", ["-r", unpacked, path.join(folder, "node_modules/tillkit")]);
      for (const used of ["zod", "pino", "pino-http", "body-parser"])
        symlinkSync(path.join(root, "node_modules", used), path.join(folder, "node_modules", used));
      writeFileSync(path.join(folder, entry), entry.endsWith(".cjs") ? cjs : esm);
      printed = build();
    }, 120_000);
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    /** Makes the bundle. Returns what the bundler prints. */
    function build(): string {
      const { stdout, stderr } = spawnSync(process.execPath, ["-e", script], {
        cwd: folder,
        env: { ...process.env, NODE_ENV: "production" },
        encoding: "utf8",
      });
      return stdout + stderr;
    }

    const run = (environment: NodeJS.ProcessEnv, ...args: string[]): string =>
      execFileSync(process.execPath, [out, ...args], { cwd: folder, env: environment, encoding: "utf8" });

    it("bundles a program into one file without a warning, and it records a webhook", () => {
      expect(printed).toBe("");
      expect(JSON.parse(run({}))).toEqual(["unmatched", "", "", "function"]);
    });

    it("refuses what production refuses where NODE_ENV is production when it runs", () => {
      const [, secret, token] = JSON.parse(run({ NODE_ENV: "production", ON_SERVER: "1" }));
      expect(secret).toBe("sandbox_credential_in_production");
      expect(token).toBe("sandbox_credential_in_production store_not_durable");
    });

    it("finds a driver that is installed beside the bundle", () => {
      const driver = "node_modules/@photostructure";
      symlinkSync(path.join(root, driver), path.join(folder, driver));
      // Vite decides when it builds whether there is a driver.
      if (name.startsWith("Vite")) build();
      expect(JSON.parse(run({}, "shop.db"))).toEqual([null, "", "", "function"]);
    }, 120_000);
  });
}

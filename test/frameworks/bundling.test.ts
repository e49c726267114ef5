import { execFileSync } from "node:child_process";
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

/** The body of a program that records a webhook. It imports the SQL stores, as a shop does, and names no database driver. */
const body = `
const signature = hmacSignature({ secret: "a-secret-of-more-than-32-bytes-for-a-test" });
const service = { baseUrl: "https://pay.example", accessToken: "a-token-for-a-test" };
const store = new MemoryStore();
const payments = createPayments({ publicUrl: "https://shop.example", service, signature, store, logger: false });
payments.onPaymentCompleted(() => {});
express().use("/payments", paymentRouter(payments));
const data = { id: "1", status: "completed", captured: true, total: { value: "1475", currency: "KMF" }, clientId: "c-1",
  submittedAt: "2026-11-20T10:00:00.000Z", providerId: "MVK-1", source: "MVK" };
const message = { topic: "payment.completed", timestamp: "2026-11-20T10:00:05.000Z", type: "payment", data };
const rawBody = Buffer.from(JSON.stringify(message));
const headers = { "service-signature": signature.sign(rawBody) };
payments.receiveWebhook({ rawBody, headers }).then(async ({ outcome }) => {
  console.log(outcome, typeof sqliteStore, typeof postgresStore);
  await payments.close();
});
`;
const esm = `import express from "express";
import { createPayments, hmacSignature, MemoryStore, paymentRouter } from "tillkit";
import { postgresStore, sqliteStore } from "tillkit/sql";
${body}`;
const cjs = `const express = require("express");
const { createPayments, hmacSignature, MemoryStore, paymentRouter } = require("tillkit");
const { postgresStore, sqliteStore } = require("tillkit/sql");
${body}`;

/** Scripts that bundle `shop.mjs` or `shop.cjs` into `out`, without a list of what to leave out. */
const bundlers: [name: string, entry: string, out: string, script: string][] = [
  [
    "esbuild, as an ES module",
    "shop.mjs",
    "out/shop.mjs",
    `require("esbuild").buildSync({ entryPoints: ["shop.mjs"], outfile: "out/shop.mjs", bundle: true, platform: "node", format: "esm",
      logLevel: "error",
      banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" } })`,
  ],
  [
    "esbuild, as CommonJS",
    "shop.cjs",
    "out/shop.cjs",
    `require("esbuild").buildSync({ entryPoints: ["shop.cjs"], outfile: "out/shop.cjs", bundle: true, platform: "node", logLevel: "error" })`,
  ],
  [
    "Rollup",
    "shop.mjs",
    "out/shop.mjs",
    `(async () => {
      const { rollup } = require("rollup");
      const { nodeResolve } = require("@rollup/plugin-node-resolve");
      const plugins = [nodeResolve({ preferBuiltins: true }), require("@rollup/plugin-commonjs")(), require("@rollup/plugin-json")()];
      const build = await rollup({ input: "shop.mjs", plugins, logLevel: "silent" });
      await build.write({ file: "out/shop.mjs", inlineDynamicImports: true });
    })()`,
  ],
  [
    "webpack",
    "shop.mjs",
    "out/shop.mjs",
    `require("webpack")({ mode: "none", target: "node20", entry: "./shop.mjs", experiments: { outputModule: true },
      output: { path: require("node:path").resolve("out"), filename: "shop.mjs", module: true, chunkFormat: "module" } },
      (error, stats) => { if (error ?? stats.hasErrors()) { console.error(error ?? stats.toString("errors-only")); process.exit(1); } })`,
  ],
];

const reason = missing();
if (reason !== undefined) {
  it(`leaves the bundlers out, because ${reason}`, () => {
    expect(missing()).toBe(reason);
  });
} else {
  describe.each(bundlers)("%s", (_name, entry, out, script) => {
    let folder: string;
    beforeAll(() => {
      folder = realpathSync(mkdtempSync(path.join(tmpdir(), "tillkit-bundle-")));
      mkdirSync(path.join(folder, "node_modules"));
      // Without pg, mysql2 and @photostructure/sqlite, as a user has it who needs none of them.
      for (const name of ["express", "esbuild", "rollup", "webpack", "@rollup"])
        symlinkSync(path.join(packages, name), path.join(folder, "node_modules", name));
      execFileSync("cp", ["-r", unpacked, path.join(folder, "node_modules/tillkit")]);
      for (const name of ["zod", "pino", "pino-http", "body-parser"])
        symlinkSync(path.join(root, "node_modules", name), path.join(folder, "node_modules", name));
      writeFileSync(path.join(folder, entry), entry.endsWith(".cjs") ? cjs : esm);
    });
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    it("bundles a program into one file, which records a webhook", () => {
      execFileSync(process.execPath, ["-e", script], { cwd: folder, encoding: "utf8" });
      const printed = execFileSync(process.execPath, [out], { cwd: folder, encoding: "utf8" });
      expect(printed).toBe("unmatched function function\n");
    });
  });
}

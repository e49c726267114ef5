import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "./pack.js";

/** Parts of the package that are loaded at their first use, and a function of each. */
const deferred = { statement: "compareStatement", "store/sql": "sqlStore", sandbox: "createSandbox" };

/**
 * Imports the kit, mounts it, starts it and reads a statement. Prints which parts are in files that are loaded after each step. The
 * start may fail, because no driver is installed.
 */
const steps = `
  const loaded = {};
  const note = (step) => {
    const codes = Object.keys(require.cache).filter((file) => file.includes("/tillkit/dist/")).map((file) => readFileSync(file, "utf8"));
    const isLoaded = ([, name]) => codes.some((code) => code.includes("function " + name + "("));
    loaded[step] = Object.entries(${JSON.stringify(deferred)}).filter(isLoaded).map(([part]) => part);
  };
  const use = async (tillkit) => {
    note("imported");
    const { payments } = tillkit.paymentRouter();
    const run = payments.compareStatement([]);
    note("mounted");
    await payments.start({ keepAlive: false }).catch(() => undefined);
    note("started");
    await run.summary().catch(() => undefined);
    note("compared");
    await payments.close();
    console.log(JSON.stringify(loaded));
  };`;

const programs = {
  cjs: `
    const { readFileSync } = require("node:fs");
    ${steps}
    use(require("tillkit"));`,
  esm: `
    import { readFileSync } from "node:fs";
    import { createRequire } from "node:module";
    const require = createRequire(import.meta.url);
    ${steps}
    await use(await import("tillkit"));`,
};

const environment = {
  TILLKIT_PUBLIC_URL: "https://shop.example/payments",
  TILLKIT_SERVICE_URL: "https://pay.invalid",
  TILLKIT_ACCESS_TOKEN: "a-token",
  TILLKIT_WEBHOOK_SECRET: "whsec_9f2c4b7a1d8e3f605c9b2a7d4e1f8c3b",
  TILLKIT_DATABASE: "loading.db",
  TILLKIT_LOG: "off",
};

/** Returns which of the deferred parts are loaded after each step of a new process. */
export function loadedBy(project: string, format: "esm" | "cjs"): Record<string, string[]> {
  const name = format === "esm" ? "loading.mjs" : "loading.cjs";
  writeFileSync(join(project, name), programs[format]);
  const settings = Object.entries(environment).map(([key, value]) => `${key}=${value}`);
  return JSON.parse(run(project, "env", ...settings, process.execPath, name));
}

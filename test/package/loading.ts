import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "./pack.js";

/** Folders of the package that are loaded at their first use. */
const deferred = ["statement", "store/sql", "sandbox"];

/**
 * Imports the kit, mounts it, starts it and reads a statement. Prints which folders have modules that are loaded after each step. The
 * start may fail, because no driver is installed.
 */
const steps = `
  const loaded = {};
  const note = (step) => {
    const hasModules = (folder) => loadedFiles().some((file) => file.includes("/dist/" + format + "/" + folder + "/"));
    loaded[step] = ${JSON.stringify(deferred)}.filter(hasModules);
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
    const format = "cjs";
    const loadedFiles = () => Object.keys(require.cache);
    ${steps}
    use(require("tillkit"));`,
  esm: `
    import { readFileSync } from "node:fs";
    const format = "esm";
    const loadedFiles = () => readFileSync("loaded.txt", "utf8").split("\\n");
    ${steps}
    await use(await import("tillkit"));`,
};

/** Writes the address of each ES module that is loaded to a file. */
const loader = `
  import { appendFileSync } from "node:fs";
  export function load(url, context, next) {
    appendFileSync("loaded.txt", url + "\\n");
    return next(url, context);
  }`;
const register = `import { register } from "node:module"; register("./loader.mjs", import.meta.url);`;

const environment = {
  TILLKIT_PUBLIC_URL: "https://shop.example/payments",
  TILLKIT_SERVICE_URL: "https://pay.invalid",
  TILLKIT_ACCESS_TOKEN: "a-token",
  TILLKIT_WEBHOOK_SECRET: "whsec_9f2c4b7a1d8e3f605c9b2a7d4e1f8c3b",
  TILLKIT_DATABASE: "loading.db",
  TILLKIT_LOG: "off",
};

/** Returns which of the deferred folders are loaded after each step of a new process. */
export function loadedBy(project: string, format: "esm" | "cjs"): Record<string, string[]> {
  const name = format === "esm" ? "loading.mjs" : "loading.cjs";
  const files = { [name]: programs[format], "loader.mjs": loader, "register.mjs": register };
  for (const [file, text] of Object.entries(files)) writeFileSync(join(project, file), text);
  rmSync(join(project, "loaded.txt"), { force: true });
  const settings = Object.entries(environment).map(([key, value]) => `${key}=${value}`);
  const flags = format === "esm" ? ["--import", "./register.mjs"] : [];
  return JSON.parse(run(project, "env", ...settings, process.execPath, ...flags, name));
}

import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { readOwnPackage } from "../terminal/own-package.js";
import { unreadableFile } from "../terminal/read-file.js";
import { type FileChange, mountLines, mountRouter } from "./mount.js";

/** What `init` would do. */
export interface InitPlan {
  language: "TypeScript" | "JavaScript";
  changes: FileChange[];
  /** Files that are there already. */
  kept: string[];
  /** What is left to the developer, in this order. */
  advice: string[];
}

type Manifest = Partial<Record<"name" | "main", string>> &
  Partial<Record<"dependencies" | "devDependencies", Record<string, string>>>;

const startSandbox =
  "tillkit sandbox --webhook http://localhost:3000/payments/webhook " +
  "--client-secret sandbox_client_secret_of_the_first_shop --secret sandbox_webhook_secret_of_the_first_shop";

/** Looks at the folder, and returns what to write. Changes nothing. */
export function planInit(folder: string, language: InitPlan["language"] | undefined): InitPlan {
  const read = (file: string) => readFileSync(path.join(folder, file), "utf8");
  const has = (file: string) => existsSync(path.join(folder, file));
  const manifest = has("package.json") ? manifestIn(read("package.json")) : undefined;
  const entry = entries(manifest).find((file) => has(file) && /\bexpress\(\)/.test(read(file)));
  const isTyped = language ? language === "TypeScript" : has("tsconfig.json") || /\.m?ts$/.test(entry ?? "");
  const source = entry === undefined ? (isTyped ? "src" : ".") : path.dirname(entry);
  const plan: InitPlan = {
    language: isTyped ? "TypeScript" : "JavaScript",
    changes: [],
    kept: [],
    advice: [],
  };
  const add = (file: string, content: string): void => {
    if (!has(file)) plan.changes.push({ file, content });
    else if (read(file) !== content) plan.kept.push(file);
  };

  if (!manifest) add("package.json", manifestOf(path.basename(path.resolve(folder)), isTyped));
  if (isTyped && entry === undefined) add("tsconfig.json", template("tsconfig.json"));
  for (const name of ["payments/fulfil-order", "payments/fulfil-order.test", "payments/router"])
    add(path.join(source, isTyped ? `${name}.ts` : `${name}.mjs`), sourceOf(`${name}.ts`, isTyped));
  const server = path.join(source, isTyped ? "server.ts" : "server.mjs");
  if (entry !== undefined) addMount(plan, entry, read(entry), isTyped);
  else add(server, sourceOf("server.ts", isTyped));
  add(".env.example", template("env.example"));

  if (manifest) plan.advice.push(...missing(manifest, isTyped));
  else plan.advice.push("Install what package.json names: npm install");
  plan.advice.push("Copy .env.example to .env.");
  if (manifest) {
    const test = isTyped
      ? "npx tsc && node --test dist/payments/fulfil-order.test.js (or where your build writes it)"
      : `node --test ${path.join(source, "payments/fulfil-order.test.mjs")}`;
    plan.advice.push("Let the handler in fulfil-order write to your own table of orders, and the test too.");
    plan.advice.push(`Run the test: ${test}`, `Start the sandbox: npx ${startSandbox}`);
    plan.advice.push("Start the app with the variables: node --env-file=.env …");
  } else
    plan.advice.push(
      "Run the test: npm test",
      "Start the sandbox: npm run sandbox",
      "Start the shop: npm start",
    );
  return plan;
}

function manifestIn(text: string): Manifest {
  try {
    return JSON.parse(text) as Manifest;
  } catch (cause) {
    throw unreadableFile("package.json", cause);
  }
}

/** Returns where the application may be, the likeliest first. */
function entries(manifest: Manifest | undefined): string[] {
  const names = ["server", "app", "index", "main"].flatMap((name) => [`src/${name}`, name]);
  const files = names.flatMap((name) =>
    ["ts", "mts", "js", "mjs", "cjs"].map((ending) => `${name}.${ending}`),
  );
  // A build would write over its own output.
  const isBuilt = /^(\.\/)?(dist|build|out|lib)\//.test(manifest?.main ?? "");
  return manifest?.main === undefined || isBuilt ? files : [...files, manifest.main];
}

/** Adds the change of the application's own file, or says which lines to add. */
function addMount(plan: InitPlan, entry: string, text: string, isTyped: boolean): void {
  if (/payments\/router|\bpaymentRouter\(/.test(text)) return void plan.kept.push(entry);
  const module = isTyped ? "./payments/router.js" : "./payments/router.mjs";
  const change = mountRouter(entry, text, module);
  const { load, mount } = mountLines(text, module);
  if (change) plan.changes.push(change);
  else plan.advice.push(`Add to ${entry}, with the imports: ${load}`, `And right behind express(): ${mount}`);
}

function template(name: string): string {
  return readFileSync(path.join(readOwnPackage().folder, "examples", "init", name), "utf8");
}

/** Returns a source file, in JavaScript without its types. */
function sourceOf(name: string, isTyped: boolean): string {
  const text = template(path.join("src", name));
  if (isTyped) return text;
  return text
    .replace(
      'import { type Handler } from "tillkit";\n\n',
      '/** @type {import("tillkit").Handler<"payment.completed">} */\n',
    )
    .replace(': Handler<"payment.completed">', "")
    .replaceAll(/(from "\.\/.*)\.js"/g, '$1.mjs"');
}

function manifestOf(folder: string, isTyped: boolean): string {
  const { version } = readOwnPackage();
  const tests = "node --test";
  const manifest = {
    name:
      folder
        .toLowerCase()
        .replaceAll(/[^a-z\d-]+/g, "-")
        .replace(/^-+/, "") || "shop",
    private: true,
    type: "module",
    scripts: {
      ...(isTyped && { build: "tsc" }),
      start: isTyped ? "tsc && node --env-file=.env dist/server.js" : "node --env-file=.env server.mjs",
      test: isTyped
        ? `tsc && ${tests} dist/payments/fulfil-order.test.js`
        : `${tests} payments/fulfil-order.test.mjs`,
      sandbox: startSandbox,
    },
    dependencies: { "@photostructure/sqlite": "^1.2.1", express: "^5.0.0", tillkit: `^${version}` },
    ...(isTyped && {
      devDependencies: { "@types/express": "^5.0.0", "@types/node": "^20.19.0", typescript: "^5.9.0" },
    }),
  };
  return `${JSON.stringify(manifest, undefined, 2)}\n`;
}

/** Returns the command that installs what the application lacks. */
function missing({ dependencies, devDependencies }: Manifest, isTyped: boolean): string[] {
  const all = { ...dependencies, ...devDependencies };
  const needs = ["tillkit", "express", ...(isTyped ? ["typescript", "@types/express", "@types/node"] : [])];
  const lacking = needs.filter((name) => all[name] === undefined);
  const old = /^v(20|22\.1[0-5])\./.test(process.version) && all["@photostructure/sqlite"] === undefined;
  if (old) lacking.push("@photostructure/sqlite");
  return lacking.length > 0 ? [`Install what is missing: npm install ${lacking.join(" ")}`] : [];
}

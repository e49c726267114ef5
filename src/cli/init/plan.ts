import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { readOwnPackage } from "../terminal/own-package.js";
import { unreadableFile } from "../terminal/read-file.js";
import { type FileChange, mountLines, mountRouter } from "./mount.js";

/** The changes that `init` makes, and the advice that it prints. */
export interface InitPlan {
  language: "TypeScript" | "JavaScript";
  changes: FileChange[];
  /** The existing files with other content than the plan's, which stay unchanged. */
  kept: string[];
  /** The steps that the developer must do, in this order. */
  advice: string[];
}

type Manifest = Partial<Record<"name" | "main", string>> &
  Partial<Record<"scripts" | "dependencies" | "devDependencies", Record<string, string>>>;

const startSandbox =
  "tillkit sandbox --webhook http://localhost:3000/payments/webhook " +
  "--client-secret sandbox_client_secret_of_the_first_shop --secret sandbox_webhook_secret_of_the_first_shop";

/** Reads the folder, and returns the plan. Changes nothing. */
export function planInit(folder: string, language: InitPlan["language"] | undefined): InitPlan {
  const read = (file: string) => readFileSync(path.join(folder, file), "utf8");
  const has = (file: string) => existsSync(path.join(folder, file));
  const givenManifest = has("package.json") ? read("package.json") : undefined;
  const manifest = givenManifest === undefined ? undefined : manifestIn(givenManifest);
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

  const scripts = scriptsFor(entry, isTyped);
  if (givenManifest === undefined)
    add("package.json", manifestOf(path.basename(path.resolve(folder)), scripts, isTyped));
  else addScripts(plan, givenManifest, scripts);
  if (isTyped && entry === undefined) add("tsconfig.json", template("tsconfig.json"));
  for (const name of ["payments/fulfil-order", "payments/fulfil-order.test", "payments/router"])
    add(path.join(source, isTyped ? `${name}.ts` : `${name}.mjs`), sourceOf(`${name}.ts`, isTyped));
  const server = path.join(source, isTyped ? "server.ts" : "server.mjs");
  if (entry !== undefined) addMount(plan, entry, read(entry), isTyped);
  else add(server, sourceOf("server.ts", isTyped));
  add(".env.example", template("env.example"));
  addIgnored(plan, has(".gitignore") ? read(".gitignore") : undefined);

  plan.advice.push(...nextSteps({ manifest, entry, isTyped, scripts }));
  return plan;
}

interface Prepared {
  manifest: Manifest | undefined;
  /** The file with the Express app; `undefined` if no known file contains `express()`, as in a new shop. */
  entry: string | undefined;
  isTyped: boolean;
  scripts: Record<string, string>;
}

/** Returns the steps with which the developer starts the shop and examines it with the doctor. */
function nextSteps({ manifest, entry, isTyped, scripts }: Prepared): string[] {
  const commandOf = (name: string, otherwise: string): string => {
    const own = scripts[name];
    const isOurs = own !== undefined && (isFree(manifest, name) || manifest?.scripts?.[name] === own);
    return !isOurs ? otherwise : name === "sandbox" ? "npm run sandbox" : `npm ${name}`;
  };
  const test = isTyped
    ? "npx tsc && node --test dist/payments/fulfil-order.test.js (or where your build writes it)"
    : `node --test ${testFileOf(entry)}`;
  return [
    ...(manifest ? missing(manifest, isTyped) : ["Install the packages in package.json: npm install"]),
    ...(entry === undefined
      ? ["Copy .env.example to .env."]
      : [
          "Copy .env.example to .env. If your app does not listen on port 3000, or port 4000 is not free for the " +
            "sandbox, change the port in .env (the app's port in one address, the sandbox's port in two), and in the " +
            "sandbox's command (--webhook, --port).",
          "Change the handler in fulfil-order, and its test, so that both use your own table of orders.",
        ]),
    `Run the test: ${commandOf("test", test)}`,
    `Start the sandbox, and leave the sandbox running: ${commandOf("sandbox", `npx ${startSandbox}`)}`,
    `Start the app in a second terminal: ${commandOf("start", "with the variables, as by node --env-file=.env …")}`,
    "Examine the running app in a third terminal: npx tillkit doctor --env-file .env",
  ];
}

/** Returns the path of the JavaScript test, in the folder `payments` beside the Express app. */
function testFileOf(entry = "."): string {
  return path.posix.join(path.posix.dirname(entry), "payments/fulfil-order.test.mjs");
}

/** Returns the new scripts. An existing TypeScript app, whose build is unknown, gets only `sandbox`. */
function scriptsFor(entry: string | undefined, isTyped: boolean): Record<string, string> {
  const sandbox = startSandbox;
  const [run, test] = ["node --env-file=.env", "node --test"];
  if (entry !== undefined && isTyped) return { sandbox };
  const start = `${run} ${entry ?? "server.mjs"}`;
  if (!isTyped) return { start, test: `${test} ${testFileOf(entry)}`, sandbox };
  return {
    build: "tsc",
    start: `tsc && ${run} dist/server.js`,
    test: `tsc && ${test} dist/payments/fulfil-order.test.js`,
    sandbox,
  };
}

/** Returns whether a script is absent, or is the failing test that `npm init` writes. */
function isFree(manifest: Manifest | undefined, name: string): boolean {
  const script = manifest?.scripts?.[name];
  return script === undefined || (name === "test" && script.includes("no test specified"));
}

/** Adds the scripts that package.json does not have, and keeps its indentation, as npm does. */
function addScripts(plan: InitPlan, before: string, scripts: Record<string, string>): void {
  const manifest = manifestIn(before);
  const free = Object.entries(scripts).filter(([name]) => isFree(manifest, name));
  if (free.length === 0) return;
  const changed = { ...manifest, scripts: { ...manifest.scripts, ...Object.fromEntries(free) } };
  const [, indent = ""] = /^([ \t]+)"/m.exec(before) ?? [];
  const eol = before.includes("\r\n") ? "\r\n" : "\n";
  const lines = JSON.stringify(changed, undefined, indent).split("\n");
  const known = before.split(/\r?\n/);
  plan.changes.push({
    file: "package.json",
    content: lines.join(eol) + (before.endsWith("\n") ? eol : ""),
    before,
    added: lines.filter((line) => !known.includes(line)),
  });
}

/** Adds the secrets and the kit's files to .gitignore: the database, the spool and refused webhooks. */
function addIgnored(plan: InitPlan, before: string | undefined): void {
  const known = (before ?? "").split(/\r?\n/).map((line) => line.trim().replaceAll(/^\/|\/$/g, ""));
  const added = [".env", "shop.db*", "refused/"].filter((line) => !known.includes(line.replace(/\/$/, "")));
  if (added.length === 0) return;
  const eol = before?.includes("\r\n") ? "\r\n" : "\n";
  const head = before === undefined || before === "" || before.endsWith("\n") ? before : before + eol;
  const content = (head ?? "") + added.map((line) => line + eol).join("");
  plan.changes.push({ file: ".gitignore", content, ...(before !== undefined && { before, added }) });
}

function manifestIn(text: string): Manifest {
  try {
    const manifest: unknown = JSON.parse(text);
    if (typeof manifest === "object" && manifest !== null && !Array.isArray(manifest)) return manifest;
    throw new Error("It has no object.");
  } catch (cause) {
    throw unreadableFile("package.json", cause);
  }
}

/** Returns the files that may contain the Express app, the likeliest first. */
function entries(manifest: Manifest | undefined): string[] {
  const names = ["server", "app", "index", "main"].flatMap((name) => [`src/${name}`, name]);
  const files = names.flatMap((name) =>
    ["ts", "mts", "js", "mjs", "cjs"].map((ending) => `${name}.${ending}`),
  );
  // A file in a build folder is not changed, because the next build would overwrite the change.
  const isBuilt = /^(\.\/)?(dist|build|out|lib)\//.test(manifest?.main ?? "");
  return manifest?.main === undefined || isBuilt ? files : [...files, manifest.main];
}

/** Adds the change that mounts the router, or advice with the two lines if the file cannot be changed. */
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

/** Returns a source file of the template. For JavaScript, the types are removed. */
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

function manifestOf(folder: string, scripts: Record<string, string>, isTyped: boolean): string {
  const { version } = readOwnPackage();
  const name = folder.toLowerCase().replaceAll(/[^a-z\d-]+/g, "-");
  const manifest = {
    name: name.replace(/^-+/, "") || "shop",
    private: true,
    type: "module",
    scripts,
    dependencies: { "@photostructure/sqlite": "^1.2.1", express: "^5.0.0", tillkit: `^${version}` },
    ...(isTyped && {
      devDependencies: { "@types/express": "^5.0.0", "@types/node": "^20.19.0", typescript: "^5.9.0" },
    }),
  };
  return `${JSON.stringify(manifest, undefined, 2)}\n`;
}

/** Returns the advice to install the missing packages; empty if none is missing. */
function missing({ dependencies, devDependencies }: Manifest, isTyped: boolean): string[] {
  const all = { ...dependencies, ...devDependencies };
  const needs = ["tillkit", "express", ...(isTyped ? ["typescript", "@types/express", "@types/node"] : [])];
  const lacking = needs.filter((name) => all[name] === undefined);
  const old = /^v(20|22\.1[0-5])\./.test(process.version) && all["@photostructure/sqlite"] === undefined;
  if (old) lacking.push("@photostructure/sqlite");
  return lacking.length > 0 ? [`Install the missing packages: npm install ${lacking.join(" ")}`] : [];
}

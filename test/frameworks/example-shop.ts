import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createSandbox, type Sandbox } from "tillkit/sandbox";
import { freePort } from "../support/own-servers.js";
import { until } from "../webhook/spool/fixtures.js";

const root = path.resolve(__dirname, "../..");
export const examples = path.join(root, "examples/frameworks");
const unpacked = path.join(root, ".tmp/package");

/** Returns what is missing for these tests; `undefined` where nothing is. */
export function missing(name = "express"): string | undefined {
  if (process.env["TILLKIT_TEST_TARGET"] !== "packed") return "TILLKIT_TEST_TARGET is not packed";
  return existsSync(path.join(examples, "node_modules", name))
    ? undefined
    : `${name} is not installed: npm ci --prefix examples/frameworks`;
}

/** A folder with the examples and the packed package, and a sandbox that is the service of their shop. */
export class ExampleShop {
  readonly folder = mkdtempSync(path.join(tmpdir(), "tillkit-framework-"));
  readonly mount: string;
  output = "";
  url = "";
  sandbox!: Sandbox;
  env: Record<string, string> = {};
  child: ChildProcess | undefined;

  constructor(mount: string) {
    this.mount = mount;
  }

  /** Copies the examples. They find the packed package beside their own packages. */
  async prepare(): Promise<void> {
    const { folder, mount } = this;
    const packages = path.join(folder, "node_modules");
    const filter = (source: string): boolean => !/node_modules|\.next/.test(source);
    for (const name of ["frameworks", "smallest"])
      cpSync(path.join(examples, "..", name), path.join(folder, name), { recursive: true, filter });
    symlinkSync(path.join(examples, "node_modules"), path.join(folder, "frameworks/node_modules"));
    mkdirSync(packages);
    // Not a link: Next keeps a package outside of its bundle only where the package itself is installed.
    cpSync(unpacked, path.join(packages, "tillkit"), { recursive: true });
    const { dependencies } = JSON.parse(readFileSync(path.join(unpacked, "package.json"), "utf8"));
    mkdirSync(path.join(packages, "@photostructure"));
    for (const name of [...Object.keys(dependencies), "@photostructure/sqlite"])
      symlinkSync(path.join(root, "node_modules", name), path.join(packages, name));
    symlinkSync(path.join(examples, "node_modules/express"), path.join(packages, "express"));
    const port = await freePort();
    this.url = `http://127.0.0.1:${port}`;
    this.sandbox = createSandbox({
      webhookUrls: [`${this.url}${mount}/webhook`],
    });
    await this.sandbox.start();
    this.env = {
      PATH: process.env["PATH"]!,
      HOME: folder,
      PORT: String(port),
      TILLKIT_PUBLIC_URL: `${this.url}${mount}`,
      ...this.sandbox.variables,
      TILLKIT_DATABASE: path.join(folder, "shop.db"),
      TILLKIT_LOG: "off",
      NEXT_TELEMETRY_DISABLED: "1",
    };
  }

  /** Starts a program in a folder of the examples, in a process group of its own, and waits until it answers. */
  async start(command: string, args: readonly string[], cwd: string): Promise<void> {
    const options = { cwd: path.join(this.folder, "frameworks", cwd), env: this.env, detached: true };
    this.child = spawn(command, args, options);
    for (const stream of [this.child.stdout!, this.child.stderr!])
      stream.setEncoding("utf8").on("data", (text: string) => (this.output += text));
    await this.untilUp();
  }

  untilUp(): Promise<void> {
    return this.until(
      "it answered",
      async () => (await fetch(`${this.url}${this.mount}/webhook`)).status === 405,
    );
  }

  async until(what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
    await until(async () => {
      if (this.child && this.child.exitCode !== null)
        throw new Error(`The shop ended before ${what}:\n${this.output}`);
      return await Promise.resolve(holds()).catch(() => false);
    }, 40_000);
  }

  /** Buys something, and returns the address of the return page. */
  async buy(order: string): Promise<string> {
    const checkout = await fetch(`${this.url}/checkout/${order}`, { method: "POST", redirect: "manual" });
    const location = checkout.headers.get("location") ?? "";
    if (checkout.status !== 303 || !location.startsWith(`${this.sandbox.url}/payment/submit/`))
      throw new Error(`The checkout answered ${checkout.status}, to ${location}:\n${this.output}`);
    return this.sandbox.payments().at(-1)!.successUrl;
  }

  /** Ends the process group: some frameworks start processes of their own. */
  async stop(): Promise<void> {
    if (this.child?.exitCode === null && this.child.signalCode === null) {
      const ended = once(this.child, "exit");
      process.kill(-this.child.pid!, "SIGKILL");
      await ended;
    }
    await this.sandbox.close();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

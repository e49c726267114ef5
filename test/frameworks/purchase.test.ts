import { spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, cpSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createSandbox, type Sandbox } from "tillkit/sandbox";
import { freePort } from "../support/own-servers.js";
import { until } from "../webhook/spool/fixtures.js";

const root = path.resolve(__dirname, "../..");
const examples = path.join(root, "examples/frameworks");
const unpacked = path.join(root, ".tmp/package");

/** What is missing for these tests; `undefined` where nothing is. */
function missing(): string | undefined {
  if (process.env["TILLKIT_TEST_TARGET"] !== "packed") return "TILLKIT_TEST_TARGET is not packed";
  return existsSync(path.join(examples, "node_modules"))
    ? undefined
    : "their packages are not installed: npm ci --prefix examples/frameworks";
}

interface Program {
  file: string;
  /** A function runs behind a stand-in for its gateway. */
  args: string[];
  /** Where the router is mounted. */
  mount: string;
}

const helpers = ["express-app.mjs", "fulfil-order.mjs", "invoke.mjs"];
const programs: Program[] = [
  { file: "smallest/server.mjs", args: ["../smallest/server.mjs"], mount: "" },
  ...readdirSync(examples)
    .filter((file) => file.endsWith(".mjs") && !helpers.includes(file))
    .map((file) => ({
      file: `frameworks/${file}`,
      args: file.startsWith("serverless") ? ["invoke.mjs", `./${file}`] : [file],
      mount: "/payments",
    })),
];

/** A shop of the examples, running in a process of its own with the packed package. */
class Shop {
  output = "";

  constructor(
    readonly child: ChildProcess,
    readonly url: string,
  ) {
    for (const stream of [child.stdout!, child.stderr!])
      stream.setEncoding("utf8").on("data", (text: string) => (this.output += text));
  }

  async until(what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
    await until(async () => {
      if (this.child.exitCode !== null) throw new Error(`The shop ended before ${what}:\n${this.output}`);
      return await Promise.resolve(holds()).catch(() => false);
    });
  }

  async stop(): Promise<void> {
    const ended = once(this.child, "exit");
    if (this.child.exitCode === null && this.child.kill("SIGKILL")) await ended;
  }
}

const reason = missing();
if (reason !== undefined) {
  it(`leaves the purchase behind each framework out, because ${reason}`, () => {
    expect(missing()).toBe(reason);
  });
} else {
  describe.each(programs)("in examples/$file", ({ args, mount }) => {
    let folder: string;
    let sandbox: Sandbox;
    let shop: Shop;

    beforeAll(async () => {
      folder = mkdtempSync(path.join(tmpdir(), "tillkit-framework-"));
      // The programs find the packed package beside their own packages.
      const shopFolder = path.join(folder, "frameworks");
      const packages = path.join(folder, "node_modules");
      const filter = (source: string) => !source.includes("node_modules");
      for (const name of ["frameworks", "smallest"])
        cpSync(path.join(examples, "..", name), path.join(folder, name), { recursive: true, filter });
      symlinkSync(path.join(examples, "node_modules"), path.join(shopFolder, "node_modules"));
      mkdirSync(packages);
      symlinkSync(unpacked, path.join(packages, "tillkit"));
      symlinkSync(path.join(examples, "node_modules/express"), path.join(packages, "express"));
      const port = await freePort();
      const url = `http://127.0.0.1:${port}`;
      const secret = `sandbox_${randomBytes(24).toString("hex")}`;
      sandbox = createSandbox({
        webhookUrls: [`${url}${mount}/webhook`],
        signature: { scheme: "hmac", secret },
      });
      await sandbox.start();
      const env = {
        PATH: process.env["PATH"],
        PORT: String(port),
        TILLKIT_PUBLIC_URL: `${url}${mount}`,
        TILLKIT_SERVICE_URL: sandbox.url,
        TILLKIT_TOKEN_URL: sandbox.tokenUrl,
        TILLKIT_CLIENT_ID: sandbox.client.clientId,
        TILLKIT_CLIENT_SECRET: sandbox.client.clientSecret,
        TILLKIT_WEBHOOK_SECRET: secret,
        TILLKIT_DATABASE: path.join(folder, "shop.db"),
        TILLKIT_LOG: "off",
      };
      shop = new Shop(spawn(process.execPath, args, { cwd: shopFolder, env }), url);
      await shop.until("it answered", async () => (await fetch(`${url}${mount}/webhook`)).status === 405);
    });
    afterAll(async () => {
      // It is missing where the sandbox did not start.
      await (shop as Shop | undefined)?.stop();
      await sandbox.close();
      rmSync(folder, { recursive: true, force: true });
    });

    it("an order is paid: the webhook, the handler and the return page", async () => {
      const checkout = await fetch(`${shop.url}/checkout/order-1`, { method: "POST", redirect: "manual" });
      expect(checkout.status).toBe(303);
      expect(checkout.headers.get("location")).toMatch(`${sandbox.url}/payment/submit/`);
      const [payment] = sandbox.payments();
      const successUrl = payment!.successUrl;

      const before = await fetch(successUrl, { headers: { "accept-language": "fr" } });
      expect(before.status).toBe(200);
      expect(before.headers.get("content-language")).toBe("fr");
      expect(await (await fetch(`${successUrl}/state`)).json()).toMatchObject({ state: "confirming" });

      expect(await sandbox.pay(payment!.clientId)).toMatchObject([{ status: 200 }]);
      await shop.until("the handler ran", () => shop.output.includes("order-1 is paid"));
      expect(await (await fetch(`${successUrl}/state`)).json()).toMatchObject({ state: "paid" });
      expect(await (await fetch(successUrl)).text()).toContain("Payment received");
    });

    it("a forged webhook is refused, and a forged return address shows the page for it", async () => {
      const forged = await fetch(`${shop.url}${mount}/webhook`, {
        method: "POST",
        headers: { "content-type": "application/json", "service-signature": "00".repeat(32) },
        body: JSON.stringify({ topic: "payment.completed" }),
      });
      expect(forged.status).toBe(401);
      const page = await fetch(`${shop.url}${mount}/success/forged~token`);
      expect(page.status).toBe(404);
      expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    });
  });
}

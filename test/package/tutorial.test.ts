import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { type Server } from "node:net";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../docs/documents.js";
import { lockPort, refuseTakenPort } from "./program.js";
import { discard, pack, plainEnvironment, run, type Packed } from "./pack.js";

const page = readFileSync(join(root, "docs/start.md"), "utf8");

/** The blocks of the page in their order, each with the file that the sentence before it names. */
const blocks = [
  ...page.matchAll(/(?:as `([\w.-]+)`[^\n]*(?:\n(?!```)[^\n]*)*\n)?^```(\w+)\n(.*?)^```$/gms),
].map(([, file, language, text]) => ({ file, language: language!, text: text! }));
const commands = blocks.filter(({ language }) => language === "sh").map(({ text }) => text.trim());
const [install, sandbox, shop, forge, test] = commands as [string, string, string, string, string];

let packed: Packed;
let folder: string;
let lock: Server;
const running: ChildProcess[] = [];
let output = "";

beforeAll(async () => {
  packed = pack();
  lock = await lockPort();
  await refuseTakenPort();
  // The first commands of the page make the folder. The package is the one that was packed here.
  const lines = install.replace("tillkit", `--no-audit --no-fund --prefer-offline ${packed.tarball}`);
  mkdirSync(join(packed.folder, "empty"));
  run(join(packed.folder, "empty"), "sh", "-ec", lines);
  folder = join(packed.folder, "empty", "shop");
  for (const { file, text } of blocks) if (file) writeFileSync(join(folder, file), text);
}, 240_000);
afterAll(async () => {
  for (const child of running.splice(0)) await stop(child);
  lock.close();
  discard(packed);
});

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  process.kill(-child.pid!, "SIGTERM");
  await ended;
}

/** Starts a command of the page that runs until it is stopped, and waits until it prints the text. */
async function started(command: string, prints: string): Promise<ChildProcess> {
  const child = spawn("sh", ["-c", `exec ${command}`], {
    cwd: folder,
    env: plainEnvironment(),
    detached: true,
  });
  running.push(child);
  await new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
        if (output.includes(prints)) resolve();
      });
    }
    child.once("exit", () => reject(new Error(`${command} ended:\n${output}`)));
  });
  return child;
}

/** Waits until the programs have printed this. What they print arrives later than what they answer. */
async function untilPrinted(expected: RegExp): Promise<void> {
  while (!expected.test(output)) await Promise.race(running.map(({ stdout }) => once(stdout!, "data")));
}

/** Buys something as the browser of the page does, up to the checkout page. */
async function checkout(): Promise<string> {
  const [, action] = /action="([^"]+)"/.exec(await (await fetch("http://localhost:3000/")).text())!;
  const { headers } = await fetch(`http://localhost:3000${action}`, { method: "POST", redirect: "manual" });
  return headers.get("location")!;
}

async function approve(checkoutUrl: string): Promise<Response> {
  const body = new URLSearchParams({ provider: "MVK", action: "approve" });
  return fetch(checkoutUrl, { method: "POST", body, redirect: "manual" });
}

/** Returns the page of the order, which is asked for until it says that the order is paid. */
async function untilPaid(order: string): Promise<string> {
  for (;;) {
    const text = await fetch(`http://localhost:3000/orders/${order}`).then(
      (response) => response.text(),
      () => "",
    );
    if (text.includes("is paid")) return text;
    await new Promise((resolve) => void setTimeout(resolve, 25));
  }
}

describe("the tutorial, as it is written", () => {
  it("has five commands and four files", () => {
    expect(commands).toHaveLength(5);
    expect(blocks.flatMap(({ file }) => file ?? [])).toEqual([
      ".env",
      "fulfil-order.mjs",
      "shop.mjs",
      "shop.test.mjs",
    ]);
  });

  it("sells an order, and leads the customer back to it", async () => {
    await started(sandbox, "listens on http://127.0.0.1:4000");
    await started(shop, "The shop is at http://localhost:3000");
    const returned = await approve(await checkout());
    const confirming = await (await fetch(returned.headers.get("location")!)).text();
    const [, order] = /http:\/\/localhost:3000\/orders\/(order-\d+)/.exec(confirming)!;
    expect(await untilPaid(order!)).toBe("This order is paid.");
  }, 120_000);

  it("recognises a webhook that is sent again as a duplicate", async () => {
    const webhooks = "http://127.0.0.1:4000/developer/webhooks";
    const [, delivery] = /webhooks\/deliveries\/([\w-]+)/.exec(await (await fetch(webhooks)).text())!;
    const page = `${webhooks}/deliveries/${delivery}`;
    expect(await (await fetch(page)).text()).toContain("Send again");
    expect((await fetch(`${page}/again`, { method: "POST" })).status).toBe(200);
    await untilPrinted(/"outcome":"applied".*"outcome":"duplicate"/s);
  }, 120_000);

  it("refuses the forged webhook", () => {
    expect(run(folder, "sh", "-ec", forge)).toMatch(/^HTTP\/1\.1 401 /);
  });

  it("completes an order that was approved while the shop was stopped", async () => {
    const checkoutUrl = await checkout();
    await stop(running.pop()!);
    const returned = await approve(checkoutUrl);
    await started(shop, "The shop is at http://localhost:3000");
    const confirming = await (await fetch(returned.headers.get("location")!)).text();
    const [, order] = /http:\/\/localhost:3000\/orders\/(order-\d+)/.exec(confirming)!;
    expect(await untilPaid(order!)).toBe("This order is paid.");
  }, 120_000);

  it("has a test that passes", () => {
    expect(run(folder, "sh", "-ec", test)).toMatch(/pass 1\n/);
  }, 120_000);
});

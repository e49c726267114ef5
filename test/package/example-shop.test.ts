import { spawn } from "node:child_process";
import { cpSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { discard, install, pack, plainEnvironment, run, type Packed } from "./pack.js";

const example = resolve(__dirname, "../../examples/express-shop");
const leftOut = ["dist", "data", "node_modules"];

let packed: Packed;
beforeAll(() => {
  packed = pack();
}, 300_000);
afterAll(() => discard(packed));

it("the example shop is installed, built, tested and started where it was copied to", async () => {
  const folder = join(packed.folder, "copied-shop");
  cpSync(example, folder, { recursive: true, filter: (path) => !leftOut.includes(basename(path)) });
  install(packed, "copied-shop");
  run(folder, "npm", "run", "build");
  expect(run(folder, "npm", "test")).toMatch(/fail 0\b/);

  const settings = {
    PORT: "0",
    PAY_URL: "http://127.0.0.1:9",
    PAY_TOKEN_URL: "http://127.0.0.1:9/oauth/token",
    PAY_CLIENT_ID: "shop",
    PAY_CLIENT_SECRET: "a client secret of this test",
    PAY_WEBHOOK_SECRET: "a webhook secret that is long enough",
    SHOP_PASSWORD: "a password of this test",
  };
  const shop = spawn(process.execPath, ["dist/server.js"], {
    cwd: folder,
    env: { ...plainEnvironment(), ...settings },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise((resolveEnd) => shop.once("exit", resolveEnd));
  const lines: string[] = [];
  for await (const line of createInterface({ input: shop.stdout })) {
    lines.push(line);
    if (line.startsWith("The shop is open")) shop.kill("SIGTERM");
  }
  expect(lines).toContainEqual(expect.stringMatching(/^The shop is open/));
  expect(await ended).toBe(0);
}, 300_000);

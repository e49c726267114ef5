import { createHmac } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import request from "supertest";
import { eventLine } from "../../../src/cli/sandbox/event-line.js";
import { createOutput } from "../../../src/cli/terminal/output.js";
import { errorFixes } from "../../../src/errors/index.js";
import { root } from "../../docs/documents.js";
import { collectedLog } from "../../http/collected-log.js";
import { OpenDashboard } from "../../sandbox/dashboard/open-dashboard.js";
import { status } from "../../sandbox/merchant.js";
import { appOf, closeAll, secret, testKit } from "../../support/kit.js";
import { completedBody } from "../../support/webhooks.js";
import { runCli, temporaryFolder } from "../support/run-cli.js";

const folder = temporaryFolder();
const body = JSON.stringify(completedBody());
const home = process.cwd();
beforeEach(() => {
  process.chdir(mkdtempSync(path.join(folder.path, "app-")));
});
afterEach(async () => {
  process.chdir(home);
  await closeAll();
});

/** Makes an app's folder, sends a webhook with a wrong signature to the app, and returns the lines of its log. */
async function refuse(keepRefused: string | undefined): Promise<string> {
  const { logger, lines } = collectedLog();
  const payments = testKit({ logger, ...(keepRefused !== undefined && { webhook: { keepRefused } }) });
  await request(appOf(payments))
    .post("/payments/webhook")
    .set({ "content-type": "application/json" })
    .set({ "service-signature": createHmac("sha256", "another secret").update(body).digest("hex") })
    .send(body)
    .expect(401);
  await payments.close();
  return lines.map(({ msg }) => String(msg)).join("\n");
}

/** Returns the commands that a text names. One that goes on in the next line could not be copied. */
function commandsIn(text: string): string[] {
  const command = /(?:npx )?tillkit verify --last(?: --[a-z-]+ (?:"[^"]*"|[^\s`,)<]+))*/g;
  return [...text.matchAll(command)].map(([found]) => found);
}

function writeDotEnv(): void {
  folder.write(path.join(path.basename(process.cwd()), ".env"), `TILLKIT_WEBHOOK_SECRET=${secret}\n`);
}

/** Runs a command as a shell does, in an app's folder whose `.env` has the kit's secret. */
async function execute(command: string) {
  writeDotEnv();
  const parts = [...command.replace(/^npx /, "").matchAll(/"([^"]*)"|(\S+)/g)];
  const argv = parts.map(([, quoted, plain]) => quoted ?? plain!);
  return runCli(argv.slice(1), { cwd: process.cwd() });
}

const line = () =>
  eventLine(
    {
      type: "delivery",
      delivery: { requestBody: body, status: 401, attempt: 1, durationMs: 1, url: "u", at: "" },
    } as never,
    createOutput({ stdout: process.stdout, stderr: process.stderr, env: { NO_COLOR: "1" } }, false),
  );

async function page(): Promise<string> {
  const dashboard = await OpenDashboard.open({ webhookUrls: [] });
  dashboard.sandbox.registerWebhook(dashboard.merchant.webhookUrl);
  dashboard.merchant.answers.push(status(401));
  const { id } = await dashboard.sandbox.tryWebhook("wh1");
  const text = await dashboard.read(`/developer/webhooks/deliveries/${id}`);
  return /<section[^>]*id="refusal"[^]*?<\/section>/.exec(text)?.[0] ?? text;
}

const documents = readdirSync(path.join(root, "docs"), { encoding: "utf8", recursive: true })
  .filter((name) => name.endsWith(".md") && !name.startsWith("adr"))
  .map((name) => readFileSync(path.join(root, "docs", name), "utf8"));

describe("the command that finds the cause of a refused webhook", () => {
  it.each<[string, () => string | Promise<string>]>([
    ["the log of an app that keeps nothing", () => refuse(undefined)],
    ["the log of an app that keeps what it refuses", () => refuse("./refused")],
    ["the fix of signature_mismatch", () => errorFixes.signature_mismatch],
    [
      "help errors signature_mismatch",
      async () => (await runCli(["help", "errors", "signature_mismatch"])).stdout,
    ],
    [
      "the doctor",
      async () => {
        writeDotEnv();
        return (await runCli(["doctor", "--env-file", ".env"], { cwd: process.cwd() })).stdout;
      },
    ],
    ["the line of the sandbox", line],
    ["the page of the sandbox", page],
    ["a document", () => documents.join("\n")],
  ])("is the same in %s, and works when it is copied", async (_, print) => {
    const printed = commandsIn(await print());
    expect(printed).not.toEqual([]);
    await refuse("./refused");
    for (const command of new Set(printed)) {
      expect(command.replace(/^npx /, "")).toBe("tillkit verify --last --kept ./refused --env-file .env");
      const { code, stdout, stderr } = await execute(command);
      expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
      expect(stdout).toMatch(/refused[/\\]\S+: refused at .* with signature_mismatch\./);
    }
  });

  it("has the directory of the app, also one whose path has a space", async () => {
    mkdirSync("my shop");
    const [command] = commandsIn(await refuse("./my shop/refused"));
    expect(command).toBe('npx tillkit verify --last --kept "./my shop/refused" --env-file .env');
    expect((await execute(command!)).stdout).toContain("with signature_mismatch");
  });

  it("says what to do first where nothing was kept yet", async () => {
    const { code, stderr } = await execute(commandsIn(errorFixes.signature_mismatch)[0]!);
    expect(code).toBe(3);
    expect(stderr).toContain("TILLKIT_KEEP_REFUSED=./refused");
  });
});

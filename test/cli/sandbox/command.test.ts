import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { PassThrough, Readable, Writable } from "node:stream";
import { type SandboxEvent } from "tillkit/sandbox";
import { run } from "../../../src/cli/run.js";
import { Merchant } from "../../sandbox/merchant.js";
import { runCli, temporaryFolder } from "../support/run-cli.js";
import { type RunningCli, startCli } from "../support/running-cli.js";

interface Started {
  type: "started";
  url: string;
  variables: Record<string, string>;
  [name: string]: unknown;
}

type Line = Started | SandboxEvent;

const started = (cli: RunningCli) => cli.next<Started>(({ type }) => type === "started");
const delivered = async (cli: RunningCli, status?: number) => {
  const isIt = (line: Line) =>
    line.type === "delivery" && (status === undefined || line.delivery.status === status);
  const line = await cli.next<Line>(isIt);
  return (line as Extract<Line, { type: "delivery" }>).delivery;
};

/** Creates a payment with only the data of the sandbox's first line. */
async function createPayment({ url, variables }: Started, clientId: string): Promise<string> {
  const token = await fetch(variables["TILLKIT_TOKEN_URL"]!, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "client_credentials",
      client_id: variables["TILLKIT_CLIENT_ID"]!,
      client_secret: variables["TILLKIT_CLIENT_SECRET"]!,
    }),
  });
  const { access_token: accessToken } = (await token.json()) as { access_token: string };
  const created = await fetch(`${url}/v1/payments`, {
    method: "POST",
    headers: { Authorization: `Bearer ${accessToken}`, "Content-Type": "application/json" },
    body: JSON.stringify({
      purchase: { total: { value: "1475", currency: "KMF" } },
      clientId,
      cancelUrl: "http://localhost/no",
      successUrl: "http://localhost/yes",
    }),
  });
  const { data } = (await created.json()) as { data: { id: string } };
  return data.id;
}

const order = (url: string, target: string) =>
  fetch(`${url}/sandbox/api${target}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: "{}",
  });

describe("tillkit sandbox", () => {
  let merchant: Merchant;
  let sandbox: RunningCli;

  beforeEach(async () => {
    merchant = await Merchant.open();
  });
  afterEach(async () => {
    await sandbox.stop();
    await merchant.close();
  });
  const open = (...options: string[]) => {
    sandbox = startCli(["sandbox", "--port", "0", "--webhook", merchant.webhookUrl, ...options]);
    return started(sandbox);
  };

  it("starts a sandbox whose first line is enough to be paid, and prints each webhook", async () => {
    const first = await open("--scheme", "fields", "--merchant-id", "m-7", "--header", "X-Sign");
    expect(first.variables).toMatchObject({
      TILLKIT_SIGNATURE: "fields",
      TILLKIT_MERCHANT_ID: "m-7",
      TILLKIT_SIGNATURE_HEADER: "X-Sign",
    });
    const { variables } = first;
    expect(first).toMatchObject({
      tokenUrl: variables["TILLKIT_TOKEN_URL"],
      client: {
        clientId: variables["TILLKIT_CLIENT_ID"],
        clientSecret: variables["TILLKIT_CLIENT_SECRET"],
      },
      signing: { scheme: "fields", secret: variables["TILLKIT_WEBHOOK_SECRET"] },
      webhookAddresses: [{ url: merchant.webhookUrl }],
      scenario: "normal",
    });
    const id = await createPayment(first, "c-1");
    expect((await order(first.url, `/payments/${id}/pay`)).status).toBe(200);
    const completed = { type: "payment.moved", payment: { status: "completed" } };
    const isCompleted = (line: Line) => line.type === "payment.moved" && line.payment.status === "completed";
    expect(await sandbox.next<Line>(isCompleted)).toMatchObject(completed);
    const seen = await delivered(sandbox);
    expect(seen).toMatchObject({ status: 200, attempt: 1, paymentId: id, url: merchant.webhookUrl });
    expect(merchant.webhooks[0]!.headers).toHaveProperty("x-sign");
  });

  it.each([
    ["0.0.0.0", true],
    ["127.0.0.1", false],
    ["localhost", false],
  ])(
    "with --host %s warns about the network: %s; what a webhook is answered is kept only without it",
    async (host, isWarned) => {
      const first = await open("--host", host);
      const id = await createPayment(first, "c-1");
      await order(first.url, `/payments/${id}/pay`);
      const { responseBody } = await delivered(sandbox);
      expect(responseBody === undefined || responseBody === "").toBe(isWarned);
      expect(sandbox.stderr().includes("warning sandbox_in_network")).toBe(isWarned);
    },
  );

  it("takes the algorithm, the signed fields and the providers, and prints refused requests on one clock", async () => {
    const fields = "id,clientId,status,total.value,total.currency";
    const providers = "AAA=Alpha Pay,BBB";
    const { url, variables } = await open(
      "--fields",
      fields,
      "--algorithm",
      "sha512",
      "--providers",
      providers,
    );
    expect(variables).toMatchObject({ TILLKIT_SIGNATURE: "fields", TILLKIT_SIGNATURE_ALGORITHM: "sha512" });
    const clock = {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: '{"advanceMs":86400000}',
    };
    await fetch(`${url}/sandbox/api/clock`, clock);
    const refusal = sandbox.next<Extract<Line, { type: "refusal" }>>(({ type }) => type === "refusal");
    await fetch(`${url}/v1/payments`, { method: "POST" });
    expect(await refusal).toMatchObject({
      refusal: { status: 401, detail: "Send the header Authorization: Bearer <ACCESS_TOKEN>." },
    });
    expect(Date.parse((await refusal).refusal.at)).toBeGreaterThan(Date.now() + 86_000_000);
    const id = await createPayment({ type: "started", url, variables }, "c-1");
    const page = await (await fetch(`${url}/payment/submit/${id}`)).text();
    expect(page).toContain("Alpha Pay");
    expect(page).toContain('value="BBB"');
  });

  it("uses a scenario from a file", async () => {
    const folder = temporaryFolderOf({
      name: "thrice",
      about: "Three times the same.",
      webhooks: [{ times: 3 }],
    });
    const first = await open("--scenario", folder);
    await order(first.url, `/payments/${await createPayment(first, "c-1")}/pay`);
    for (let count = 0; count < 3; count += 1) await delivered(sandbox);
    expect(new Set(merchant.webhooks.map(({ rawBody }) => rawBody.toString())).size).toBe(1);
    expect(merchant.webhooks).toHaveLength(3);
  });

  it("uses one of several scenarios of a file, and names them if none was chosen", async () => {
    const file = folder.write(
      "week.json",
      JSON.stringify([
        { name: "monday", webhooks: [] },
        { name: "tuesday", webhooks: [{ times: 2 }] },
      ]),
    );
    const first = await open("--scenario", `${file}#tuesday`);
    await order(first.url, `/payments/${await createPayment(first, "c-1")}/pay`);
    for (let count = 0; count < 2; count += 1) await delivered(sandbox);
    expect(merchant.webhooks).toHaveLength(2);

    const { code, stderr } = await runCli(["sandbox", "--port", "0", "--scenario", file]);
    expect(code).toBe(2);
    expect(stderr).toContain(`${file}#monday, ${file}#tuesday`);
  });

  it("keeps credentials, secrets and payments in a state file from one start to the next", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "tillkit-cli-state-"));
    const state = ["--state", path.join(folder, "sandbox.db")];
    const before = await open(...state);
    const id = await createPayment(before, "c-1");
    expect(await sandbox.stop()).toBe(0);
    const after = await open(...state);
    for (const name of ["TILLKIT_CLIENT_SECRET", "TILLKIT_WEBHOOK_SECRET"])
      expect(after.variables[name]).toBe(before.variables[name]);
    await order(after.url, `/payments/${id}/pay`);
    expect(await delivered(sandbox)).toMatchObject({ paymentId: id, status: 200 });
    await sandbox.stop();
    rmSync(folder, { recursive: true });
    await open();
  });

  const folder = temporaryFolder();
  const temporaryFolderOf = (scenario: object) => folder.write("thrice.json", JSON.stringify(scenario));
});

it("tillkit sandbox ends also if it is stopped while it starts", async () => {
  const stopping = new AbortController();
  // The warning about the network is written at the end of the start.
  const stderr = new Writable({
    write(_chunk, _encoding, done) {
      stopping.abort();
      done();
    },
  });
  const streams = { stdin: Readable.from([]), stdout: new PassThrough().resume(), stderr };
  const context = { ...streams, env: {}, cwd: tmpdir(), signal: stopping.signal };
  expect(await run(["sandbox", "--port", "0", "--host", "0.0.0.0"], context)).toBe(0);
});

describe("what tillkit sandbox prints", () => {
  /** Starts a sandbox without --json, and stops it after its start. */
  async function printed(...options: string[]) {
    const stopping = new AbortController();
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    let out = "";
    stdout.setEncoding("utf8").on("data", (part: string) => {
      out += part;
      if (out.includes("Stop with Ctrl-C.\n\n")) stopping.abort();
    });
    const context = {
      stdin: Readable.from([]),
      stdout,
      stderr,
      env: {},
      cwd: tmpdir(),
      signal: stopping.signal,
    };
    expect(await run(["sandbox", "--port", "0", ...options], context)).toBe(0);
    return { out, err: String(stderr.read()) };
  }

  it("at its start are its address, the shop's variables, and where webhooks are sent", async () => {
    const webhooks = ["http://localhost:1/a", "http://localhost:2/b"].flatMap((url) => ["--webhook", url]);
    const { out, err } = await printed(...webhooks, "--scenario", "webhook-never");
    const [, url] =
      /^The sandbox listens on (\S+)\n\nFor the shop's environment:\n {2}TILLKIT_/.exec(out) ?? [];
    const names = [...out.matchAll(/^ {2}(\w+)=\S+$/gm)].map(([, name]) => name);
    expect(names).toEqual([
      "TILLKIT_SERVICE_URL",
      "TILLKIT_TOKEN_URL",
      "TILLKIT_CLIENT_ID",
      "TILLKIT_CLIENT_SECRET",
      "TILLKIT_WEBHOOK_SECRET",
    ]);
    expect(out).toContain(
      "\nWebhooks are sent to http://localhost:1/a, http://localhost:2/b.\n" +
        `The scenario of new payments is webhook-never; switch it at ${url}/developer/scenarios\nStop with Ctrl-C.\n\n`,
    );
    expect(err).toBe("The sandbox has stopped.\n");
    await expect(fetch(url!)).rejects.toThrow("fetch failed");
    expect((await printed()).out).toMatch(
      /\nNo webhook address yet: add one with --webhook, or at http.*webhooks\.\n/,
    );
  });
});

describe("tillkit sandbox, used wrongly", () => {
  it("says what to do where its port is taken", async () => {
    const merchant = await Merchant.open();
    const { port } = new URL(merchant.webhookUrl);
    const { code, stderr } = await runCli(["sandbox", "--port", port]);
    await merchant.close();
    expect(code).toBe(3);
    expect(stderr).toMatch(
      /^error EADDRINUSE: .*\n {2}fix: Another program uses this port, .* give another --port/,
    );
  });

  it.each([
    [["--secret", "a-real-looking-secret-of-some-length"], "signature.secret"],
    [["--webhook", "https://shop.example/hook"], "webhookUrls"],
    [["--scenario", "no-such-scenario"], "scenario"],
    [["--statuses", "eaten"], "statuses"],
    [["--retries", "later"], "--retries"],
    [["--client-id", "me"], "--client-secret"],
  ])("does not start with %j, and names the option", async (options, named) => {
    const { code, stderr } = await runCli(["sandbox", "--port", "0", ...options]);
    expect(code).toBe(2);
    expect(stderr).toContain(named);
  });
});

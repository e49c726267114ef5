import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fieldsSignature, hmacSignature, publicKeySignature } from "tillkit";
import { catalogue, type Delivery } from "tillkit/sandbox";
import { Merchant, status } from "../../sandbox/merchant.js";
import { documentOf, runCli } from "../support/run-cli.js";

const secret = "8b1f5c6e0d2a4978b3c1e7f60a9d5b24";
const env = { TILLKIT_WEBHOOK_SECRET: secret };

describe("tillkit trigger", () => {
  let merchant: Merchant;
  beforeEach(async () => {
    merchant = await Merchant.open();
  });
  afterEach(() => merchant.close());

  const trigger = (what: string, ...options: string[]) =>
    runCli(["trigger", what, "--to", merchant.webhookUrl, "--client-id", "c-1", ...options], { env });
  const sent = () =>
    merchant.webhooks.map(({ rawBody }) => JSON.parse(rawBody.toString()) as Record<string, unknown>);
  const isRight = (
    scheme: Pick<ReturnType<typeof hmacSignature>, "sign">,
    index = 0,
    header = "service-signature",
  ) => merchant.webhooks[index]!.headers[header] === scheme.sign(merchant.webhooks[index]!.rawBody);

  it("signs a webhook with the secret of the environment, sends it, and prints the answer", async () => {
    merchant.answers.push(status(202));
    const { code, stdout } = await trigger("payment.completed", "--total", "10.50 EUR", "--id", "abc123");
    expect(code).toBe(0);
    expect(stdout).toMatch(/webhook +202 +payment\.completed c-1/);
    expect(sent()).toEqual([
      expect.objectContaining({
        topic: "payment.completed",
        data: expect.objectContaining({
          id: "abc123",
          clientId: "c-1",
          captured: true,
          total: { value: "10.50", currency: "EUR" },
        }) as object,
      }),
    ]);
    expect(isRight(hmacSignature({ secret }))).toBe(true);
  });

  it("sends to the public address of the environment, without spaces and slashes at its end", async () => {
    const TILLKIT_PUBLIC_URL = `${merchant.webhookUrl.replace(/\/webhook$/, "")}/ `;
    const argv = ["trigger", "payment.completed", "--client-id", "c-1", "--json"];
    const ran = await runCli(argv, { env: { ...env, TILLKIT_PUBLIC_URL } });
    expect(documentOf(ran)).toMatchObject({ to: merchant.webhookUrl });
    const elsewhere = { ...env, TILLKIT_PUBLIC_URL: "http://127.0.0.1:1/payments" };
    const given = await runCli([...argv, "--to", merchant.webhookUrl], { env: elsewhere });
    expect(documentOf(given)).toMatchObject({ to: merchant.webhookUrl, deliveries: [{ status: 200 }] });
  });

  it("sends the webhooks of every moment of a scenario, in their order", async () => {
    const moves = {
      created: [{ status: "init" }],
      opened: [{ status: "submitted" }],
      approved: [{ status: "completed" }],
      canceled: [{ status: "canceled" }],
    };
    const folder = mkdtempSync(path.join(tmpdir(), "tillkit-trigger-"));
    const file = path.join(folder, "moments.json");
    const topicsOf = async (changes: object) => {
      const scenario = { name: "moments", about: "Each moment.", moves: { ...moves, ...changes } };
      writeFileSync(file, JSON.stringify(scenario));
      const ran = await trigger(file, "--json");
      expect([ran.code, documentOf(ran)]).toMatchObject([
        0,
        { scenario: "moments", to: merchant.webhookUrl },
      ]);
      const topics = sent().map(({ topic }) => topic);
      merchant.webhooks.splice(0);
      return topics;
    };
    const before = ["payment.init", "payment.submitted"];
    expect(await topicsOf({})).toEqual([...before, "payment.completed"]);
    // Without moves for an approval, the moves of a cancel are made.
    expect(await topicsOf({ approved: undefined })).toEqual([...before, "payment.canceled"]);
    rmSync(folder, { recursive: true });
  });

  it.each([
    ["the end of the clientId", ["--client-id", "c-1:webhook-never"]],
    [
      "the amount",
      ["--total", `${777_001 + catalogue.findIndex(({ name }) => name === "webhook-never")} KMF`],
    ],
  ])(
    "sends the scenario of its operand, and not the one that %s chooses in the sandbox",
    async (_, options) => {
      const argv = ["trigger", "webhook-doubled", "--to", merchant.webhookUrl, ...options];
      const given = options.includes("--client-id") ? argv : [...argv, "--client-id", "c-1"];
      expect((await runCli(given, { env })).code).toBe(0);
      expect(sent()).toHaveLength(2);
    },
  );

  it.each(["1.2.3 KMF", "1. KMF", "KMF"])("refuses the total %s", async (total) => {
    const ran = await trigger("payment.completed", "--total", total);
    expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining("--total must be an amount") });
    expect(sent()).toEqual([]);
  });

  it("sends to another machine, too", async () => {
    const argv = ["trigger", "payment.completed", "--client-id", "c-1", "--to", "http://shop.invalid/hook"];
    const ran = await runCli([...argv, "--json"], { env });
    expect([ran.code, documentOf(ran).deliveries]).toMatchObject([
      1,
      [{ error: expect.stringMatching(/ENOTFOUND|EAI_AGAIN/) as string }],
    ]);
  });

  it("does not count an attempt that the scenario loses on its way", async () => {
    const { code, stdout } = await trigger("webhook-dropped");
    expect(stdout).toMatch(/lost in transit[^]*, attempt 2/);
    expect(code).toBe(0);
  });

  it("says that a scenario sends no webhook, on standard error", async () => {
    const ran = await trigger("webhook-never");
    expect(ran).toEqual({ code: 0, stdout: "", stderr: "The scenario webhook-never sends no webhook.\n" });
    expect(documentOf(await trigger("webhook-never", "--json"))).toEqual({
      scenario: "webhook-never",
      to: merchant.webhookUrl,
      deliveries: [],
    });
  });

  it("prints the first 500 characters of an answer, which may take 15 seconds", async () => {
    const timeout = jest.spyOn(AbortSignal, "timeout");
    merchant.answers.push((res) => void res.end("x".repeat(501)));
    const { stdout } = await trigger("payment.on_hold");
    expect(stdout).toMatch(/\n {14}answered x{500}\n$/);
    expect(timeout).toHaveBeenCalledWith(15_000);
    timeout.mockRestore();
  });

  it("names the scenario of an event, and has the time of the clock", async () => {
    const now = () => new Date("2031-02-03T04:05:06.789Z");
    const argv = ["trigger", "payment.on_hold", "--to", merchant.webhookUrl, "--client-id", "c-1", "--json"];
    expect(documentOf(await runCli(argv, { env, now }))).toMatchObject({
      scenario: "on-hold",
      deliveries: [{ at: expect.stringMatching(/^2031-02-03T04:05:/) as string }],
    });
  });

  it("does not say that every forged webhook was refused if one has no real answer", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "tillkit-trigger-"));
    const file = path.join(folder, "forged.json");
    writeFileSync(file, JSON.stringify({ name: "forged", webhooks: [{ sign: "wrong", times: 2 }] }));
    merchant.answers.push(status(401), status(500));
    const { code, stdout, stderr } = await trigger(file);
    expect([code, merchant.webhooks.length, stderr]).toEqual([1, 2, ""]);
    expect(stdout).not.toContain("refused every");
    rmSync(folder, { recursive: true });
  });

  it("signs fields, in the header that the service uses", async () => {
    await trigger("payment.failed", "--merchant-id", "m-7", "--header", "X-Sign");
    expect(sent()[0]).toMatchObject({ topic: "payment.failed", data: { status: "failed", captured: false } });
    expect(isRight(fieldsSignature({ secret, merchantId: "m-7" }), 0, "x-sign")).toBe(true);
  });

  it("takes the secret from an option, a file or a variable, with another algorithm and other fields", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "tillkit-trigger-"));
    const other = "0d5e8a1c7b3f4926a8e0c5d7f1b29384";
    const [file, envFile] = [path.join(folder, "secret.txt"), path.join(folder, ".env")];
    writeFileSync(file, `${other}\n`);
    writeFileSync(envFile, `PAY_SECRET=${other}\n`);
    const ways = [
      ["--secret", other],
      ["--secret-file", file],
      ["--env-file", envFile, "--secret-env", "PAY_SECRET"],
    ];
    for (const way of ways)
      expect((await trigger("payment.completed", ...way, "--algorithm", "sha512")).code).toBe(0);
    const signs = hmacSignature({ secret: other, algorithm: "sha512" });
    expect(ways.map((_, index) => isRight(signs, index))).toEqual([true, true, true]);
    const fields = ["id", "clientId", "status", "total.value", "total.currency"] as const;
    await trigger("payment.completed", "--fields", fields.join(","));
    expect(isRight(fieldsSignature({ secret, fields }), ways.length)).toBe(true);
    rmSync(folder, { recursive: true });
  });

  it("signs with a private key, also by a scheme whose signatures differ each time", async () => {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const folder = mkdtempSync(path.join(tmpdir(), "tillkit-trigger-"));
    const file = path.join(folder, "key.pem");
    writeFileSync(file, privateKey.export({ type: "pkcs8", format: "pem" }));
    const options = ["--scheme", "public-key", "--private-key", file];
    expect(await trigger("payment.completed", ...options)).toMatchObject({ code: 0, stderr: "" });
    const { rawBody, headers } = merchant.webhooks[0]!;
    const scheme = publicKeySignature({ publicKey, algorithm: "ecdsa-sha256" });
    expect(scheme.verify({ rawBody, headers })).toBe(true);
    merchant.answers.push(status(401));
    const altered = await trigger("amount-tampered", ...options);
    expect(altered).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("endpoint refused every forged webhook"),
    });
    rmSync(folder, { recursive: true });
  });

  it("ends with 1 if the endpoint refuses a genuine webhook, and prints its answer", async () => {
    merchant.answers.push(status(401));
    const ran = await trigger("payment.completed", "--json");
    expect(ran.code).toBe(1);
    expect((documentOf(ran) as { deliveries: Delivery[] }).deliveries).toMatchObject([
      { status: 401, attempt: 1, forged: false },
    ]);
  });

  it.each(["signature-wrong", "signature-missing", "signature-old-secret", "amount-tampered"])(
    "ends with 0 if the forged webhook of %s is refused, and with 1 if it is accepted or has no real answer",
    async (scenario) => {
      merchant.answers.push(status(401), status(200), status(500));
      const refused = await trigger(scenario);
      expect(refused).toMatchObject({
        code: 0,
        stdout: expect.stringContaining("endpoint refused every forged webhook"),
      });
      expect(isRight(hmacSignature({ secret }))).toBe(false);
      const accepted = await trigger(scenario);
      expect(accepted).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("endpoint accepted a forged webhook"),
      });
      expect((await trigger(scenario)).code).toBe(1);
    },
  );

  it("sends each webhook of a scenario in its order", async () => {
    expect((await trigger("webhook-reordered")).code).toBe(0);
    expect(sent().map(({ topic }) => topic)).toEqual([
      "payment.completed",
      "payment.submitted",
      "payment.pending",
    ]);
  });

  it.each(
    catalogue.filter(({ creation, token, moves }) => !moves && (creation || token)).map(({ name }) => name),
  )("says that %s is not about webhooks, and what to do instead", async (name) => {
    const { code, stderr } = await trigger(name);
    expect(code).toBe(2);
    expect(stderr).toContain(`tillkit sandbox --scenario ${name}`);
    expect(merchant.webhooks).toEqual([]);
  });

  it.each([
    [["webhook-dubled", "--client-id", "c"], "Did you mean webhook-doubled?"],
    [["payments.completed", "--client-id", "c"], "Did you mean payment.completed?"],
    [["payment.completed"], "--client-id is missing"],
    [["payment.complete", "--client-id", "c"], "Did you mean payment.completed?"],
    [["payment.faild", "--client-id", "c"], "Did you mean payment.failed?"],
    [["payment.canceld", "--client-id", "c"], "Did you mean payment.canceled?"],
    [["payment.expird", "--client-id", "c"], "Did you mean payment.expired?"],
    [["payment.completed", "--client-id", "c", "--total", "many"], "--total must be"],
  ])("ends with 2 for %j", async (argv, said) => {
    const { code, stderr } = await runCli(["trigger", ...argv, "--to", merchant.webhookUrl], { env });
    expect(code).toBe(2);
    expect(stderr).toContain(said);
  });

  it("sends 1475 KMF and an id of 24 digits if no option gives them, and needs an address", async () => {
    expect((await trigger("payment.completed")).code).toBe(0);
    const total = { value: "1475", currency: "KMF" };
    const id = expect.stringMatching(/^[0-9a-f]{24}$/) as string;
    expect(sent()).toMatchObject([{ data: { id, clientId: "c-1", total } }]);
    expect(await runCli(["trigger", "payment.completed", "--client-id", "c-1"], { env })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--to is missing") as string,
    });
  });

  it("ends with 2 if there is no secret", async () => {
    const { code, stderr } = await runCli(["trigger", "payment.completed", "--to", merchant.webhookUrl]);
    expect(code).toBe(2);
    expect(stderr).toContain("secret_missing");
  });
});

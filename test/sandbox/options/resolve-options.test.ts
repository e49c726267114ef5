import { createSandbox, type SandboxOptions } from "tillkit/sandbox";

describe("the sandbox's options", () => {
  it.each<[string, SandboxOptions]>([
    ["webhookUrls", { webhookUrls: ["https://shop.example/webhook"] }],
    ["webhookUrls", { webhookUrls: ["http://127.0.0.1.shop.example/"] }],
    ["webhookUrls", { webhookUrls: ["http://user@192.0.2.1/#localhost"] }],
    ["webhookUrls", { webhookUrls: ["http://[::ffff:192.0.2.1]/"] }],
    ["webhookUrls", { webhookUrls: ["localhost:3000"] }],
    ["webhookUrls", { webhookUrls: ["/webhook"], allowRemoteWebhooks: true }],
    ["signature", { signature: { header: "Service-Signature" } }],
    ["port", { port: 65_536 }],
    ["publicUrl", { publicUrl: "pay.example" }],
    ["scenarios.0.name", { scenarios: [{ name: "Not a name" }] }],
    ["clients", { clients: [] }],
    ["clients", { clients: [{ clientId: "a", clientSecret: "" }] }],
    ["clients", { clients: [{ clientId: "", clientSecret: "a" }] }],
    ["providers", { providers: [] }],
    ["providers", { providers: [{ code: "AAA", name: " " }] }],
    ["providers", { providers: [{ code: " ", name: "Alpha" }] }],
    ["accessTokenTtlSeconds", { accessTokenTtlSeconds: -1 }],
    ["webhookTimeoutMs", { webhookTimeoutMs: Number.NaN }],
    ["webhookDelayMs", { webhookDelayMs: Number.POSITIVE_INFINITY }],
    ["retryDelaysMs", { retryDelaysMs: [0, -1] }],
    ["retryDelaysMs", { retryDelaysMs: Array.from({ length: 51 }, () => 1) }],
    ["state", { state: " " }],
    ["webhookUrl", { webhookUrl: "http://localhost:1/" } as SandboxOptions],
    ["signature.key", { signature: { scheme: "hmac", key: "a" } as never }],
    ["signature.scheme", { signature: { scheme: "md5" } as never }],
    [
      "providers",
      {
        providers: [
          { code: "AAA", name: "Alpha" },
          { code: "AAA", name: "Beta" },
        ],
      },
    ],
  ])("refuse an invalid %s: %j", (option, options) => {
    expect(() => createSandbox(options)).toThrow(
      expect.objectContaining({
        code: "option_invalid",
        problems: [{ code: "option_invalid", option, message: expect.any(String) }],
      }),
    );
  });

  it("have the defaults that the documentation names", () => {
    const { merchantName, providers, settings } = createSandbox();
    expect(merchantName).toBe("Sandbox merchant");
    expect(providers.map(({ code }) => code)).toEqual(["MVK", "HOL", "PYP"]);
    expect(settings).toEqual({
      strict: true,
      successStatus: 201,
      errorBodies: "problem",
      echoClientId: false,
      readBack: false,
      readBackBare: false,
      statuses: [],
      statusWebhooks: false,
      cancelWebhook: false,
      failureWebhook: false,
      accessTokenTtlSeconds: 3600,
      webhookDelayMs: 0,
      webhookTimeoutMs: 5000,
      retryDelaysMs: [1000, 5000, 30_000],
    });
  });

  it("take a public address with a scheme in capital letters, and without the slashes at its end", () => {
    expect(createSandbox({ publicUrl: "HTTPS://pay.example/box//" }).url).toBe("HTTPS://pay.example/box");
  });

  it("report what the scheme refuses, and a secret that is no sandbox's", () => {
    const refused = (signature: object) => {
      try {
        createSandbox({ signature: signature as never });
      } catch (error) {
        return (error as { problems: { message: string }[] }).problems.map(({ message }) => message);
      }
      return undefined;
    };
    expect(refused({ scheme: "hmac", algorithm: "md5" })).toEqual([expect.stringContaining("sha256")]);
    expect(refused({ scheme: "hmac", secret: "a" })).toEqual([
      expect.stringContaining("must begin with sandbox_;"),
    ]);
  });

  it("report every problem in one error", () => {
    expect(() => createSandbox({ providers: [], retryDelaysMs: [-1] })).toThrow(
      expect.objectContaining({ problems: [expect.anything(), expect.anything()] }),
    );
  });

  it.each([
    "http://localhost:3000/w",
    "http://127.1:1/w",
    "http://[::1]/w",
    "http://[::ffff:127.0.0.1]/w",
    "http://shop.localhost/w",
  ])("accept %s as an address of this machine", (url) => {
    expect(() => createSandbox({ webhookUrls: [url] })).not.toThrow();
  });

  it("allow webhooks to other machines with allowRemoteWebhooks", () => {
    const sandbox = createSandbox({ webhookUrls: ["https://shop.example/w"], allowRemoteWebhooks: true });
    expect(() => sandbox.registerWebhook("https://other.example/w")).not.toThrow();
  });

  it("treat undefined as absent", () => {
    const names = ["port", "host", "signature", "clients", "providers", "retryDelaysMs", "now", "publicUrl"];
    const sandbox = createSandbox(Object.fromEntries(names.map((name) => [name, undefined])));
    expect(sandbox.client.clientId).toBe("sandbox-merchant");
  });

  it("refuse a generated webhook secret where NODE_ENV is production", () => {
    const before = process.env["NODE_ENV"];
    process.env["NODE_ENV"] = "production";
    try {
      expect(() => createSandbox()).toThrow(
        expect.objectContaining({ code: "sandbox_credential_in_production" }),
      );
    } finally {
      process.env["NODE_ENV"] = before;
    }
  });

  it("generate a new secret each time, with the prefix of a sandbox", () => {
    const [a, b] = [createSandbox(), createSandbox()];
    const made = [a, b].flatMap((sandbox) => [
      sandbox.secret,
      sandbox.client.clientSecret,
      sandbox.accessToken(),
    ]);
    for (const secret of made) expect(secret).toMatch(/^sandbox_[0-9a-f]{48}$/);
    expect(new Set(made).size).toBe(made.length);
  });
});

describe("the sandbox's server", () => {
  it("has an address after it listens, on this machine only, and can be started twice", async () => {
    const sandbox = createSandbox();
    expect(() => sandbox.url).toThrow(expect.objectContaining({ code: "sandbox_misused" }));
    await Promise.all([sandbox.start(), sandbox.start()]);
    expect(sandbox.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect((await fetch(sandbox.url)).status).toBe(200);
    await sandbox.close();
    await sandbox.close();
  });

  it.each([
    ["0.0.0.0", /^http:\/\/localhost:\d+$/],
    ["::", /^http:\/\/localhost:\d+$/],
    ["::1", /^http:\/\/\[::1\]:\d+$/],
  ])("has an address that a browser can open when it listens on %s", async (host, url) => {
    const sandbox = createSandbox({ host });
    await sandbox.start();
    expect(sandbox.url).toMatch(url);
    await sandbox.close();
  });

  it("rejects when the port is in use", async () => {
    const first = createSandbox();
    await first.start();
    const second = createSandbox({ port: Number(new URL(first.url).port) });
    await expect(second.start()).rejects.toMatchObject({ code: "EADDRINUSE" });
    await second.close();
    await first.close();
  });
});

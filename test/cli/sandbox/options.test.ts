import path from "node:path";
import { loadCommand } from "../../../src/cli/commands.js";
import { readSandboxOptions, sandboxOptions } from "../../../src/cli/sandbox/options.js";
import { readArguments } from "../../../src/cli/terminal/arguments.js";
import { type Context } from "../../../src/cli/terminal/command.js";

const cwd = "/shop";

async function optionsOf(...argv: string[]) {
  const args = readArguments(await loadCommand("sandbox"), argv);
  return readSandboxOptions(args, { cwd } as Context);
}

/** Each option with a value of its own, and what it sets. */
const given: [argv: string[], sets: object][] = [
  [["--port", "0"], { port: 0 }],
  [["--host", "::1"], { host: "::1" }],
  [["--public-url", "https://a.example"], { publicUrl: "https://a.example" }],
  [["--webhook", "http://a", "--webhook", "http://b"], { webhookUrls: ["http://a", "http://b"] }],
  [["--allow-remote-webhooks"], { allowRemoteWebhooks: true }],
  [["--scheme", "fields"], { signature: { scheme: "fields" } }],
  [["--algorithm", "sha512"], { signature: { algorithm: "sha512" } }],
  [["--fields", "id, status"], { signature: { scheme: "fields", fields: ["id", "status"] } }],
  [["--header", "X-Sign"], { signature: { header: "X-Sign" } }],
  [["--merchant-id", "m-7"], { signature: { scheme: "fields", merchantId: "m-7" } }],
  [["--secret", "sandbox_1"], { signature: { secret: "sandbox_1" } }],
  [["--client-id", "shop", "--client-secret", "s"], { clients: [{ clientId: "shop", clientSecret: "s" }] }],
  [["--token-ttl", "60"], { accessTokenTtlSeconds: 60 }],
  [["--merchant-name", "The shop"], { merchantName: "The shop" }],
  [
    ["--providers", "MVK=Mvuko=Mobile, HOL"],
    {
      providers: [
        { code: "MVK", name: "Mvuko=Mobile" },
        { code: "HOL", name: "HOL" },
      ],
    },
  ],
  [["--state", "state.db"], { state: path.resolve(cwd, "state.db") }],
  [["--seed", "7"], { seed: "7" }],
  [["--lenient"], { strict: false }],
  [["--read-back"], { readBack: true, readBackBare: undefined }],
  [["--read-back-bare"], { readBack: true, readBackBare: true }],
  [["--echo-client-id"], { echoClientId: true }],
  [["--cancel-webhook"], { cancelWebhook: true }],
  [["--failure-webhook"], { failureWebhook: true }],
  [["--statuses", "submitted,approved"], { statuses: ["submitted", "approved"] }],
  [["--status-webhooks"], { statusWebhooks: true }],
  [["--success-status", "202"], { successStatus: 202 }],
  [["--error-bodies", "bare"], { errorBodies: "bare" }],
  [["--webhook-delay", "250"], { webhookDelayMs: 250 }],
  [["--webhook-timeout", "900"], { webhookTimeoutMs: 900 }],
  [["--retries", "10,20"], { retryDelaysMs: [10, 20] }],
  [["--retries="], { retryDelaysMs: [] }],
];

describe("the options of tillkit sandbox", () => {
  it.each(given)("%j", async (argv, sets) => {
    expect(await optionsOf(...argv)).toMatchObject(sets);
    // Nothing else sets it.
    expect(await optionsOf()).not.toMatchObject(sets);
  });

  it.each([
    [["--scheme", "hmac"], { signature: { scheme: "hmac" } }],
    [["--success-status", "200"], { successStatus: 200 }],
    [["--success-status", "201"], { successStatus: 201 }],
    [["--error-bodies", "problem"], { errorBodies: "problem" }],
    [["--error-bodies", "html"], { errorBodies: "html" }],
  ])("have the further choice %j", async (argv, sets) => {
    expect(await optionsOf(...argv)).toMatchObject(sets);
  });

  it("are all listed above, except the scenario, which is read from a file", () => {
    const names = Object.keys(sandboxOptions).map((written) => written.split(" ")[0]);
    const tested = given.flatMap(([argv]) => argv.map((text) => text.replace(/=$/, "")));
    expect(names.filter((name) => !tested.includes(name!))).toEqual(["--scenario"]);
  });

  it("leave the settings of a state file where a switch is not given", async () => {
    const { signature, ...others } = await optionsOf();
    expect(signature).toEqual({ scheme: "hmac" });
    expect(Object.entries(others).filter(([, value]) => value !== undefined)).toEqual([
      ["port", 4000],
      ["webhookUrls", []],
      ["allowRemoteWebhooks", false],
    ]);
  });

  it("refuse a number that is none, and a client without its secret", async () => {
    for (const argv of [
      ["--port", "-1"],
      ["--token-ttl", "1.5"],
      ["--retries", "10,later"],
    ])
      await expect(optionsOf(...argv)).rejects.toMatchObject({ code: "command_option_invalid" });
    await expect(optionsOf("--client-id", "shop")).rejects.toThrow("--client-id also needs --client-secret");
  });

  it.each(["--fields", "--merchant-id"])(
    "refuse %s with the scheme hmac, which would ignore it",
    async (name) => {
      const message = `${name} is for the scheme fields, and the scheme here is hmac.`;
      await expect(optionsOf("--scheme", "hmac", name, "id")).rejects.toThrow(message);
    },
  );
});

import { generateKeyPairSync } from "node:crypto";
import { mkdirSync } from "node:fs";
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo } from "node:net";
import path from "node:path";
import { hmacSignature } from "tillkit";
import { checkInstallation, isInRange } from "../../../src/cli/doctor/check-installation.js";
import { isLocal } from "../../../src/cli/doctor/check-public-url.js";
import { readOwnPackage } from "../../../src/cli/terminal/own-package.js";
import { secret } from "../../support/kit.js";
import { documentOf, runCli, temporaryFolder } from "../support/run-cli.js";
import { type Examined } from "./planted-shop.js";

const folder = temporaryFolder();

async function examine(env: Record<string, string>, ...argv: string[]) {
  // The service of the complete environment answers here.
  const isComplete = env["TILLKIT_SERVICE_URL"] === complete.TILLKIT_SERVICE_URL;
  const all = isComplete ? { ...env, TILLKIT_SERVICE_URL: service } : env;
  const ran = await runCli(["doctor", ...argv, "--json"], { env: all, cwd: folder.path });
  const { findings, looked, skipped }: Examined = documentOf(ran);
  return { code: ran.code, findings, looked, skipped, codes: findings.map(({ code }) => code) };
}

/** The address of a payment service that answers 404. */
let service = "";
const server = createServer((_request, response) => void response.writeHead(404).end());
beforeAll(async () => {
  await once(server.listen(0, "127.0.0.1"), "listening");
  service = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

const complete = {
  TILLKIT_WEBHOOK_SECRET: secret,
  TILLKIT_SERVICE_URL: "https://api.pay.example",
  TILLKIT_ACCESS_TOKEN: "a-token-of-the-service",
  TILLKIT_DATABASE: "shop.db",
};
/** An address that refuses connections. */
const unreachable = "http://127.0.0.1:1/payments";

describe("tillkit doctor, on an environment", () => {
  it("finds nothing in a complete one, and says what was not examined", async () => {
    const ran = await runCli(["doctor"], { env: { TILLKIT_WEBHOOK_SECRET: secret }, cwd: folder.path });
    expect(ran).toMatchObject({ code: 0, stderr: "" });
    expect(ran.stdout).toContain("The doctor found no problem in what it examined.");
    expect(ran.stdout).toContain("the running app (give --url or --webhook)");
    expect(ran.stdout).toContain("the database (give --store)");
  });

  it.each<[string, Record<string, string>, string[]]>([
    ["no secret", {}, ["secret_missing"]],
    ["a short secret", { TILLKIT_WEBHOOK_SECRET: "too-short" }, ["secret_too_short"]],
    ["a weak secret", { TILLKIT_WEBHOOK_SECRET: "seventeen-letters" }, ["secret_weak"]],
    [
      "a placeholder for the old secret",
      { TILLKIT_WEBHOOK_SECRET: secret, TILLKIT_WEBHOOK_SECRET_PREVIOUS: "<old secret>" },
      ["secret_placeholder"],
    ],
    [
      "no public key",
      { TILLKIT_SIGNATURE: "public-key", TILLKIT_SIGNATURE_ALGORITHM: "ed25519" },
      ["key_invalid"],
    ],
    [
      "a sandbox's token in production",
      { TILLKIT_WEBHOOK_SECRET: secret, NODE_ENV: "production", PAY_TOKEN: "sandbox_0123" },
      ["sandbox_credential_in_production"],
    ],
    [
      "a public address without https",
      { ...complete, TILLKIT_PUBLIC_URL: "http://shop.example:1/payments", NODE_ENV: "development" },
      ["public_url_insecure", "app_unreachable"],
    ],
    [
      "a public address that is not one",
      { ...complete, TILLKIT_PUBLIC_URL: "shop.example" },
      ["public_url_invalid"],
    ],
    [
      "a public address with a query",
      { ...complete, TILLKIT_PUBLIC_URL: `${unreachable}?a=b` },
      ["public_url_invalid", "app_unreachable"],
    ],
    [
      "variables of the kit that are missing or wrong",
      { TILLKIT_WEBHOOK_SECRET: secret, TILLKIT_SERVICE_URL: "ftp://api.pay.example" },
      ["configuration_invalid", "configuration_invalid", "configuration_invalid", "store_unnamed"],
    ],
    [
      "the service on this machine, in production",
      { ...complete, TILLKIT_SERVICE_URL: unreachable, NODE_ENV: "production" },
      ["service_url_local", "service_unreachable", "configuration_invalid"],
    ],
    [
      "an unknown kind of database",
      { ...complete, TILLKIT_DATABASE: "oracle://db/shop" },
      ["store_invalid", "configuration_invalid"],
    ],
  ])("finds %s", async (_what, env, codes) => {
    const seen = await examine(env);
    expect(seen.codes.toSorted()).toEqual(codes.toSorted());
  });

  it("warns about a database that only the code names, and says nothing where --store names it", async () => {
    const { TILLKIT_DATABASE: _, ...given } = complete;
    const env = { ...given, TILLKIT_PUBLIC_URL: unreachable, NODE_ENV: "development" };
    const unnamed = (await examine(env)).findings.filter(({ code }) => code === "store_unnamed");
    expect(unnamed).toMatchObject([{ severity: "warning" }]);
    expect(unnamed[0]!.fix).toContain("--store");
    expect((await examine(env, "--store", ":memory:")).codes).not.toContain("store_unnamed");
  });

  it("says what only a webhook of the service can show, and the command for one that is refused", async () => {
    const { code, skipped } = await examine({
      TILLKIT_WEBHOOK_SECRET: secret,
      TILLKIT_KEEP_REFUSED: "./kept",
    });
    expect(code).toBe(0);
    expect(skipped.at(-1)).toMatch(
      /^which secret and scheme the service has: let the service send a webhook/,
    );
    expect(skipped.at(-1)).toMatch(/: npx tillkit verify --last --kept \.\/kept$/);
  });

  it("finds a service that does not answer, once where both addresses have one origin", async () => {
    const env = { ...complete, TILLKIT_TOKEN_URL: "http://127.0.0.1:1/oauth/token" };
    const ofService = ({ code }: { code: string }) => code === "service_unreachable";
    const apart = await examine(env);
    const message =
      "A GET of http://127.0.0.1:1/, the address of TILLKIT_TOKEN_URL, has no answer: ECONNREFUSED.";
    expect(apart.findings.filter(ofService)).toMatchObject([{ severity: "error", message }]);
    expect(apart.looked).toEqual(
      expect.arrayContaining([
        `the payment service at ${service}`,
        "the payment service at http://127.0.0.1:1",
      ]),
    );
    const { findings, code } = await examine({ ...env, TILLKIT_SERVICE_URL: "http://127.0.0.1:1" });
    expect(findings.filter(ofService)).toMatchObject([
      { message: expect.stringContaining("the address of TILLKIT_SERVICE_URL and TILLKIT_TOKEN_URL,") },
    ]);
    expect(code).toBe(1);
  });

  it("asks neither the app nor the service with --before-start", async () => {
    const env = { ...complete, TILLKIT_SERVICE_URL: unreachable, TILLKIT_PUBLIC_URL: unreachable };
    const { codes, skipped } = await examine({ ...env, NODE_ENV: "development" }, "--before-start");
    expect(codes).toEqual([]);
    expect(skipped).toEqual(["the running app, and the payment service (--before-start)"]);
    for (const option of [["--url", unreachable], ["--webhook", unreachable], ["--outside"]])
      expect(await runCli(["doctor", "--before-start", ...option])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("leave out --url, --webhook and --outside"),
      });
    const nowhere = await runCli(["doctor", "--before-start", "--app", "/no/such/app"]);
    expect(nowhere).toMatchObject({ code: 2, stderr: expect.stringContaining("no folder /no/such/app") });
  });
});

describe("tillkit doctor, on refused webhooks that were kept", () => {
  /** Writes a webhook as the kit keeps it. */
  const keep = (name: string, key: string) => {
    const signature = hmacSignature({ secret: key }).sign(Buffer.from("{}"));
    folder.write(`refused/${name}.http`, `POST / HTTP/1.1\r\nService-Signature: ${signature}\r\n\r\n{}`);
  };
  const env = { TILLKIT_WEBHOOK_SECRET: secret, TILLKIT_KEEP_REFUSED: "refused?inProduction=true" };

  it("tells how many there are, which do not match the environment either, and the command that says why", async () => {
    const none = await examine(env);
    expect(none.findings).toMatchObject([{ code: "refused_webhooks_kept", severity: "warning" }]);
    expect(none.findings[0]!.message).toContain("in refused; no webhook is kept yet");
    mkdirSync(path.join(folder.path, "refused"));
    // The first two are of a time before the secret was corrected.
    keep("2026-a-signature_mismatch-1", secret);
    keep("2026-b-signature_mismatch-2", secret);
    keep("2026-c-signature_malformed-3", "another secret of the service");
    folder.write("refused/x.txt", "");
    const corrected = await examine(env);
    expect(corrected.findings).toMatchObject([{ code: "refused_webhooks_kept" }]);
    expect(corrected.findings[0]!.message).toContain(
      "the directory has 3; the newest is 2026-c-signature_malformed-3.http. 2 match the secret now. To see whether the " +
        "newest of these is recorded: npx tillkit replay refused/2026-b-signature_mismatch-2.http",
    );
    const dotEnv = folder.write("doctor.env", "");
    const named = await examine(env, "--env-file", dotEnv, "--env-file", folder.write("more.env", ""));
    expect(named.findings[0]!.message).toMatch(
      /mismatch-2\.http --env-file \S+doctor\.env --env-file \S+more\.env$/,
    );

    keep("2026-d-signature_mismatch-4", "another secret of the service");
    const { findings, code } = await examine(env);
    expect(findings.map((one) => one.code)).toEqual(["refused_webhooks_mismatch", "refused_webhooks_kept"]);
    expect(code).toBe(0);
    expect(findings[0]!.message).toMatch(
      /^Kept webhooks whose signature .*: 1 of 4; the newest is 2026-d-\S+\. .*: npx tillkit verify --last --kept refused$/,
    );
  });

  it("prints the command on one line", async () => {
    const { stdout } = await runCli(["doctor"], { env, cwd: folder.path });
    expect(stdout.match(/npx tillkit verify --last --kept refused$/gm)).toHaveLength(2);
    expect(stdout.match(/npx tillkit replay refused\/2026-b-signature_mismatch-2\.http$/gm)).toHaveLength(1);
  });
});

describe("tillkit doctor, on more of the environment", () => {
  it("finds a public shop that is not in production", async () => {
    // An IP address, so that no DNS server is asked.
    const env = { TILLKIT_WEBHOOK_SECRET: secret };
    const seen = await examine(env, "--public-url", "https://[2001:db8::1]/payments", "--url", unreachable);
    expect(seen.codes).toEqual(expect.arrayContaining(["node_env_not_production"]));
    const wrong = { ...env, TILLKIT_PUBLIC_URL: "nonsense" };
    const other = await examine(wrong, "--public-url", "https://[2001:db8::1]/payments", "--before-start");
    expect(other.codes).not.toContain("public_url_invalid");
  });

  it.each([
    ["--algorithm", "md5"],
    ["--fields", "id,nothing"],
    ["--header", "a header"],
    ["--merchant-id", "m,7"],
  ])("refuses %s %s, with which the kit would not start", async (...options) => {
    const argv = ["doctor", "--before-start", ...options];
    const ran = await runCli(argv, { env: { TILLKIT_WEBHOOK_SECRET: secret }, cwd: folder.path });
    expect(ran).toMatchObject({ code: 2, stdout: "" });
    expect(ran.stderr).toContain("command_option_invalid: The kit would not start: signature.");
  });

  it.each(["http://localhost:1/payments?a=b", "http://localhost:1/payments#a"])(
    "refuses the router's address %s, because the doctor adds paths to it",
    async (url) => {
      const ran = await runCli(["doctor", "--url", url], { cwd: folder.path });
      expect(ran).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("without a query or a fragment"),
      });
    },
  );

  it("reads neither the environment nor a database with --outside", async () => {
    const env = { TILLKIT_PUBLIC_URL: unreachable, TILLKIT_DATABASE: "shop.db" };
    expect(await examine(env, "--outside", "--store", "other.db")).toMatchObject({
      code: 0,
      findings: [],
      looked: [],
    });
  });

  it("finds each local address of the service, and a secret of the sandbox in an option, in production", async () => {
    const env = { ...complete, TILLKIT_TOKEN_URL: unreachable, NODE_ENV: "production" };
    const { findings } = await examine(env, "--secret", "sandbox_0123456789abcdef", "--before-start");
    const messagesOf = (wanted: string) =>
      findings.flatMap(({ code, message }) => (code === wanted ? message : []));
    expect(messagesOf("service_url_local")).toEqual([
      expect.stringContaining("TILLKIT_SERVICE_URL leads to a local address"),
      expect.stringContaining("TILLKIT_TOKEN_URL leads to a local address"),
    ]);
    expect(messagesOf("sandbox_credential_in_production")).toEqual([expect.stringMatching(/: --secret\.$/)]);
  });

  it("finds nothing wrong with a key that fits", async () => {
    const { publicKey } = generateKeyPairSync("ed25519");
    const pem = publicKey.export({ type: "spki", format: "pem" }).toString();
    const env = { TILLKIT_SIGNATURE: "public-key", TILLKIT_PUBLIC_KEY: pem.replaceAll("\n", "\\n") };
    expect(await examine(env)).toMatchObject({ code: 0, codes: [] });
  });

  it("reads files as node --env-file does, and names the variable that was meant", async () => {
    const file = folder.write(".env", `PAY_WEBHOOK_SECRET=${secret}\n`);
    const { code, findings } = await examine({}, "--env-file", file);
    expect(code).toBe(1);
    expect(findings[0]!.message).toContain("--secret-env PAY_WEBHOOK_SECRET");
    expect((await examine({}, "--env-file", file, "--secret-env", "PAY_WEBHOOK_SECRET")).code).toBe(0);
  });

  it.each([
    [["--url", "localhost:3000"], 2, "command_option_invalid: --url must be an address"],
    [["--webhook", "localhost:3000"], 2, "command_option_invalid: --webhook must be an address"],
    [["--url", unreachable, "--webhook", unreachable], 2, "either --url or --webhook"],
    [["--env-file", "nowhere.env"], 3, "file_unreadable"],
  ])("with %j ends with %i: %s", async (argv, code, message) => {
    const ran = await runCli(["doctor", ...argv], { cwd: folder.path });
    expect(ran.code).toBe(code);
    expect(ran.stderr).toContain(message);
  });
});

describe("what is installed", () => {
  it("is checked against the versions that the package requires", () => {
    const { engines, peerDependencies } = readOwnPackage();
    const codes = (version: string) =>
      [...checkInstallation({ app: folder.path, outside: false, environment: {} }, version)].map(
        ({ code }) => code,
      );
    expect(codes("20.18.3")).toEqual(["node_unsupported"]);
    expect(codes("20.19.0")).toEqual([]);
    expect(isInRange("21.7.3", engines.node)).toBe(false);
    expect(isInRange("22.14.0", engines.node)).toBe(true);
    expect(isInRange("26.0.0", engines.node)).toBe(true);
    expect(isInRange("4.17.3", peerDependencies.express)).toBe(false);
    expect(isInRange("5.0.0-beta.3", peerDependencies.express)).toBe(true);
    expect(isInRange("6.0.0", peerDependencies.express)).toBe(false);
  });

  it("lacks Express if there is an app without Express", () => {
    const app = path.join(folder.path, "app");
    mkdirSync(app);
    folder.write("app/package.json", "{}");
    expect([...checkInstallation({ app, outside: false, environment: {} })].map(({ code }) => code)).toEqual([
      "express_missing",
    ]);
  });

  /** Returns the codes for an app beside which these packages are installed, by their folders. */
  const codesWith = (name: string, packages: Record<string, string>, environment = {}) => {
    for (const [where, version] of Object.entries({ app: "1.0.0", ...packages })) {
      mkdirSync(path.join(folder.path, name, where), { recursive: true });
      folder.write(`${name}/${where}/package.json`, JSON.stringify({ version }));
    }
    const app = path.join(folder.path, name, "app");
    return [...checkInstallation({ app, outside: false, environment })].map(({ code }) => code);
  };

  it("has Express also in a folder above the app, or in a folder of NODE_PATH", () => {
    expect(codesWith("above", { "node_modules/express": "5.0.0" })).toEqual([]);
    const NODE_PATH = ["/no/such/folder", "", "../shared"].join(path.delimiter);
    expect(codesWith("shared", { "shared/express": "5.0.0" }, { NODE_PATH })).toEqual([]);
    expect(codesWith("old", { "shared/express": "3.0.0" }, { NODE_PATH })).toEqual(["express_unsupported"]);
  });

  it.each(["@shop/tools/node_modules/tillkit", ".pnpm/tillkit@0.0.9/node_modules/tillkit"])(
    "has a second copy of tillkit in %s",
    (where) => {
      const packages = { "app/node_modules/express": "5.0.0", "app/node_modules/tillkit": "0.1.0" };
      const name = where.startsWith("@") ? "scoped" : "pnpm";
      expect(codesWith(name, { ...packages, [`app/node_modules/${where}`]: "0.0.9" })).toEqual(["kit_twice"]);
    },
  );

  it("is looked for in the folder that --app names", async () => {
    folder.write("app/package.json", "{}");
    const codes = async (...argv: string[]) =>
      (
        documentOf(await runCli(["doctor", "--json", ...argv], { cwd: folder.path })) as {
          findings: { code: string }[];
        }
      ).findings.map(({ code }) => code);
    expect(await codes()).not.toContain("express_missing");
    expect(await codes("--app", "app")).toContain("express_missing");
  });
});

describe("a local address", () => {
  it.each([
    ["http://localhost:3000", true],
    ["https://shop.localhost", true],
    ["https://127.0.0.1", true],
    ["https://10.1.2.3", true],
    ["https://172.20.0.1", true],
    ["https://192.168.1.10:8443/payments", true],
    ["https://[::1]", true],
    ["https://[fd00::1]", true],
    ["http://shop", true],
    ["https://shop.internal", true],
    ["https://shop.example/payments", false],
    ["https://172.32.0.1", false],
    ["https://[2001:db8::1]", false],
    ["nonsense", false],
  ])("is %s: %s", (address, local) => {
    expect(isLocal(address)).toBe(local);
  });
});

import { generateKeyPairSync } from "node:crypto";
import { mkdirSync } from "node:fs";
import path from "node:path";
import { checkInstallation, isInRange } from "../../../src/cli/doctor/check-installation.js";
import { isLocal } from "../../../src/cli/doctor/check-public-url.js";
import { readOwnPackage } from "../../../src/cli/terminal/own-package.js";
import { secret } from "../../support/kit.js";
import { documentOf, runCli, temporaryFolder } from "../support/run-cli.js";
import { type Examined } from "./planted-shop.js";

const folder = temporaryFolder();

async function examine(env: Record<string, string>, ...argv: string[]) {
  const ran = await runCli(["doctor", ...argv, "--json"], { env, cwd: folder.path });
  const { findings }: Examined = documentOf(ran);
  return { code: ran.code, findings, codes: findings.map(({ code }) => code) };
}

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
    expect(ran.stdout).toContain("Nothing found.");
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
      { ...complete, TILLKIT_SERVICE_URL: "http://localhost:4000", NODE_ENV: "production" },
      ["service_url_local", "configuration_invalid"],
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

  it("tells that refused webhooks are kept, how many there are, and the newest", async () => {
    const env = { TILLKIT_WEBHOOK_SECRET: secret, TILLKIT_KEEP_REFUSED: "refused?inProduction=true" };
    const seen = await examine(env);
    expect(seen.findings).toMatchObject([{ code: "refused_webhooks_kept", severity: "warning" }]);
    expect(seen.findings[0]!.message).toContain("in refused; it has none");
    mkdirSync(path.join(folder.path, "refused"));
    for (const name of ["2026-a.http", "2027-b.http", "x.txt"]) folder.write(`refused/${name}`, "");
    const later = await examine(env);
    expect(later.findings[0]!.message).toContain("it has 2, the newest 2027-b.http");
  });

  it("finds a public shop that is not in production", async () => {
    // An IP address, so that no DNS server is asked.
    const env = { TILLKIT_WEBHOOK_SECRET: secret };
    const seen = await examine(env, "--public-url", "https://[2001:db8::1]/payments", "--url", unreachable);
    expect(seen.codes).toEqual(expect.arrayContaining(["node_env_not_production"]));
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
      [...checkInstallation({ app: folder.path, outside: false }, version)].map(({ code }) => code);
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
    expect([...checkInstallation({ app, outside: false })].map(({ code }) => code)).toEqual([
      "express_missing",
    ]);
  });

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

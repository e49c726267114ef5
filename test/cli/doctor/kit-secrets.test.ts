import { ConfigurationError, optionsFromEnvironment } from "tillkit";
import { secret } from "../../support/kit.js";
import { documentOf, runCli, temporaryFolder } from "../support/run-cli.js";
import { type Examined } from "./planted-shop.js";

const folder = temporaryFolder();

describe("tillkit doctor, on secrets with which the kit does not start", () => {
  it.each([
    ["only the old secret", { TILLKIT_WEBHOOK_SECRET_PREVIOUS: secret }],
    ["a blank secret", { TILLKIT_WEBHOOK_SECRET: " ", TILLKIT_WEBHOOK_SECRET_PREVIOUS: secret }],
    ["a blank old secret", { TILLKIT_WEBHOOK_SECRET: secret, TILLKIT_WEBHOOK_SECRET_PREVIOUS: " " }],
  ])("finds %s, once", async (_, secrets) => {
    const env = {
      TILLKIT_PUBLIC_URL: "http://localhost:3000/payments",
      TILLKIT_SERVICE_URL: "http://localhost:4000",
      TILLKIT_ACCESS_TOKEN: "a-token-of-the-service",
      TILLKIT_DATABASE: "shop.db",
      ...secrets,
    };
    expect(() => optionsFromEnvironment(env)).toThrow(ConfigurationError);
    const ran = await runCli(["doctor", "--before-start", "--json"], { env, cwd: folder.path });
    const { findings }: Examined = documentOf(ran);
    expect(findings).toMatchObject([{ code: "secret_missing", severity: "error" }]);
  });
});

import { type AccessTokenSource, type ConfigurationError, optionsFromEnvironment } from "tillkit";
import { completeOptions } from "../../../src/kit/options/options-from-environment.js";
import { answerJson, localServer } from "../../service/local-server.js";
import { secret } from "../../support/kit.js";
import { complete } from "./complete-environment.js";

type Variables = Record<string, string | undefined>;

/** Returns the value of an option such as `returns.accent`. */
function valueOf(option: string, environment: Variables): unknown {
  const options: unknown = optionsFromEnvironment({ ...complete, ...environment });
  return option
    .split(".")
    .reduce((value, name) => (value as Record<string, unknown> | undefined)?.[name], options);
}

/** Returns the name and code of each problem of the given options and these variables. */
function problems(environment: Variables, given: object = {}) {
  try {
    completeOptions(given, { ...complete, ...environment });
    return {};
  } catch (error) {
    return Object.fromEntries(
      (error as ConfigurationError).problems.map(({ option, code }) => [option, code]),
    );
  }
}

const tooLong = "a".repeat(201);

describe("a variable sets its option, and is named in a problem:", () => {
  it.each([
    ["TILLKIT_PUBLIC_URL", "publicUrl", "https://other.example", "other.example"],
    ["TILLKIT_SERVICE_URL", "service.baseUrl", "https://other.example", "other.example"],
    ["TILLKIT_ACCESS_TOKEN", "service.accessToken", "other-token", "other\ntoken"],
    ["TILLKIT_CLIENT_ID_PREFIX", "clientIdPrefix", "north-", "north east"],
    ["TILLKIT_ORDER_URL", "returns.orderUrl", "/orders/{reference}", "orders"],
    ["TILLKIT_BACK_URL", "returns.backUrl", "/orders", "orders"],
    ["TILLKIT_SUCCESS_URL", "returns.successUrl", "/thanks", "thanks"],
    ["TILLKIT_CANCEL_URL", "returns.cancelUrl", "/cart", "cart"],
    ["TILLKIT_SHOP_NAME", "returns.shopName", "Corner shop", tooLong],
    ["TILLKIT_CONTACT", "returns.contact", "help@shop.example", tooLong],
    ["TILLKIT_ACCENT", "returns.accent", "#0b6650", "green"],
    ["TILLKIT_BACKGROUND", "returns.background", "#fbf6ee", "cream"],
    ["TILLKIT_PAY_AGAIN_URL", "returns.payAgainUrl", "/orders/{reference}", "orders"],
    ["TILLKIT_LOGO_URL", "returns.logoUrl", "/logo.svg", "logo.svg"],
    ["TILLKIT_BACK_LABEL", "returns.backLabel", "Back to my order", tooLong],
    ["TILLKIT_SIGNATURE_HEADER", "signature.header", "x-own-signature", "x own signature"],
  ])("%s, %s", (variable, option, value, wrong) => {
    expect(valueOf(option, { [variable]: ` ${value}\n` })).toBe(value);
    expect(problems({ [variable]: wrong })).toEqual({ [variable]: "option_invalid" });
  });

  it("TILLKIT_DATABASE, store", () => {
    expect(valueOf("store.spoolDirectory", { TILLKIT_DATABASE: " other.db " })).toMatch(/other\.db-spool$/);
    expect(() => optionsFromEnvironment({ ...complete, TILLKIT_DATABASE: undefined })).toThrow(
      expect.objectContaining({
        problems: [
          {
            option: "TILLKIT_DATABASE",
            code: "option_missing",
            message: expect.stringContaining("mysql://") as string,
          },
        ],
      }),
    );
  });

  it.each([
    ["a/spool", { directory: "a/spool" }],
    ["offline-spool", { directory: "offline-spool" }],
    ["spool-off", { directory: "spool-off" }],
    ["off", false],
  ])("TILLKIT_SPOOL=%s, spool", (value, expected) => {
    expect(valueOf("spool", { TILLKIT_SPOOL: value })).toEqual(expected);
  });

  it("TILLKIT_KEEP_REFUSED, webhook.keepRefused, beside other options of webhook, and in production", () => {
    const production = { NODE_ENV: "production", TILLKIT_PUBLIC_URL: complete.TILLKIT_PUBLIC_URL };
    expect(problems({ ...production, TILLKIT_KEEP_REFUSED: "a/b" })).toEqual({
      TILLKIT_KEEP_REFUSED: "option_invalid",
    });
    const { webhook } = completeOptions(
      { webhook: { limitBytes: 7 } },
      { ...complete, ...production, TILLKIT_KEEP_REFUSED: "a/b?inProduction=true" },
    );
    expect(webhook).toEqual({ limitBytes: 7, keepRefused: { directory: "a/b", inProduction: true } });
  });

  it.each([
    ["on", true],
    [" on ", true],
    ["off", false],
    [undefined, undefined],
  ])("TILLKIT_LOOKUP=%s, lookup: %s", (value, expected) => {
    expect(valueOf("lookup", { TILLKIT_LOOKUP: value })).toBe(expected);
  });

  it.each<[string | undefined, object]>([
    ["off", { logger: false }],
    [" off ", { logger: false }],
    ["on", {}],
    ["  ", {}],
    [undefined, {}],
  ])("TILLKIT_LOG=%s, logger", (value, expected) => {
    const options = optionsFromEnvironment({ ...complete, TILLKIT_LOG: value });
    expect("logger" in options ? { logger: options.logger } : {}).toEqual(expected);
  });

  it("TILLKIT_TOKEN_SCOPE, the scope that is requested", async () => {
    const server = await localServer((response) =>
      answerJson(response, 200, { access_token: "t-1", token_type: "Bearer", expires_in: 3600 }),
    );
    const credentials = {
      TILLKIT_TOKEN_URL: server.url,
      TILLKIT_CLIENT_ID: "shop",
      TILLKIT_CLIENT_SECRET: "a-secret-of-the-test",
    };
    const scoped = { ...credentials, TILLKIT_TOKEN_SCOPE: "payments:write" };
    const tokenOf = (variables: Variables) =>
      (valueOf("service.accessToken", variables) as AccessTokenSource).get();
    try {
      expect(await tokenOf(scoped)).toBe("t-1");
      expect(await tokenOf({ ...credentials, TILLKIT_TOKEN_SCOPE: " " })).toBe("t-1");
    } finally {
      await server.close();
    }
    const scopes = server.received.map(({ body }) => new URLSearchParams(body).get("scope"));
    expect(scopes).toEqual(["payments:write", null]);
    expect(problems({ ...credentials, TILLKIT_TOKEN_SCOPE: "bezahlen für" })).toEqual({
      TILLKIT_TOKEN_SCOPE: "option_invalid",
    });
  });

  it.each<[string, Variables, object]>([
    [
      "the first of two secrets",
      { TILLKIT_WEBHOOK_SECRET: "short", TILLKIT_WEBHOOK_SECRET_PREVIOUS: secret },
      { TILLKIT_WEBHOOK_SECRET: "secret_too_short" },
    ],
    [
      "the second of two secrets",
      { TILLKIT_WEBHOOK_SECRET_PREVIOUS: "short" },
      { TILLKIT_WEBHOOK_SECRET_PREVIOUS: "secret_too_short" },
    ],
    [
      "a public key that is absent",
      { TILLKIT_SIGNATURE: "public-key", TILLKIT_SIGNATURE_ALGORITHM: "ed25519" },
      { TILLKIT_PUBLIC_KEY: "key_invalid" },
    ],
    [
      "an algorithm that is not known",
      { TILLKIT_SIGNATURE_ALGORITHM: "md5" },
      { TILLKIT_SIGNATURE_ALGORITHM: "option_invalid" },
    ],
  ])("%s", (_, environment, expected) => {
    expect(problems(environment)).toEqual(expected);
  });
});

it.each([
  ["TILLKIT_SIGNATURE"],
  ["TILLKIT_SIGNATURE_HEADER"],
  ["TILLKIT_SIGNATURE_ALGORITHM"],
  ["TILLKIT_MERCHANT_ID"],
  ["TILLKIT_PUBLIC_KEY"],
  ["TILLKIT_TOKEN_URL"],
  ["TILLKIT_CLIENT_ID"],
  ["TILLKIT_CLIENT_SECRET"],
  ["TILLKIT_SPOOL"],
  ["TILLKIT_CLIENT_ID_PREFIX"],
  ["TILLKIT_LOOKUP"],
  ["TILLKIT_CONFIRM"],
  ["TILLKIT_LOG"],
  ["TILLKIT_BACK_URL"],
  ["TILLKIT_SUCCESS_URL"],
  ["TILLKIT_CANCEL_URL"],
  ["TILLKIT_SHOP_NAME"],
  ["TILLKIT_CONTACT"],
  ["TILLKIT_ACCENT"],
  ["TILLKIT_BACKGROUND"],
  ["TILLKIT_PAY_AGAIN_URL"],
  ["TILLKIT_LOGO_URL"],
  ["TILLKIT_BACK_LABEL"],
])("%s that is set but blank counts as absent", (variable) => {
  // What is written as JSON has no functions, which differ from call to call.
  const written = (environment: Variables) =>
    JSON.stringify(optionsFromEnvironment({ ...complete, ...environment }));
  for (const blank of ["", " ", " \t\n"]) expect(written({ [variable]: blank })).toBe(written({}));
});

it.each(["TILLKIT_PUBLIC_URL", "TILLKIT_SERVICE_URL", "TILLKIT_ACCESS_TOKEN", "TILLKIT_DATABASE"])(
  "%s that is set but blank is missing",
  (variable) => {
    for (const blank of ["", " \t\n"])
      expect(problems({ [variable]: blank })).toEqual({ [variable]: "option_missing" });
  },
);

describe("where an option is given,", () => {
  it.each<[string, object, Variables]>([
    ["TILLKIT_LOOKUP", { lookup: true }, { TILLKIT_LOOKUP: "yes" }],
    ["TILLKIT_LOG", { logger: false }, { TILLKIT_LOG: "yes" }],
    ["TILLKIT_ACCENT", { returns: { accent: "#0b6650" } }, { TILLKIT_ACCENT: "green" }],
  ])("the variable %s is not read", (_, given, environment) => {
    expect(problems(environment, given)).toEqual({});
  });

  it.each<[string, object, Variables]>([
    ["returns.accent", { returns: { accent: "green" } }, { TILLKIT_ACCENT: "#0b6650" }],
    ["service.baseUrl", { service: { baseUrl: "pay.example" } }, {}],
    ["clientIdPrefix", { clientIdPrefix: "a b" }, {}],
    ["TILLKIT_ACCENT", { returns: { shopName: "A" } }, { TILLKIT_ACCENT: "green" }],
    ["TILLKIT_SERVICE_URL", { service: { accessToken: "t" } }, { TILLKIT_SERVICE_URL: "pay.example" }],
  ])("a problem names what set the wrong value: %s", (name, given, environment) => {
    expect(problems(environment, given)).toEqual({ [name]: "option_invalid" });
  });
});

it("an error that is no problem of the options is thrown as it is", () => {
  const broken = Object.defineProperty({ ...complete }, "TILLKIT_WEBHOOK_SECRET", {
    get() {
      throw new RangeError("The environment cannot be read.");
    },
  });
  expect(() => optionsFromEnvironment(broken)).toThrow(RangeError);
});

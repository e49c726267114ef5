import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import express from "express";
import request from "supertest";
import {
  ConfigurationError,
  MemoryStore,
  optionsFromEnvironment,
  paymentRouter,
  type MemoryTx,
  type PartialOptions,
  type SignedField,
} from "tillkit";
import { secret } from "../../support/kit.js";
import { completedBody, pendingPayment, signed } from "../../support/webhooks.js";
import { complete } from "./complete-environment.js";

/** The problems that an environment has, by the variable each names. */
function problems(environment: Record<string, string | undefined>): Record<string, string> {
  try {
    optionsFromEnvironment(environment);
    return {};
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return Object.fromEntries(error.problems.map(({ option, code }) => [option, code]));
  }
}

describe("configuration by environment variables", () => {
  it("is sufficient for a router that verifies and records", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "tillkit-environment-"));
    const before = { ...process.env };
    Object.assign(process.env, complete, {
      TILLKIT_DATABASE: path.join(folder, "shop.db"),
      TILLKIT_LOG: "off",
    });
    const router = paymentRouter();
    process.env = before;
    try {
      const { headers, rawBody } = signed(completedBody());
      const app = express().use(router);
      await request(app).post("/webhook").set(headers).send(rawBody.toString()).expect(200);
      await request(app).post("/webhook").set(headers).send(`${rawBody.toString()} `).expect(401);
      const [parked] = await router.payments.store.transaction((tx) =>
        router.payments.store.rematchable(tx, ["c-1"]),
      );
      expect(parked?.rawBody).toEqual(rawBody);
    } finally {
      await router.payments.close();
      rmSync(folder, { recursive: true });
    }
  });

  it("refuses values with quotes around them, which some readers of variables leave there", () => {
    const quoted = Object.fromEntries(Object.entries(complete).map(([name, value]) => [name, `"${value}"`]));
    const found = problems(quoted);
    for (const name of Object.keys(complete)) expect(found).toHaveProperty(name, "option_invalid");
    expect(problems({ ...complete, TILLKIT_SHOP_NAME: `'Nyumba'` })).toEqual({
      TILLKIT_SHOP_NAME: "option_invalid",
    });
    expect(problems({ ...complete, TILLKIT_SHOP_NAME: `"Nyumba" 'Moroni'` })).toEqual({});
  });

  it("reports everything that is missing in one error, by the names of the variables", () => {
    expect(problems({})).toEqual({
      TILLKIT_PUBLIC_URL: "option_missing",
      TILLKIT_SERVICE_URL: "option_missing",
      TILLKIT_ACCESS_TOKEN: "option_missing",
      TILLKIT_WEBHOOK_SECRET: "secret_missing",
      TILLKIT_DATABASE: "option_missing",
    });
    expect(() => paymentRouter()).toThrow(/TILLKIT_PUBLIC_URL[\s\S]*TILLKIT_DATABASE/);
  });

  it("takes the prefix, the lookup and its confirmation, and refuses other values", () => {
    const given = { TILLKIT_CLIENT_ID_PREFIX: "north-", TILLKIT_LOOKUP: "on", TILLKIT_CONFIRM: "lookup" };
    expect(optionsFromEnvironment({ ...complete, ...given })).toMatchObject({
      clientIdPrefix: "north-",
      lookup: true,
      confirm: "lookup",
    });
    expect(problems({ ...complete, TILLKIT_LOOKUP: "yes", TILLKIT_CLIENT_ID_PREFIX: "a b" })).toEqual({
      TILLKIT_LOOKUP: "option_invalid",
      TILLKIT_CLIENT_ID_PREFIX: "option_invalid",
    });
    expect(problems({ ...complete, TILLKIT_CONFIRM: "lookup" })).toEqual({
      TILLKIT_CONFIRM: "option_invalid",
    });
  });

  it.each(["off", "Off", " OFF "])("makes no spool for the word %p", (word) => {
    expect(optionsFromEnvironment({ ...complete, TILLKIT_SPOOL: word })).toMatchObject({ spool: false });
    expect(optionsFromEnvironment({ ...complete, TILLKIT_SPOOL: `./${word}` })).toMatchObject({
      spool: { directory: `./${word}`.trim() },
    });
  });

  it("names the part of the client credentials that is missing", () => {
    const { TILLKIT_ACCESS_TOKEN: _, ...rest } = complete;
    expect(
      problems({ ...rest, TILLKIT_TOKEN_URL: "https://id.pay.example/token", TILLKIT_CLIENT_ID: "shop" }),
    ).toEqual({
      TILLKIT_CLIENT_SECRET: "option_missing",
    });
    // A fixed token must not take their place.
    expect(
      problems({ ...complete, TILLKIT_CLIENT_ID: "shop", TILLKIT_CLIENT_SECRET: "of the shop" }),
    ).toEqual({
      TILLKIT_TOKEN_URL: "option_missing",
    });
  });

  it.each([
    ["a blank secret", { TILLKIT_WEBHOOK_SECRET: "  " }, { TILLKIT_WEBHOOK_SECRET: "secret_missing" }],
    ["a short secret", { TILLKIT_WEBHOOK_SECRET: "hunter2" }, { TILLKIT_WEBHOOK_SECRET: "secret_too_short" }],
    [
      "a pasted space",
      { TILLKIT_WEBHOOK_SECRET: `${secret} ` },
      { TILLKIT_WEBHOOK_SECRET: "option_invalid" },
    ],
    ["an unknown scheme", { TILLKIT_SIGNATURE: "none" }, { TILLKIT_SIGNATURE: "option_invalid" }],
    ["fields without a merchant", { TILLKIT_SIGNATURE: "fields" }, { TILLKIT_MERCHANT_ID: "option_missing" }],
    [
      "a plain http service",
      { TILLKIT_SERVICE_URL: "http://pay.example" },
      { TILLKIT_SERVICE_URL: "option_invalid" },
    ],
    ["an unknown database", { TILLKIT_DATABASE: "mongodb://x" }, { TILLKIT_DATABASE: "option_invalid" }],
  ])("refuses %s", (_, changed, expected) => {
    expect(problems({ ...complete, ...changed })).toEqual(expected);
  });

  it("never repeats a secret in its error", () => {
    expect(() => optionsFromEnvironment({ ...complete, TILLKIT_WEBHOOK_SECRET: "hunter2" })).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining("hunter2") as string }),
    );
  });

  it("supports each scheme, and the previous secret of a rotation", async () => {
    const { publicKey } = generateKeyPairSync("ed25519");
    const pem = publicKey.export({ type: "spki", format: "pem" }).toString().replaceAll("\n", "\\n");
    const schemeOf = (changed: object) => optionsFromEnvironment({ ...complete, ...changed }).signature!;
    expect(schemeOf({ TILLKIT_SIGNATURE: "fields", TILLKIT_MERCHANT_ID: "m-1" }).covers).toContain(
      "clientId",
    );
    const keyed = {
      TILLKIT_SIGNATURE: "public-key",
      TILLKIT_SIGNATURE_ALGORITHM: "ed25519",
      TILLKIT_PUBLIC_KEY: pem,
    };
    expect(schemeOf(keyed).covers).toBe("body");

    const newer = "whsec_0000aaaa1111bbbb2222cccc3333dddd";
    const rotating = schemeOf({ TILLKIT_WEBHOOK_SECRET: newer, TILLKIT_WEBHOOK_SECRET_PREVIOUS: secret });
    expect(await rotating.verify(signed(completedBody()))).toBe(true);
  });
});

describe("options that the environment completes", () => {
  const before = { ...process.env };
  afterEach(() => {
    process.env = { ...before };
  });

  /** Returns the options of a router that is made of these options and variables. */
  function resolved(options: PartialOptions<SignedField, MemoryTx>, environment: Record<string, string>) {
    process.env = { ...before, TILLKIT_LOG: "off", ...environment };
    return paymentRouter(options as object).payments.options;
  }

  it("are sufficient for a router: the store by option, the rest by variables", async () => {
    const { TILLKIT_DATABASE: _, ...environment } = complete;
    process.env = { ...before, ...environment, TILLKIT_LOG: "off" };
    const store = new MemoryStore();
    let note: (clientId: string) => void;
    const handled = new Promise<string>((resolve) => (note = resolve));
    const router = paymentRouter({ store, onPaymentCompleted: ({ payment }) => note(payment.clientId) });
    try {
      expect(router.payments.store).toBe(store);
      await store.transaction((tx) => store.save(tx, { created: [pendingPayment()] }));
      const { headers, rawBody } = signed(completedBody());
      const app = express().use(router);
      await request(app).post("/webhook").set(headers).send(`${rawBody.toString()} `).expect(401);
      await request(app).post("/webhook").set(headers).send(rawBody.toString()).expect(200);
      expect(await handled).toBe("c-1");
    } finally {
      await router.payments.close();
    }
  });

  it("win over their variables, name by name in service and returns", () => {
    const options = resolved(
      {
        store: new MemoryStore(),
        service: { accessToken: () => "of the option", timeoutMs: 5000 },
        returns: { shopName: "Of the option" },
        spool: false,
      },
      {
        ...complete,
        TILLKIT_SPOOL: "/var/spool/of-the-environment",
        TILLKIT_SHOP_NAME: "Of the environment",
        TILLKIT_BACK_URL: "/orders",
        TILLKIT_CLIENT_ID_PREFIX: "north-",
        // Not read, because the token is given.
        TILLKIT_TOKEN_URL: "no address",
      },
    );
    expect(options).toMatchObject({
      publicUrl: complete.TILLKIT_PUBLIC_URL,
      service: { baseUrl: complete.TILLKIT_SERVICE_URL, timeoutMs: 5000 },
      returns: { shopName: "Of the option", backUrl: "/orders" },
      clientIdPrefix: "north-",
    });
    expect(options.spool).toBeUndefined();
  });

  it("count as not given where they are undefined", () => {
    const service = { baseUrl: undefined, accessToken: undefined };
    const options = resolved(
      { publicUrl: undefined, store: new MemoryStore(), service, signature: undefined },
      complete,
    );
    expect(options.publicUrl).toBe(complete.TILLKIT_PUBLIC_URL);
    expect(options.service.baseUrl).toBe(complete.TILLKIT_SERVICE_URL);
  });

  it("are named in a problem if they were given, and the variable if not", () => {
    const given = { store: new MemoryStore(), publicUrl: "http://shop.example", service: { timeoutMs: 0 } };
    let error: unknown;
    try {
      resolved({ ...given, colour: "red" } as object, { TILLKIT_SPOL: "x" });
    } catch (thrown) {
      error = thrown;
    }
    const { problems: found } = error as ConfigurationError;
    expect(Object.fromEntries(found.map(({ option, code }) => [option, code]))).toEqual({
      publicUrl: "option_invalid",
      "service.timeoutMs": "option_invalid",
      colour: "option_invalid",
      TILLKIT_SERVICE_URL: "option_missing",
      TILLKIT_ACCESS_TOKEN: "option_missing",
      TILLKIT_WEBHOOK_SECRET: "secret_missing",
      TILLKIT_SPOL: "option_invalid",
    });
  });
});

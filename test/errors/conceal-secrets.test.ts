import { inspect } from "node:util";
import { fc } from "../support/property.js";
import type * as concealing from "../../src/errors/conceal-secrets.js";
import {
  concealSecret,
  concealToken,
  withoutSecrets,
  withoutSecretsIn,
} from "../../src/errors/conceal-secrets.js";
import { TillkitError } from "../../src/errors/index.js";

const secret = "s3cret+with/odd=& characters";
concealSecret(secret);

describe("a text without secrets", () => {
  it.each([
    ["as it is", secret],
    ["url-encoded", encodeURIComponent(secret)],
    ["form-encoded", new URLSearchParams({ secret }).toString().slice("secret=".length)],
    ["hexadecimal", Buffer.from(secret).toString("hex")],
    ["upper-case hexadecimal", Buffer.from(secret).toString("hex").toUpperCase()],
    ["base64", Buffer.from(secret).toString("base64url")],
  ])("has a mark in place of each secret, %s", (_, written) => {
    const clean = withoutSecrets(`before ${written} between ${written} after`);
    expect(clean).toMatch(/^before \[secret\].{0,2} between \[secret\].{0,2} after$/);
  });

  it("has no secret inside the base64 of longer text, as in the header of basic authentication", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (before, after) => {
        const encoded = Buffer.from(`${before}:${secret}${after}`).toString("base64");
        expect(withoutSecrets(encoded)).toContain("[secret]");
      }),
    );
  });

  it("is the unchanged text if there is nothing to conceal", () => {
    fc.assert(fc.property(fc.string(), (text) => expect(withoutSecrets(text)).toBe(text)));
  });

  it("keeps secrets of fewer than 8 bytes, which occur inside ordinary text", () => {
    concealToken("token");
    expect(withoutSecrets("a token")).toBe("a token");
  });

  it("forgets a token after a hundred others, but no secret of the configuration", () => {
    concealToken("the first of many tokens");
    expect(withoutSecrets("the first of many tokens")).toBe("[secret]");
    for (let n = 100; n < 200; n++) concealToken(`token number ${n}`);
    expect(withoutSecrets("the first of many tokens")).toBe("the first of many tokens");
    expect(withoutSecrets(`token number 199 ${secret}`)).toBe("[secret] [secret]");
  });
});

it("a token that is used again is not forgotten before the others", () => {
  for (const first of [300, 390]) {
    concealToken("a token that is in use");
    for (let n = first; n < first + 90; n++) concealToken(`token number ${n}`);
  }
  expect(withoutSecrets("a token that is in use, token number 479")).toBe("[secret], [secret]");
  expect(withoutSecrets("token number 300")).toBe("token number 300");
});

describe("an error of the kit", () => {
  it("has no secret in its message and stack", () => {
    const error = new TillkitError("option_invalid", `not ${secret}`);
    expect(error.message).toBe("not [secret]");
    expect(inspect(error)).not.toContain(secret);
  });

  it("has no secret in its cause, also where no token was obtained yet", () => {
    jest.isolateModules(() => {
      const own = jest.requireActual<typeof concealing>("../../src/errors/conceal-secrets.js");
      own.concealSecret("s3cret of the shop");
      const cause = Object.assign(new Error("sent"), { headers: "Bearer s3cret of the shop" });
      expect(own.withoutSecretsIn(cause)).not.toHaveProperty("headers");
    });
  });

  it("keeps a harmless cause unchanged", () => {
    const cause = Object.assign(new Error("reset"), { code: "ECONNRESET", socket: { port: 1 } });
    expect(new TillkitError("creation_unreachable", "broken", { cause }).cause).toBe(cause);
  });

  it("keeps only name, code, message and causes of a cause that shows a secret", () => {
    const deeper = Object.assign(new Error("deeper"), { headers: { authorization: `Bearer ${secret}` } });
    const cause = Object.assign(new TypeError(`sent ${secret}`, { cause: deeper }), {
      code: "E_SENT",
      config: secret,
    });
    const kept = new TillkitError("creation_unreachable", "broken", { cause }).cause;
    expect(kept).toMatchObject({ name: "TypeError", message: "sent [secret]", code: "E_SENT" });
    expect((kept as Error).cause).toMatchObject({ message: "deeper" });
    expect(inspect(kept, { depth: 9 })).not.toContain(secret);
    expect(kept).not.toHaveProperty("config");
  });

  it("accepts causes of any kind, and keeps none that cannot be inspected", () => {
    for (const cause of [undefined, null, 7, "text"]) expect(withoutSecretsIn(cause)).toBe(cause);
    expect(withoutSecretsIn(`thrown ${secret}`)).toBe("thrown [secret]");
    const hostile = {
      [inspect.custom]() {
        throw new Error(secret);
      },
    };
    expect(withoutSecretsIn(hostile)).toMatchObject({ message: "undefined" });
  });
});

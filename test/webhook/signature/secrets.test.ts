import { randomBytes } from "node:crypto";
import { inspect } from "node:util";
import { TillkitError } from "../../../src/errors/index.js";
import { fieldsSignature, hmacSignature, type SecretOption } from "../../../src/webhook/signature/index.js";
import { messageOf, problemCodes, problemsOf } from "./refusal.js";

const good = "k7Jq2vR9sXw4ZbN8cT5yLmP1dFgH6aQe";
const codes = (secret: SecretOption) => problemCodes(() => hmacSignature({ secret }));

describe("secrets", () => {
  it.each([
    ["undefined", undefined],
    ["an empty text", ""],
    ["spaces", "                    "],
    ["line breaks", "\n\t\r\n                  "],
    ["an empty list", []],
    ["no bytes", new Uint8Array()],
    ["null", null as unknown as undefined],
  ])("refuses to start with %s", (_, secret) => {
    expect(problemsOf(() => hmacSignature({ secret }))).toEqual([["signature.secret", "secret_missing"]]);
  });

  it("refuses a list in which one secret is missing, and names its index", () => {
    expect(problemsOf(() => hmacSignature({ secret: [good, undefined] }))).toEqual([
      ["signature.secret[1]", "secret_missing"],
    ]);
  });

  it("refuses fifteen bytes and accepts sixteen with a warning", () => {
    expect(codes("k7Jq2vR9sXw4ZbN")).toEqual(["secret_too_short"]);
    expect(hmacSignature({ secret: "k7Jq2vR9sXw4ZbN8" }).warnings).toHaveLength(1);
  });

  it("refuses quotes around a secret, which some readers of variables leave there", () => {
    for (const quote of [`"`, `'`, "`"]) expect(codes(`${quote}${good}${quote}`)).toEqual(["option_invalid"]);
    expect(codes(`"${good}'`)).toEqual([]);
  });

  it("counts bytes, not characters", () => {
    expect(codes("éàüöïêçñ")).toEqual([]);
    expect(codes("éàüöïêç")).toEqual(["secret_too_short"]);
  });

  it("warns once for each secret under 32 bytes, and not for longer ones", () => {
    expect(hmacSignature({ secret: randomBytes(32) }).warnings).toEqual([]);
    expect(hmacSignature({ secret: [randomBytes(31), good, randomBytes(16)] }).warnings).toHaveLength(2);
  });

  it.each([
    "changeme",
    "Change-Me-Before-Production-Please",
    "your_secret_here",
    "YOUR-WEBHOOK-SECRET-GOES-HERE",
    "secretsecretsecretsecret",
    "secret-secret-secret",
    "password1234",
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx",
    "00000000000000000000000000000000",
    "<paste the webhook secret>",
    "${PAY_WEBHOOK_SECRET}",
    "replacethis-with-a-real-one",
    "REPLACE_ME_BEFORE_THE_LAUNCH",
    "yoursecretgoeshere",
    "insert-the-key-of-the-service",
    "put_token_of_the_service_in",
    "[the secret of the service]",
    "%PAY_WEBHOOK_SECRET%",
    "placeholder-for-the-real-one",
    "this is only a placeholder",
    "<clé secrète du service>",
  ])("refuses the placeholder %s", (secret) => {
    expect(codes(secret)).toEqual(["secret_placeholder"]);
  });

  it.each([
    "k7Jq2vR9-change-me-sXw4ZbN8cT5yLmP1",
    "k7Jq2vR9-replace-me-sXw4ZbN8cT5yLmP",
    "k7Jq2vR9-your-secret-sXw4ZbN8cT5yLm",
    "k7Jq2vR9sXw4ZbN8cT5y----",
    "----k7Jq2vR9sXw4ZbN8cT5y",
    "k7Jq2vR9sXw4ZbN8cT5y<aQe>",
    "<aQe>k7Jq2vR9sXw4ZbN8cT5y",
    "secret-1-k7Jq2vR9sXw4ZbN8cT5y",
    "k7Jq2vR9sXw4ZbN8cT5ysecret",
    "insertk7Jq2vR9sXw4ZbN8secret",
  ])("accepts %s, which only contains a word of a placeholder", (secret) => {
    expect(codes(secret)).toEqual([]);
  });

  it("refuses bytes that are all the same", () => {
    expect(codes(Buffer.alloc(32))).toEqual(["secret_placeholder"]);
    expect(codes(Buffer.alloc(32, 0xaa))).toEqual(["secret_placeholder"]);
  });

  it.each([` ${good}`, `${good} `, `${good}\n`, `\t${good}`])(
    "refuses a pasted space around %j",
    (secret) => {
      const construct = () => hmacSignature({ secret });
      expect(problemCodes(construct)).toEqual(["option_invalid"]);
      expect(messageOf(construct)).not.toContain(good);
    },
  );

  it("refuses a value that is neither text nor bytes", () => {
    // @ts-expect-error numbers are no secrets
    expect(codes(1234567890123456)).toEqual(["option_invalid"]);
    // @ts-expect-error objects are no secrets
    expect(codes({ secret: good })).toEqual(["option_invalid"]);
  });

  it("shows no secret in messages, in warnings or in a printed scheme", () => {
    const short = "Tq9-vR7_sXw4Zb";
    const weak = "k7Jq2vR9sXw4ZbN8cT5";
    const schemes = [hmacSignature({ secret: weak }), fieldsSignature({ secret: weak, merchantId: "m-1" })];
    const printed = [
      messageOf(() => hmacSignature({ secret: [short, `${weak} `] })),
      ...schemes.map((scheme) => JSON.stringify(scheme)),
      ...schemes.map((scheme) => inspect(scheme, { depth: 9, showHidden: true })),
      ...schemes.flatMap((scheme) => Object.values(scheme).map(String)),
      ...schemes.flatMap((scheme) => scheme.warnings ?? []),
    ].join("\n");
    expect(printed).toContain("signature.secret");
    expect(printed).not.toContain(short);
    expect(printed).not.toContain(weak);
    expect(printed).not.toContain(Buffer.from(weak).toString("hex").slice(0, 16));
  });

  it("shows no secret of a scheme in the errors of the kit, nor in their causes", () => {
    const [text, bytes] = ["Zb5-wQ8_tLm2Xc7RkP4vNd9S", randomBytes(32)];
    const forms = [text, bytes.toString("hex"), bytes.toString("base64")];
    const told = () =>
      forms.map((form) => inspect(new TillkitError("store_unavailable", form, { cause: new Error(form) })));
    for (const [index, error] of told().entries()) expect(error).toContain(forms[index]);
    hmacSignature({ secret: text });
    fieldsSignature({ secret: [good, bytes], merchantId: "m-1" });
    for (const [index, error] of told().entries()) expect(error).not.toContain(forms[index]);
  });

  it("accepts random bytes of any appearance, and refuses a placeholder as text and as bytes", () => {
    const braced = Buffer.concat([
      Buffer.from("{"),
      Buffer.alloc(30, 0xe9).fill(0x01, 0, 7),
      Buffer.from("}"),
    ]);
    expect(() => hmacSignature({ secret: braced })).not.toThrow();
    for (const secret of [Buffer.from("{your-signing-secret-goes-here}"), Buffer.alloc(32)])
      expect(problemCodes(() => hmacSignature({ secret }))).toEqual(["secret_placeholder"]);
  });

  it("keeps its own copy of bytes", () => {
    const secret = randomBytes(32);
    const scheme = hmacSignature({ secret });
    const before = scheme.sign(Buffer.from("{}"));
    secret.fill(7);
    expect(scheme.sign(Buffer.from("{}"))).toBe(before);
  });

  it("refuses a sandbox secret only in production, and there no other one", () => {
    const secret = "sandbox_k7Jq2vR9sXw4ZbN8cT5yLmP1";
    const before = process.env["NODE_ENV"];
    try {
      process.env["NODE_ENV"] = "production";
      expect(codes(secret)).toEqual(["sandbox_credential_in_production"]);
      for (const other of [good, `${good}_sandbox_`]) expect(codes(other)).toEqual([]);
      process.env["NODE_ENV"] = "development";
      expect(codes(secret)).toEqual([]);
    } finally {
      if (before === undefined) delete process.env["NODE_ENV"];
      else process.env["NODE_ENV"] = before;
    }
  });

  it("reports all problems in one error", () => {
    const everything = { secret: "", merchantId: undefined, algorithm: "md5", header: "a b", fields: ["id"] };
    // @ts-expect-error an unknown algorithm
    expect(problemsOf(() => fieldsSignature(everything))).toEqual([
      ["signature.secret", "secret_missing"],
      ["signature.algorithm", "option_invalid"],
      ["signature.header", "option_invalid"],
      ["signature.fields", "signature_coverage_too_small"],
    ]);
  });
});

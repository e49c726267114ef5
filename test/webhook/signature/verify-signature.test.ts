import { WebhookRejectedError } from "../../../src/errors/index.js";
import { type SignatureScheme } from "../../../src/webhook/signature/scheme.js";
import {
  isRejection,
  isVerificationFailure,
  verifySignature,
} from "../../../src/webhook/signature/verify-signature.js";

const input = { headers: {}, rawBody: Buffer.from("{}") };

/** A scheme as a merchant may write it in JavaScript. */
const schemeOf = (verify: () => unknown) =>
  ({ covers: "body", header: "x-signature", verify }) as unknown as SignatureScheme;

/** Resolves to the code with which the webhook is refused, or to "verified". */
async function verdictOf(verify: () => unknown): Promise<string> {
  try {
    await verifySignature(schemeOf(verify), input);
    return "verified";
  } catch (error) {
    return (error as WebhookRejectedError).code;
  }
}

/** Values that are true to an `if`, and are not `true`. */
const truthy: readonly unknown[] = [
  1,
  "true",
  "sha256",
  {},
  [],
  Buffer.from("a"),
  1n,
  () => true,
  Symbol("yes"),
];
const falsy: readonly unknown[] = [false, undefined, null, 0, "", Number.NaN];

describe("verifySignature", () => {
  it("verifies true, and the promise of true", async () => {
    expect(await verdictOf(() => true)).toBe("verified");
    expect(await verdictOf(() => Promise.resolve(true))).toBe("verified");
  });

  it.each([...truthy, ...falsy].map((value) => [String(value), typeof value, value] as const))(
    "refuses %j of type %s, also as the result of a promise",
    async (_, __, value) => {
      expect(await verdictOf(() => value)).toBe("signature_mismatch");
      expect(await verdictOf(() => Promise.resolve(value))).toBe("signature_mismatch");
    },
  );

  it("refuses what a scheme throws or rejects with, under a code of the verification", async () => {
    const thrown = new WebhookRejectedError("signature_malformed", "not hexadecimal");
    const other = new WebhookRejectedError("record_unavailable", "a code with another status");
    for (const [error, code] of [
      [new Error("broken"), "signature_check_failed"],
      [true, "signature_check_failed"],
      [thrown, "signature_malformed"],
      [other, "signature_check_failed"],
    ] as const) {
      const throws = (): never => {
        throw error;
      };
      expect(await verdictOf(throws)).toBe(code);
      expect(await verdictOf(async () => throws())).toBe(code);
    }
  });
});

describe("the refusals of a verification", () => {
  it("are those that say that a webhook was not verified, and no others", () => {
    const failures = [
      "signature_missing",
      "signature_malformed",
      "signature_mismatch",
      "signature_check_failed",
      "signed_fields_unreadable",
    ] as const;
    expect(failures.filter((code) => !isVerificationFailure(code))).toEqual([]);
    expect(isVerificationFailure("record_unavailable")).toBe(false);
    expect(isVerificationFailure("body_too_large")).toBe(false);
  });

  it("keep the error of the scheme as their cause", async () => {
    const broken = new Error("broken");
    const verifying = schemeOf(() => Promise.reject(broken));
    await expect(verifySignature(verifying, input)).rejects.toMatchObject({ cause: { message: "broken" } });
  });

  it("are known by their name, also those of the package's other copy, and are always errors", () => {
    const copy = Object.assign(new Error("no"), { name: "WebhookRejectedError" });
    expect(isRejection(copy)).toBe(true);
    expect(isRejection(new Error("no"))).toBe(false);
    expect(isRejection({ name: "WebhookRejectedError" })).toBe(false);
  });
});

import { type Reported } from "../../../src/index.js";
import {
  type CoveredBy,
  fieldsSignature,
  hmacSignature,
  publicKeySignature,
  type SignatureScheme,
  type SignedField,
} from "../../../src/webhook/signature/index.js";

const secret = "k7Jq2vR9sXw4ZbN8cT5yLmP1dFgH6aQe";

/** Returns what a handler gets under a scheme. */
function reportedUnder<Covers extends SignedField>(scheme: SignatureScheme<Covers>): Reported<Covers> {
  return Object.assign(Object.create(null), { scheme, verified: {}, untrusted: {} });
}

// The compiler checks the types. At run time the test only shows that the lines are reached.
describe("the type of what a scheme verifies", () => {
  it("has only the signed fields of fieldsSignature", () => {
    const { verified, untrusted } = reportedUnder(fieldsSignature({ secret, merchantId: "m-7" }));
    const status: string = verified.status;
    const submittedAt: string | undefined = verified.submittedAt;
    // @ts-expect-error the default list does not sign topic
    const topic = verified.topic;
    // @ts-expect-error nor captured
    const captured = verified.captured;
    const hint: unknown = untrusted.topic;
    // @ts-expect-error a signed field is not a hint
    const none = untrusted.status;
    expect([status, submittedAt, topic, captured, hint, none]).toEqual(Array(6).fill(undefined));
  });

  it("follows the literal list, without merchantId", () => {
    const fields = [
      "id",
      "merchantId",
      "clientId",
      "status",
      "total.value",
      "total.currency",
      "topic",
    ] as const;
    const { verified } = reportedUnder(fieldsSignature({ secret, merchantId: "m-7", fields }));
    const topic: string = verified.topic;
    // @ts-expect-error this list does not sign submittedAt
    const submittedAt = verified.submittedAt;
    // @ts-expect-error merchantId is no field of the body
    const merchantId: CoveredBy<typeof fields> = "merchantId";
    expect([topic, submittedAt, merchantId]).toEqual([undefined, undefined, "merchantId"]);
  });

  it("infers a list that is written in the call", () => {
    const { verified } = reportedUnder(
      fieldsSignature({ secret, fields: ["id", "clientId", "status", "total.value", "total.currency"] }),
    );
    // @ts-expect-error not in the list
    expect(verified.submittedAt).toBeUndefined();
  });

  it("has every field if the whole body is signed", () => {
    const { verified } = reportedUnder(hmacSignature({ secret }));
    const captured: boolean = verified.captured;
    const topic: string = verified.topic;
    expect([captured, topic]).toEqual([undefined, undefined]);
  });

  it("fits any SignatureScheme, and accepts values of process.env", () => {
    const given: string | undefined = secret;
    const schemes: SignatureScheme[] = [
      hmacSignature({ secret: given }),
      fieldsSignature({ secret: given, merchantId: given }),
    ];
    expect(schemes).toHaveLength(2);
    expect(() => publicKeySignature({ publicKey: process.env["NOT_SET"], algorithm: "ed25519" })).toThrow(
      "signature.publicKey",
    );
  });
});

import { createHmac, generateKeyPairSync, type KeyObject, timingSafeEqual } from "node:crypto";
import {
  fieldsSignature,
  hmacSignature,
  publicKeySignature,
  type PublicKeyAlgorithm,
  type SignatureScheme,
  type SigningScheme,
} from "tillkit";
import { closeAll, secret } from "../../support/kit.js";
import { completedBody, pendingPayment } from "../../support/webhooks.js";
import { openEndpoint } from "./endpoint.js";

afterEach(closeAll);

const withKeys = (algorithm: PublicKeyAlgorithm, keys: { publicKey: KeyObject; privateKey: KeyObject }) =>
  publicKeySignature({ ...keys, algorithm });
const elliptic = (namedCurve: string) => generateKeyPairSync("ec", { namedCurve });
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });

/** A scheme of a merchant, over the whole body, in base64. */
const merchantsOwn: SignatureScheme & Pick<SigningScheme, "sign"> = {
  header: "Service-Signature",
  covers: "body",
  sign: (rawBody) => createHmac("sha256", secret).update(rawBody).digest("base64"),
  verify({ rawBody, headers }) {
    const given = Buffer.from(String(headers["service-signature"]), "base64");
    const expected = createHmac("sha256", secret).update(rawBody).digest();
    return given.length === expected.length && timingSafeEqual(given, expected);
  },
};

const schemes: [string, SignatureScheme & Pick<SigningScheme, "sign">][] = [
  ["an HMAC with sha256", hmacSignature({ secret })],
  ["an HMAC with sha384", hmacSignature({ secret, algorithm: "sha384" })],
  ["an HMAC with sha512", hmacSignature({ secret, algorithm: "sha512" })],
  ["an HMAC over fields", fieldsSignature({ secret, merchantId: "m-1" })],
  ["ed25519", withKeys("ed25519", generateKeyPairSync("ed25519"))],
  ["ecdsa-sha256", withKeys("ecdsa-sha256", elliptic("prime256v1"))],
  ["ecdsa-sha384", withKeys("ecdsa-sha384", elliptic("secp384r1"))],
  ["ecdsa-sha512", withKeys("ecdsa-sha512", elliptic("secp521r1"))],
  ["rsa-sha256", withKeys("rsa-sha256", rsa)],
  ["rsa-pss-sha256", withKeys("rsa-pss-sha256", rsa)],
  ["a scheme of the merchant's own", merchantsOwn],
];

/** The types with which the body is taken: the interface shows none. */
const types = [
  undefined,
  "application/json",
  "application/json; charset=utf-8",
  "text/plain",
  "application/octet-stream",
  "nonsense",
];
const forms = ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x"];

describe.each(schemes)("the webhook of the interface document, 6.1, signed with %s", (_, signature) => {
  /** Sends the body for a new payment with each type. A body of bytes gets no type of its own. */
  async function send(given: readonly (string | undefined)[]) {
    const clientIds = given.map((_, index) => `c-${index + 1}`);
    const known = clientIds.map((clientId) => ({
      ...pendingPayment({ clientId }),
      reference: clientId,
      serviceId: `s-${clientId}`,
    }));
    const kit = await openEndpoint({ signature, dispatch: false }, { payments: known });
    const statuses = [];
    for (const [index, type] of given.entries()) {
      const body = Buffer.from(
        JSON.stringify(completedBody({ clientId: clientIds[index], id: `s-${clientIds[index]}` })),
      );
      const headers = {
        "service-signature": signature.sign(body),
        ...(type !== undefined && { "content-type": type }),
      };
      const { status } = await fetch(new URL("/payments/webhook", kit.url), {
        method: "POST",
        body,
        headers,
      });
      statuses.push(status);
    }
    const payments = await Promise.all(clientIds.map((clientId) => kit.payments.find(clientId)));
    return {
      statuses,
      states: payments.map((payment) => payment?.state),
      outcomes: kit.webhooks().map(({ outcome }) => outcome),
    };
  }

  it("completes the payment without a content type, and with any that is not a form's", async () => {
    expect(await send(types)).toEqual({
      statuses: types.map(() => 200),
      states: types.map(() => "completed"),
      outcomes: types.map(() => "applied"),
    });
  });

  it("is refused with 415 as a form, and nothing is recorded", async () => {
    expect(await send(forms)).toEqual({ statuses: [415, 415], states: ["pending", "pending"], outcomes: [] });
  });
});

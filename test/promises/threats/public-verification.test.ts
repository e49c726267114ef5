import { generateKeyPairSync, sign } from "node:crypto";
import { publicKeySignature, type SignatureScheme } from "tillkit";
import { closeAll, scheme, secret } from "../../support/kit.js";
import { completedBody, signed } from "../../support/webhooks.js";
import { converse, headOf, openEndpoint, readAnswer, versions } from "./endpoint.js";
import { fields } from "./fields.js";

afterEach(closeAll);

const { rawBody, headers } = signed(completedBody());
const good = headers["service-signature"];

const { publicKey, privateKey } = generateKeyPairSync("ed25519");
const schemes: [string, SignatureScheme, string][] = [
  ["hmacSignature", scheme, good],
  ["fieldsSignature", fields, fields.sign(rawBody)],
  [
    "publicKeySignature",
    publicKeySignature({ publicKey, algorithm: "ed25519" }),
    sign(null, rawBody, privateKey).toString("hex"),
  ],
];

it.each(schemes)(
  "Webhook with missing, malformed, wrong, truncated, repeated signature (CVE-2024-21491): 401 and one constant body under %s",
  async (_, signature, right) => {
    const kit = await openEndpoint({ signature });
    const first = right[0] === "0" ? "1" : "0";
    const wrong: (string | undefined)[] = [
      undefined,
      "",
      " ",
      "0",
      "zz".repeat(right.length / 2),
      `${first}${right.slice(1)}`,
      `${right.slice(0, -1)}${right.endsWith("0") ? "1" : "0"}`,
      right.slice(0, -2),
      right.slice(0, 2),
      `${right}00`,
      `${right}${right}`,
      `0x${right}`,
      `${right},${right}`,
      `${right} ${right}`,
      Buffer.from(right, "hex").toString("base64"),
      "null",
      "0".repeat(right.length),
      "f".repeat(8000),
    ];
    const answers = new Set<string>();
    for (const one of wrong) {
      const { status, text } = await kit.post(rawBody, one === undefined ? {} : { "service-signature": one });
      answers.add(`${status} ${text}`);
    }
    const twice = headOf([
      `Content-Length: ${rawBody.length}`,
      `Service-Signature: ${right}`,
      `SERVICE-SIGNATURE: ${right}`,
      "Connection: close",
    ]);
    const repeated = readAnswer(await converse(kit.url, twice + rawBody.toString()));
    answers.add(`${repeated.status} ${repeated.text}`);
    expect([...answers]).toEqual(['401 {"error":"signature_invalid"}']);
    expect(kit.webhooks()).toEqual([]);

    const codes = new Set(kit.log.map(({ code }) => code));
    expect(codes).toEqual(new Set(["signature_malformed", "signature_mismatch", "signature_missing"]));
    for (const hidden of [right, secret, "MVK-778"]) expect(kit.logText()).not.toContain(hidden);
    expect((await kit.post(rawBody, { "service-signature": right })).status).toBe(200);
  },
);

/** Errors of `verify`. The last ones look like a refusal of the kit that contains an answer. */
const thrown: [string, () => unknown][] = [
  ["an error", () => new Error("a bug in the scheme")],
  ["null", () => null],
  ["a text", () => "a text"],
  ["an error without a message", () => Object.assign(new Error(), { message: undefined })],
  ["a refusal without a code", () => pretending({})],
  [
    "a refusal with a code that is not a scheme's",
    () => pretending({ code: "record_unavailable", status: 503 }),
  ],
  ["a refusal with an unknown code", () => pretending({ code: "fine", status: 200 })],
  ["a refusal with another status", () => pretending({ code: "signature_mismatch", status: 200 })],
  ["a refusal with no status", () => pretending({ code: "signature_mismatch", status: undefined })],
];
const pretending = (members: object) =>
  Object.assign(new Error(""), { name: "WebhookRejectedError" }, members);

describe.each(versions)("on %s", (_, express) => {
  it.each(thrown)(
    "Verification itself throws (CVE-2023-50728: one request killed the process): %s, and the process lives",
    async (_what, error) => {
      for (const isAsync of [false, true]) {
        const signature: SignatureScheme = {
          header: "x-own",
          covers: "body",
          verify({ headers }) {
            if (headers["x-own"] === "right") return true;
            if (!isAsync) throw error();
            return Promise.reject(error());
          },
        };
        const kit = await openEndpoint({ signature }, { express });
        const { status, text } = await kit.post(rawBody, { "x-own": "wrong" });
        expect([status, text]).toEqual([401, '{"error":"signature_invalid"}']);
        // After one line about the rate of what does not match.
        expect(kit.log.at(-1)).toMatchObject({ level: 40, res: { status: 401 } });
        expect((await kit.post(rawBody, { "x-own": "right" })).status).toBe(200);
      }
    },
  );

  it("Body eaten by a global parser: 500, and the log names the fix", async () => {
    for (const parser of [
      express.json(),
      express.urlencoded({ extended: true, type: "*/*" }),
      express.text({ type: "*/*" }),
    ]) {
      const kit = await openEndpoint({}, { express, before: (app) => app.use(parser) });
      const { status, text } = await kit.post(rawBody, headers);
      expect([status, text]).toEqual([500, '{"error":"internal_error"}']);
      expect(kit.log).toContainEqual(
        expect.objectContaining({
          code: "raw_body_consumed",
          msg: expect.stringContaining("captureRawBody") as string,
        }),
      );
      expect(kit.webhooks()).toEqual([]);
    }
  });
});

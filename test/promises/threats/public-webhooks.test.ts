import { METHODS } from "node:http";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { closeAll, scheme } from "../../support/kit.js";
import { completedBody, signed, statusBody } from "../../support/webhooks.js";
import { converse, headOf, openEndpoint, readAnswer } from "./endpoint.js";
import { fields } from "./fields.js";

afterEach(closeAll);

const { rawBody, headers } = signed(completedBody());
const good = headers["service-signature"];

const twice = (key: string) => JSON.stringify(completedBody()).replace(`"${key}":`, `"${key}":"x","${key}":`);

it.each<[string, string | Buffer]>([
  ["no JSON", "{"],
  ["nothing except a signature", ""],
  ["bytes", Buffer.from([0xff, 0xfe, 0x00])],
  ["a duplicate key", twice("status")],
  ["a list", "[]"],
  ["null", "null"],
  [
    "no payment in it",
    JSON.stringify({ topic: "payment.completed", timestamp: "2026-11-20T10:00:05.000Z", type: "payment" }),
  ],
  ["a number for the amount", JSON.stringify(completedBody({ total: { value: 1475, currency: "KMF" } }))],
])(
  "Good signature, content inadmissible (not JSON, duplicate keys, not the interface's shape) or mismatching: %s",
  async (_, body) => {
    const kit = await openEndpoint();
    expect(
      (await kit.post(body, signed(body.toString(), { sign: () => scheme.sign(Buffer.from(body)) }).headers))
        .status,
    ).toBe(200);
    expect(kit.webhooks()).toMatchObject([{ outcome: "inadmissible", rawBody: Buffer.from(body) }]);
    expect(kit.events()).toMatchObject([{ type: "webhook.inadmissible" }]);
    expect(kit.log).toMatchObject([{ outcome: "inadmissible" }]);
    await expectUntouched(kit);
  },
);

it.each<[string, object]>([
  ["a captured that contradicts the status", completedBody({ captured: false })],
  ["a topic that contradicts the status", completedBody({}, { topic: "payment.failed" })],
  ["another amount", completedBody({ total: { value: "1", currency: "KMF" } })],
])(
  "Good signature, content inadmissible (not JSON, duplicate keys, not the interface's shape) or mismatching: %s",
  async (_, body) => {
    const kit = await openEndpoint();
    expect((await kit.post(JSON.stringify(body), signed(body).headers)).status).toBe(200);
    expect(kit.webhooks()).toMatchObject([{ outcome: "mismatch" }]);
    expect(kit.events()).toMatchObject([{ type: "payment.mismatched" }]);
    await expectUntouched(kit);
  },
);

/** Expects that nothing was paid: the handler for completions is first called for the next genuine webhook. */
async function expectUntouched(kit: Awaited<ReturnType<typeof openEndpoint>>): Promise<void> {
  expect(await kit.payments.find("c-1")).toMatchObject({ state: "pending", open: true });
  const told = new Promise((resolve) => kit.payments.on("payment.completed", resolve, { name: "look" }));
  expect((await kit.post(rawBody, headers)).status).toBe(200);
  await told;
  await kit.payments.close();
  expect(kit.fulfilled).toEqual(["c-1"]);
}

it("Signed webhook for another order's payment (CVE-2026-68500): 200, a mismatch, and neither order is paid", async () => {
  const cheap = {
    clientId: "c-2",
    reference: "order-2",
    serviceId: "s-2",
    total: { value: "1", currency: "KMF" },
  };
  const kit = await openEndpoint({}, { payments: [{}, cheap] });
  // The webhook of the cheap payment is used for the expensive one, and the other way round.
  for (const data of [
    { id: "s-2", total: cheap.total },
    { id: "s-2" },
    { clientId: "c-2" },
    { clientId: "c-2", total: cheap.total },
  ]) {
    const body = completedBody(data);
    expect((await kit.post(JSON.stringify(body), signed(body).headers)).status).toBe(200);
  }
  expect(kit.webhooks().map(({ outcome }) => outcome)).toEqual(Array(4).fill("mismatch"));
  expect(kit.events().map(({ type }) => type)).toEqual(Array(4).fill("payment.mismatched"));
  for (const clientId of ["c-1", "c-2"])
    expect(await kit.payments.find(clientId)).toMatchObject({ state: "pending" });
});

it("Replay, duplicate: 200, counted, and the state unchanged, also years later", async () => {
  const clock = { now: new Date("2026-11-20T10:00:00.000Z") };
  const kit = await openEndpoint({ now: () => clock.now });
  const pending = statusBody("pending");
  for (const body of [pending, completedBody()]) await kit.post(JSON.stringify(body), signed(body).headers);
  const before = await kit.payments.find("c-1");
  clock.now = new Date("2036-11-20T10:00:00.000Z");
  for (const body of [completedBody(), pending, completedBody()])
    expect((await kit.post(JSON.stringify(body), signed(body).headers)).status).toBe(200);
  expect(kit.copies()).toBe(3);
  expect(kit.log.map(({ outcome }) => outcome).slice(2)).toEqual(Array(3).fill("duplicate"));
  expect(await kit.payments.find("c-1")).toEqual(before);
});

it("Malformed JSON where verification needs the fields: 400, and a line in the log", async () => {
  const kit = await openEndpoint({ signature: fields });
  for (const body of ["", "{", "[]", "null", "7", twice("topic"), '"', "NaN", "{'a':1}"]) {
    const { status, text } = await kit.post(body, { "service-signature": fields.sign(rawBody) });
    expect([body, status, text]).toEqual([body, 400, '{"error":"bad_request"}']);
  }
  expect(new Set(kit.log.map(({ code }) => code))).toEqual(new Set(["signed_fields_unreadable"]));
  expect(kit.webhooks()).toEqual([]);
});

it.each<[string, Buffer]>([
  ["gzip", gzipSync(Buffer.alloc(50_000_000))],
  ["GZIP", gzipSync(rawBody)],
  ["x-gzip", gzipSync(rawBody)],
  ["deflate", deflateSync(rawBody)],
  ["br", brotliCompressSync(rawBody)],
  ["zstd", rawBody],
  ["gzip, gzip", gzipSync(gzipSync(rawBody))],
  ["identity, gzip", gzipSync(rawBody)],
  ["compress", rawBody],
  ["unknown", rawBody],
  ["", rawBody],
])("Content-Encoding (zip bomb): %j is 415, and nothing is inflated", async (encoding, body) => {
  const kit = await openEndpoint();
  const head = headOf([
    `Content-Length: ${body.length}`,
    `Content-Encoding: ${encoding}`,
    `Service-Signature: ${scheme.sign(body)}`,
    "Connection: close",
  ]);
  const answer = readAnswer(await converse(kit.url, Buffer.concat([Buffer.from(head), body])));
  expect([answer.status, answer.text]).toEqual([415, '{"error":"unsupported_media_type"}']);
  expect(kit.log).toMatchObject([{ code: "content_encoding_unsupported" }]);
  expect(kit.webhooks()).toEqual([]);
});

describe("A form's type / over the limit (declared or streamed) / other method", () => {
  it("A form's type / over the limit (declared or streamed) / other method: 415 for a form, and the signature decides about every other type", async () => {
    const kit = await openEndpoint();
    const post = async (type: string, given: Record<string, string>) =>
      (await kit.post(rawBody, { ...given, "content-type": type })).status;
    for (const type of [
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
      "MULTIPART/mixed",
    ])
      expect([type, await post(type, headers)]).toEqual([type, 415]);
    expect(kit.webhooks()).toEqual([]);
    for (const type of ["text/plain", "application/json-patch+json", "text/html; application/json", "*/*"]) {
      expect([type, await post(type, { "service-signature": "0".repeat(64) })]).toEqual([type, 401]);
      expect([type, await post(type, headers)]).toEqual([type, 200]);
    }
    expect(kit.webhooks()).toHaveLength(1);
  });

  it("A form's type / over the limit (declared or streamed) / other method: 413 and the end of the connection, for one extra byte", async () => {
    const kit = await openEndpoint({ webhook: { limitBytes: rawBody.length } });
    const signature = `Service-Signature: ${good}`;
    const over = Buffer.concat([rawBody, Buffer.from(" ")]);
    const chunked = Buffer.concat([
      Buffer.from(`${headOf(["Transfer-Encoding: chunked", signature])}${over.length.toString(16)}\r\n`),
      over,
      // A sender that never ends would continue here.
      Buffer.from("\r\n"),
    ]);
    const declared = Buffer.from(headOf([`Content-Length: ${over.length}`, signature]));
    for (const bytes of [declared, chunked]) {
      const { status, headers, text } = readAnswer(await converse(kit.url, bytes));
      expect([status, headers["connection"], text]).toEqual([413, "close", '{"error":"body_too_large"}']);
    }
    expect(kit.webhooks()).toEqual([]);
    expect((await kit.post(rawBody, headers)).status).toBe(200);
  });

  it("A form's type / over the limit (declared or streamed) / other method: 405 with Allow for another method, whatever the headers are", async () => {
    const kit = await openEndpoint();
    // CONNECT never reaches an application, because Node ends the connection.
    for (const method of METHODS.filter((one) => one !== "POST" && one !== "CONNECT")) {
      const override = { "x-http-method-override": "POST", "x-method-override": "POST" };
      const { status, headers } = await kit.get("/payments/webhook?_method=POST", override, method);
      expect([method, status, headers["allow"]]).toEqual([method, 405, "POST"]);
    }
  });
});

it("Store cannot commit and spool cannot fsync: 503 with Retry-After, never 200", async () => {
  // A directory below a file, so nothing can be written there.
  const kit = await openEndpoint({
    webhook: { recordTimeoutMs: 50 },
    spool: { directory: `${__filename}/spool` },
  });
  kit.payments.store.transaction = () => Promise.reject(new Error("the database is away"));
  for (let n = 0; n < 3; n += 1) {
    const answer = await kit.post(rawBody, headers);
    expect([answer.status, answer.headers["retry-after"], answer.text]).toEqual([
      503,
      "5",
      '{"error":"unavailable"}',
    ]);
  }
  expect(kit.log).toContainEqual(expect.objectContaining({ level: 50, code: "record_unavailable" }));
});

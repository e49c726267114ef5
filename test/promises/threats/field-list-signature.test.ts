import { fieldsSignature, hmacSignature } from "tillkit";
import { closeAll, secret } from "../../support/kit.js";
import { completedBody, signed, statusBody, type WebhookBody } from "../../support/webhooks.js";
import { openEndpoint, type Endpoint } from "./endpoint.js";
import { carelessJoin, carelesslySigned, fields, signatureOf } from "./fields.js";

afterEach(closeAll);

const json = (body: WebhookBody) => JSON.stringify(body);
const genuine = completedBody();

/** Posts a body whose signature a careless verifier accepts. Resolves with the kit's result. */
async function attack(kit: Endpoint, body: string | Buffer, signature = carelesslySigned(genuine)) {
  const { status } = await kit.post(body, signature);
  return { status, recorded: kit.webhooks().map(({ outcome }) => outcome), fulfilled: kit.fulfilled };
}

const refused = { status: 400, recorded: [], fulfilled: [] };
const openKit = () => openEndpoint({ signature: fields });

it.each<[string, unknown]>([
  ["the number 1475", 1475],
  ["the list ['1475']", ["1475"]],
  ["the list [[1475]]", [[1475]]],
])("Pairs that would have the same HMAC: %s and the string 1475", async (_, value) => {
  const twin = completedBody({ total: { value, currency: "KMF" } });
  expect(carelessJoin(twin)).toBe(carelessJoin(genuine));
  expect(await attack(await openKit(), json(twin))).toEqual(refused);
});

it.each(["1475.0", "14.75e2", "1475e0"])(
  "Pairs that would have the same HMAC: the number written %s and the string 1475",
  async (written) => {
    const twin = json(genuine).replace('"1475"', written);
    expect(carelessJoin(JSON.parse(twin) as WebhookBody)).toBe(carelessJoin(genuine));
    expect(await attack(await openKit(), twin)).toEqual(refused);
  },
);

it.each(["id", "clientId", "status"])(
  "Pairs that would have the same HMAC: null, missing and empty, in %s",
  async (field) => {
    const blanks = [null, undefined, ""].map((blank) => completedBody({ [field]: blank }));
    expect(new Set(blanks.map((body) => carelessJoin(body))).size).toBe(1);
    const kit = await openKit();
    for (const body of blanks) expect(await attack(kit, json(body), carelesslySigned(body))).toEqual(refused);
  },
);

it("Pairs that would have the same HMAC: null, missing and empty are one value of submittedAt, except for completed", async () => {
  const kit = await openKit();
  for (const submittedAt of [null, undefined, ""]) {
    const body = statusBody("submitted", { submittedAt });
    expect((await kit.post(json(body), carelesslySigned(body))).status).toBe(200);
  }
  expect(kit.webhooks().map(({ outcome }) => outcome)).toEqual(["applied"]);
  expect(kit.copies()).toBe(2);
  for (const submittedAt of [null, undefined, ""]) {
    const body = completedBody({ submittedAt });
    expect((await kit.post(json(body), carelesslySigned(body))).status).toBe(400);
  }
  expect(await kit.payments.find("c-1")).toMatchObject({ state: "pending" });
});

it("Pairs that would have the same HMAC: two lone surrogates", async () => {
  const [high, low] = ["\ud800", "\udfff"].map((id) => completedBody({ id }));
  expect(carelesslySigned(high!)).toEqual(carelesslySigned(low!));
  for (const body of [high!, low!])
    expect(await attack(await openKit(), json(body), carelesslySigned(body))).toEqual(refused);
});

it("Pairs that would have the same HMAC: a comma moved from the merchantId into the id", async () => {
  const theirs = carelessJoin(completedBody({ id: "p1" }), "m1,x");
  const moved = completedBody({ id: "p1,m1" });
  expect(carelessJoin(moved, "x")).toBe(theirs);
  const kit = await openEndpoint({ signature: fieldsSignature({ secret, merchantId: "x" }) });
  expect(await attack(kit, json(moved), signatureOf(theirs))).toEqual(refused);
  expect(() => fieldsSignature({ secret, merchantId: "m1,x" })).toThrow("signature.merchantId");
});

it.each([
  ["as it is", '"status":"pending",'],
  ["with an escape", '"\\u0073tatus":"pending",'],
  ["with its value again", '"status":"completed",'],
])("Pairs that would have the same HMAC: a key written twice, %s", async (_, first) => {
  const twice = json(genuine).replace('"status":', `${first}"status":`);
  expect(carelessJoin(JSON.parse(twice) as WebhookBody)).toBe(carelessJoin(genuine));
  expect(await attack(await openKit(), twice)).toEqual(refused);
});

const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
const withExtra = (extra: string) => json(genuine).replace('"topic"', `"extra":${extra},"topic"`);

it.each<[string, string | Buffer]>([
  ["a byte order mark", `\ufeff${json(genuine)}`],
  ["bytes that are not UTF-8, in an unsigned field", Buffer.from(withExtra('"\xff"'), "latin1")],
  ["an overlong form", Buffer.from(withExtra('"\xc0\xaf"'), "latin1")],
  ["a surrogate written in UTF-8", Buffer.from(withExtra('"\xed\xa0\x80"'), "latin1")],
  ["UTF-16", Buffer.from(json(genuine), "utf16le")],
  ["a duplicate key at an unsigned place", withExtra('{"a":1,"a":1}')],
  ["a duplicate key that is only visible after unescaping", withExtra('{"a":1,"\\u0061":1}')],
  ["a duplicate __proto__", withExtra('{"__proto__":1,"__proto__":1}')],
  ["33 levels", withExtra(deep(32))],
  ["20,000 levels", withExtra(deep(10_000))],
  ["text after the object", `${json(genuine)}{}`],
  ["a list around the object", `[${json(genuine)}]`],
])("Decode strict UTF-8, refuse duplicate keys, depth 32 at most: %s is refused", async (_, body) => {
  expect(await attack(await openKit(), body)).toEqual(refused);
});

it("Decode strict UTF-8, refuse duplicate keys, depth 32 at most: 32 levels are accepted", async () => {
  expect(await attack(await openKit(), withExtra(deep(31)))).toMatchObject({
    status: 200,
    recorded: ["applied"],
  });
});

it.each<[string, Record<string, unknown>]>([
  ["a NUL", { id: "64f0\u0000" }],
  ["a line break", { status: "completed\n" }],
  ["a control character of Latin-1", { id: "64f0\u0085" }],
  ["a comma", { clientId: "c-1,1475" }],
  ["257 characters", { id: "6".repeat(257) }],
  ["true", { status: true }],
  ["an object", { status: {} }],
  ["a total that is a list", { total: ["1475", "KMF"] }],
  ["a total that is a string", { total: "1475" }],
])(
  "Before verification, require each listed field to be an own, well-formed, bounded string: not %s",
  async (_, data) => {
    const body = completedBody(data);
    expect(await attack(await openKit(), json(body), carelesslySigned(body))).toEqual(refused);
  },
);

it("Before verification, require each listed field to be an own, well-formed, bounded string: not an inherited one", async () => {
  const { status: _, ...rest } = genuine.data;
  const heir = json({ ...genuine, data: rest }).replace(
    '"data":{',
    '"data":{"__proto__":{"status":"completed"},',
  );
  expect(await attack(await openKit(), heir)).toEqual(refused);
});

it.each<[string, Record<string, unknown>]>([
  ["a value with an exponent", { total: { value: "1e3", currency: "KMF" } }],
  ["a value with a sign", { total: { value: "+1475", currency: "KMF" } }],
  ["a value with a leading zero", { total: { value: "01475", currency: "KMF" } }],
  ["a value with space around it", { total: { value: " 1475", currency: "KMF" } }],
  ["a value with five decimals", { total: { value: "1475.00000", currency: "KMF" } }],
  ["a value of seventeen digits", { total: { value: "10000000000000000", currency: "KMF" } }],
  ["a value in other digits", { total: { value: "١٤٧٥", currency: "KMF" } }],
  ["decimals that the currency does not have", { total: { value: "1475.50", currency: "KMF" } }],
  ["a currency with a digit", { total: { value: "1475", currency: "KM1" } }],
  ["a clientId with a space", { clientId: "c 1" }],
  ["a date that does not exist", { submittedAt: "2026-02-30T10:00:00.000Z" }],
  ["a date that is a word", { submittedAt: "yesterday" }],
])("After verification, keep what fails as inadmissible, 200: %s", async (_, data) => {
  const body = completedBody(data);
  const kit = await openKit();
  expect(await attack(kit, json(body), carelesslySigned(body))).toEqual({
    status: 200,
    recorded: ["inadmissible"],
    fulfilled: [],
  });
  expect(kit.events().map(({ type }) => type)).toEqual(["webhook.inadmissible"]);
  expect(await kit.payments.find("c-1")).toMatchObject({ state: "pending" });
});

it("After verification, keep what fails as inadmissible, 200: 1475.00 KMF is 1475 KMF, and a currency newer than the table is not an error", async () => {
  const kit = await openEndpoint(
    { signature: fields },
    {
      payments: [
        {},
        { clientId: "c-2", reference: "order-2", serviceId: "s-2", total: { value: "7.5", currency: "QQQ" } },
      ],
    },
  );
  for (const body of [
    completedBody({ total: { value: "1475.00", currency: "KMF" } }),
    completedBody({ clientId: "c-2", id: "s-2", total: { value: "7.50", currency: "QQQ" } }),
  ])
    expect((await kit.post(json(body), carelesslySigned(body))).status).toBe(200);
  expect(kit.webhooks().map(({ outcome }) => outcome)).toEqual(["applied", "applied"]);
});

it("Take merchantId from configuration only: a merchantId in a body or a header changes nothing", async () => {
  const other = signatureOf(carelessJoin(genuine, "m-2"));
  const claims = completedBody({ merchantId: "m-2" }, { merchantId: "m-2" });
  const kit = await openKit();
  const asked = await kit.post(json(claims), { ...other, "merchant-id": "m-2", merchantid: "m-2" });
  expect([asked.status, kit.webhooks()]).toEqual([401, []]);
  expect((await kit.post(json(claims), carelesslySigned(genuine))).status).toBe(200);
});

it("Choose the scheme in configuration, never from the request; never fall back from one scheme to another: each scheme refuses the other's signature", async () => {
  const whole = hmacSignature({ secret });
  const rawBody = Buffer.from(json(genuine));
  for (const [configured, foreign] of [
    [fields, whole],
    [whole, fields],
  ] as const) {
    const kit = await openEndpoint({ signature: configured });
    for (const hint of ["hmac", "fields", "none", "null", "sha256"]) {
      const { status } = await kit.post(rawBody, {
        "service-signature": foreign.sign(rawBody),
        "signature-scheme": hint,
        "service-signature-scheme": hint,
        "service-signature-algorithm": hint,
        alg: hint,
      });
      expect(status).toBe(401);
    }
    expect(kit.webhooks()).toEqual([]);
    expect((await kit.post(rawBody, signed(json(genuine), configured).headers)).status).toBe(200);
  }
});

it("Choose the scheme in configuration, never from the request; never fall back from one scheme to another: another algorithm is refused, and also a name before the signature", async () => {
  const kit = await openKit();
  const rawBody = Buffer.from(json(genuine));
  const good = fields.sign(rawBody);
  for (const algorithm of ["sha384", "sha512"] as const) {
    const other = fieldsSignature({ secret, merchantId: "m-1", algorithm }).sign(rawBody);
    for (const signature of [other, other.slice(0, 64), `${algorithm}=${other}`])
      expect((await kit.post(rawBody, { "service-signature": signature })).status).toBe(401);
  }
  for (const signature of [`sha256=${good}`, `v1=${good}`, `0x${good}`, `${good};`])
    expect((await kit.post(rawBody, { "service-signature": signature })).status).toBe(401);
  expect(kit.webhooks()).toEqual([]);
});

it("Node traps: an empty key, a hexadecimal text cut short, two empty buffers and a repeated header verify nothing", async () => {
  expect(() => fieldsSignature({ secret: "", merchantId: "m-1" })).toThrow("signature.secret");
  const kit = await openKit();
  const rawBody = Buffer.from(json(genuine));
  const good = fields.sign(rawBody);
  // Buffer.from ignores everything after the first wrong digit, so these would all be equal bytes.
  for (const signature of [
    `${good}zz`,
    `${good}g`,
    `${good.slice(0, 62)}zz`,
    "zz",
    "z",
    "",
    " ",
    `${good}, ${good}`,
  ])
    expect((await kit.post(rawBody, { "service-signature": signature })).status).toBe(401);
  expect(kit.webhooks()).toEqual([]);
  expect((await kit.post(rawBody, { "service-signature": good.toUpperCase() })).status).toBe(200);
});

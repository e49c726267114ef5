import { createHash } from "node:crypto";
import { fc } from "../../support/property.js";
import { readMessage } from "../../../src/webhook/message/read-message.js";
import { signedFields } from "../../../src/webhook/signature/index.js";
import { read, reasonOf, reportOf } from "./read.js";
import { bytes, webhook } from "./webhooks.js";

const sha256 = (content: string | Buffer) => createHash("sha256").update(content).digest("base64url");

describe("readMessage with a signature over the whole body", () => {
  it("reports what the webhook says", () => {
    const report = reportOf(webhook());
    expect(report).toMatchObject({
      kind: "payment",
      verified: {
        id: "65f1a2b3c4d5e6f708192a3b",
        clientId: "order-17.a",
        status: "completed",
        "total.value": "1475",
        "total.currency": "KMF",
        submittedAt: "2026-03-01T10:00:00.000Z",
        topic: "payment.completed",
        captured: true,
      },
      untrusted: {},
    });
    expect(Object.keys(report.verified).toSorted()).toEqual(signedFields.toSorted());
  });

  it("makes the event key of the fields, with the amount without trailing zeros", () => {
    const parts = [
      "65f1a2b3c4d5e6f708192a3b",
      "order-17.a",
      "completed",
      "1475",
      "KMF",
      "2026-03-01T10:00:00.000Z",
      "payment.completed",
      "payment",
      true,
      "TX99812",
    ];
    const key = `payment:order-17.a:${sha256(JSON.stringify(parts))}`;
    expect(reportOf(webhook()).eventKey).toBe(key);
    expect(reportOf(webhook({ total: { value: "1475.00", currency: "KMF" } })).eventKey).toBe(key);
    expect(key).toMatch(/^[\x21-\x7e]{1,80}$/);
  });

  it("makes the event key without a time of submission with nothing in its place", () => {
    const pending = { status: "pending", captured: false, submittedAt: undefined };
    const { id, clientId } = reportOf(webhook()).verified;
    const parts = [id, clientId, "pending", "1475", "KMF", "", "payment.pending", "payment", false];
    const { eventKey } = reportOf(webhook(pending, { topic: "payment.pending" }));
    expect(eventKey).toBe(`payment:order-17.a:${sha256(JSON.stringify(parts))}`);
  });

  it.each(["", "\0order", "été", "' or 1 = 1 --", "a".repeat(64), "a space"])(
    "makes a short and plain key for the clientId %j",
    (clientId) => {
      const message = read(webhook({ clientId }));
      const key = message.eventKey;
      expect(key).toMatch(/^[\w.:-]{1,80}$/);
    },
  );

  it("begins the keys of payments made in sequence with the same characters", () => {
    const keyOf = (clientId: string) => reportOf(webhook({ clientId })).eventKey;
    expect(keyOf("0198f3a1-7c10-7abc-8def-000000000001")).toMatch(/^payment:0198f3a1-7c10-7abc-8def-:/);
    expect(keyOf("0198f3a1-7c10-7abc-8def-000000000002")).toMatch(/^payment:0198f3a1-7c10-7abc-8def-:/);
  });

  it.each([
    ["id", webhook({ id: "other" })],
    ["clientId", webhook({ clientId: "other" })],
    ["status", webhook({ status: "failed" })],
    ["value", webhook({ total: { value: "1476", currency: "KMF" } })],
    ["currency", webhook({ total: { value: "1475", currency: "XAF" } })],
    ["submittedAt", webhook({ submittedAt: "2026-03-01T10:00:00Z" })],
    ["topic", webhook({}, { topic: "payment.failed" })],
    ["captured", webhook({ captured: false })],
    ["number of a completion", webhook({ providerId: "other" })],
  ])("gives another key for another %s", (_, body) => {
    expect(reportOf(body).eventKey).not.toBe(reportOf(webhook()).eventKey);
  });

  it("gives the same key if other fields change", () => {
    const again = webhook({ source: null, extra: 1 }, { timestamp: "2027-01-01T00:00:00Z" });
    expect(reportOf(again).eventKey).toBe(reportOf(webhook()).eventKey);
  });

  it("allows unknown fields, topics, statuses and currencies", () => {
    const body = webhook(
      { status: "on_hold.v2", fee: { value: 1 }, total: { value: "1.2345", currency: "QQQ", tax: 0 } },
      { topic: "payment.put on hold", version: 3 },
    );
    expect(reportOf(body)).toMatchObject({
      verified: { status: "on_hold.v2", "total.value": "1.2345", "total.currency": "QQQ" },
    });
  });

  it.each([[undefined], [null], [""]])(
    "reads submittedAt %j as not submitted, unless the payment is completed",
    (submittedAt) => {
      const report = reportOf(webhook({ submittedAt, status: "pending", captured: false }));
      expect(report.verified).not.toHaveProperty("submittedAt");
      expect(reasonOf(webhook({ submittedAt }))).toMatch(
        /^data\.submittedAt: expected .*completed.*, got nothing$/,
      );
    },
  );

  it("accepts providerId and source as text, null or nothing", () => {
    expect(reportOf(webhook({ providerId: null, source: undefined })).verified).not.toHaveProperty(
      "providerId",
    );
    expect(reportOf(webhook({ providerId: "", source: "x".repeat(256) })).verified.providerId).toBe("");
  });

  it("calls a message unrecognised if it is not about a payment, without reading its data", () => {
    const rawBody = bytes({
      topic: "payout.paid",
      timestamp: "2026-03-01T10:00:00Z",
      type: "payout",
      data: 7,
    });
    expect(readMessage({ rawBody, covers: "body" })).toEqual({
      kind: "unrecognised",
      eventKey: `unrecognised:${sha256(rawBody)}`,
      topic: "payout.paid",
      type: "payout",
    });
  });

  it("calls it unrecognised also where its data looks like a payment", () => {
    expect(read(webhook({}, { type: "refund" }))).toMatchObject({ kind: "unrecognised", type: "refund" });
  });

  it("calls a body that cannot be decoded inadmissible, with a key of its bytes", () => {
    for (const rawBody of [bytes("{"), bytes('{"type":1,"type":1}'), Buffer.from([0xff]), bytes("[]")])
      expect(readMessage({ rawBody, covers: "body" })).toMatchObject({
        kind: "inadmissible",
        eventKey: `inadmissible:${sha256(rawBody)}`,
      });
  });

  it.each<[string, Record<string, unknown>, string]>([
    ["topic", webhook({}, { topic: undefined }), "topic"],
    ["topic", webhook({}, { topic: "x".repeat(129) }), "topic"],
    ["type", webhook({}, { type: "" }), "type"],
    ["type", webhook({}, { type: "pay\u0000ment" }), "type"],
    ["data", webhook({}, { data: undefined }), "data.id"],
    ["data", webhook({}, { data: [] }), "data.id"],
    ["id", webhook({ id: 17 }), "data.id"],
    ["id", webhook({ id: "x".repeat(129) }), "data.id"],
    ["id", webhook({ id: "line\nbreak" }), "data.id"],
    ["status", webhook({ status: "com pleted" }), "data.status"],
    ["captured", webhook({ captured: "true" }), "data.captured"],
    ["total", webhook({ total: "1475 KMF" }), "data.total.value"],
    ["value", webhook({ total: { value: 1475, currency: "KMF" } }), "data.total.value"],
    ["value", webhook({ total: { value: "1e3", currency: "KMF" } }), "data.total.value"],
    ["value", webhook({ total: { value: "10,00", currency: "KMF" } }), "data.total.value"],
    ["value", webhook({ total: { value: "1475.50", currency: "KMF" } }), "data.total.value"],
    ["currency", webhook({ total: { value: "1475", currency: "KM1" } }), "data.total.currency"],
    ["currency", webhook({ total: { value: "1475", currency: "x".repeat(17) } }), "data.total.currency"],
    ["submittedAt", webhook({ submittedAt: "yesterday" }), "data.submittedAt"],
    ["submittedAt", webhook({ submittedAt: 0 }), "data.submittedAt"],
    ["clientId", webhook({ clientId: "ordér" }), "data.clientId"],
    ["clientId", webhook({ clientId: "x".repeat(65) }), "data.clientId"],
  ])("refuses a wrong %s and names its path", (_, body, path) => {
    const rawBody = bytes(body);
    const message = readMessage({ rawBody, covers: "body" });
    expect(message).toMatchObject({ kind: "inadmissible", eventKey: `inadmissible:${sha256(rawBody)}` });
    expect(reasonOf(body)).toMatch(new RegExp(`^${path.replaceAll(".", "\\.")}: expected .+, got .+`));
  });

  it("leaves every alphabetic currency code to the comparison with the payment", () => {
    for (const currency of ["kmf", "USDC", "X"])
      expect(reportOf(webhook({ total: { value: "1475", currency } }))).toMatchObject({
        verified: { "total.currency": currency },
      });
  });

  it("names the first wrong field in the order of the interface document", () => {
    expect(reasonOf(webhook({ status: 1, clientId: 1 }, { topic: "" }))).toMatch(/^topic: /);
  });

  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    [
      "timestamp that is no date",
      webhook({}, { timestamp: "2026-02-30T10:00:00.000Z" }),
      { timestamp: "2026-02-30T10:00:00.000Z" },
    ],
    [
      "timestamp in nanoseconds",
      webhook({}, { timestamp: 1772359205250000000 }),
      { timestamp: 1772359205250000000 },
    ],
    ["missing timestamp", webhook({}, { timestamp: undefined }), {}],
    ["numeric providerId", webhook({ providerId: 5 }), { providerId: 5 }],
    ["long source", webhook({ source: "x".repeat(257) }), { source: "x".repeat(257) }],
    ["source with a control character", webhook({ source: "a\u009fb" }), { source: "a\u009fb" }],
    ["list and object", webhook({ providerId: [1], source: {} }), { providerId: [1], source: {} }],
  ])("takes a completion whatever the fields that decide nothing contain: %s", (_, body, untrusted) => {
    const report = reportOf(body);
    expect(report).toMatchObject({ verified: { status: "completed", "total.value": "1475" } });
    expect(report.untrusted).toEqual(untrusted);
    for (const field of Object.keys(untrusted)) expect(report.verified).not.toHaveProperty(field);
    const others = "providerId" in untrusted ? { providerId: null } : {};
    expect(report.eventKey).toBe(reportOf(webhook(others)).eventKey);
  });

  it("takes a completion with numbers that a double cannot hold, and with unknown fields of any form", () => {
    for (const extra of [
      "9007199254740993",
      "1e400",
      "1.000000000000000005",
      `"${"x".repeat(30_000)}"`,
      "[[[{}]]]",
    ]) {
      const rawBody = bytes(`${JSON.stringify(webhook()).slice(0, -1)},"extra":${extra}}`);
      expect(readMessage({ rawBody, covers: "body" })).toMatchObject({
        kind: "payment",
        untrusted: {},
      });
    }
  });

  it("echoes at most 64 printable characters of a value", () => {
    const reason = reasonOf(webhook({ clientId: `<script>\u202e${"secret".repeat(2000)}` }));
    expect(reason).toMatch(/^[ -~]+$/);
    expect(reason?.split(", got ")[1]?.length).toBeLessThanOrEqual(64);
  });

  it("does not read fields from a prototype, and changes none", () => {
    const { data, ...envelope } = webhook();
    const heir = `{"__proto__":{"data":${JSON.stringify(data)}},${JSON.stringify(envelope).slice(1)}`;
    expect(reasonOf(heir)).toMatch(/^data\.id: expected .*, got nothing$/);
    expect(Reflect.get({}, "data")).toBeUndefined();
  });

  it("throws for no body", () => {
    const kinds = ["payment", "unrecognised", "inadmissible"];
    const body = fc.record({
      topic: fc.jsonValue(),
      type: fc.constantFrom("payment", "x"),
      data: fc.jsonValue(),
    });
    const kept = fc.record({
      id: fc.jsonValue(),
      total: fc.jsonValue(),
      source: fc.jsonValue(),
      status: fc.string(),
    });
    fc.assert(fc.property(body, (value) => expect(kinds).toContain(read(webhook({}, value)).kind)));
    fc.assert(fc.property(kept, (value) => expect(kinds).toContain(read(webhook(value)).kind)));
  });
});

import { readMessage } from "../../../src/webhook/message/read-message.js";
import { signedFields } from "../../../src/webhook/signature/index.js";
import { reasonOf, reportOf } from "./read.js";
import { bytes, webhook } from "./webhooks.js";

describe("readMessage, at the limits of each field,", () => {
  it.each([
    ["topic", (length: number) => webhook({}, { topic: "x".repeat(length) }), 1, 128],
    ["id", (length: number) => webhook({ id: "x".repeat(length) }), 1, 128],
    ["status", (length: number) => webhook({ status: "x".repeat(length) }), 1, 64],
    ["clientId", (length: number) => webhook({ clientId: "x".repeat(length) }), 1, 64],
    [
      "total.currency",
      (length: number) => webhook({ total: { value: "1475", currency: "X".repeat(length) } }),
      1,
      16,
    ],
  ] as const)("takes a %s up to its maximum length, and not an empty one", (field, body, min, max) => {
    for (const length of [min, max])
      expect(String(reportOf(body(length)).verified[field])).toHaveLength(length);
    for (const length of [min - 1, max + 1])
      expect(reasonOf(body(length))).toMatch(new RegExp(`^[a-z.]*${field}: expected`));
  });

  it("takes a providerId of 256 characters, and refuses none that begins or ends oddly in other fields", () => {
    expect(reportOf(webhook({ providerId: "x".repeat(256) })).verified.providerId).toHaveLength(256);
    for (const odd of ["!x", "x!"]) {
      expect(reasonOf(webhook({ status: odd }))).toMatch(/^data\.status: /);
      expect(reasonOf(webhook({ clientId: odd }))).toMatch(/^data\.clientId: /);
    }
    for (const currency of ["1KMF", "KMF1"])
      expect(reasonOf(webhook({ total: { value: "1475", currency } }))).toMatch(/^data\.total\.currency: /);
  });

  it("has no field that the service did not send", () => {
    const absent = { submittedAt: undefined, providerId: undefined, source: undefined };
    const body = webhook({ ...absent, status: "pending", captured: false }, { timestamp: undefined });
    const present = "captured clientId id status topic total.currency total.value type".split(" ");
    for (const covers of ["body", signedFields] as const) {
      const message = readMessage({ rawBody: bytes(body), covers });
      const { verified, untrusted } = message.kind === "payment" ? message : {};
      expect(Object.keys(verified ?? {}).toSorted()).toEqual(present);
      expect(untrusted).toEqual({});
    }
  });

  it.each([
    [undefined, "nothing"],
    [null, "null"],
    ["a/b", '"a/b"'],
    [true, "true"],
    [[1], "a list"],
    [{}, "an object"],
    [7, "a number"],
  ])("says what it got instead of a clientId: %j", (clientId, got) => {
    expect(reasonOf(webhook({ clientId }))).toMatch(new RegExp(`, got ${got}$`));
  });
});

import { fc } from "../../support/property.js";
import { readLookup } from "../../../src/webhook/message/read-lookup.js";
import { readMessage } from "../../../src/webhook/message/read-message.js";
import { type SignedField } from "tillkit";
import { statusBody } from "../../support/webhooks.js";

const receivedAt = "2026-11-20T10:00:09.000Z";
const fields = ["id", "clientId", "status", "total.value", "total.currency", "submittedAt"] as const;

function keyOf(message: ReturnType<typeof readMessage>): string {
  if (message.kind !== "payment") throw new Error(JSON.stringify(message));
  return message.report.eventKey;
}

function keys(status: string, covers: "body" | readonly SignedField[]) {
  const { data } = statusBody(status);
  const webhook = readMessage({ rawBody: Buffer.from(JSON.stringify(statusBody(status))), covers });
  const { clientId: _, total, ...rest } = data;
  const lookup = (answer: object) =>
    readLookup({ rawBody: Buffer.from(JSON.stringify(answer)), covers, clientId: "c-1", receivedAt });
  return { webhook, flat: lookup(data), asCreated: lookup({ ...rest, purchase: { total } }) };
}

describe("an answer to a lookup", () => {
  it("is one event with the webhook of the same content, in both shapes and under every scheme", () => {
    const statuses = fc.constantFrom(
      "init",
      "pending",
      "submitted",
      "captured",
      "failed",
      "canceled",
      "completed",
    );
    const covers = fc.constantFrom<"body" | readonly SignedField[]>("body", fields, fields.slice(0, 5));
    fc.assert(
      fc.property(statuses, covers, (status, covered) => {
        const { webhook, flat, asCreated } = keys(status, covered);
        expect(keyOf(flat)).toBe(keyOf(webhook));
        expect(keyOf(asCreated)).toBe(keyOf(webhook));
      }),
    );
  });

  it("may have no time of submission, unlike a webhook", () => {
    const { data } = statusBody("completed");
    const { submittedAt: _, ...without } = data;
    const rawBody = Buffer.from(JSON.stringify(without));
    const message = readLookup({ rawBody, covers: "body", clientId: "c-1", receivedAt });
    expect(message).toMatchObject({
      kind: "payment",
      report: { status: "completed", submittedAt: undefined },
    });
  });

  it.each([
    ["an amount that is a number", { total: { value: 1475, currency: "KMF" } }, "total.value"],
    ["no status", { status: undefined }, "status"],
    ["no amount", { total: undefined, purchase: 7 }, "total.value"],
    ["a captured that is no boolean", { captured: "yes" }, "captured"],
  ])("with %s is inadmissible", (_, over, field) => {
    const rawBody = Buffer.from(JSON.stringify({ ...statusBody("completed").data, ...over }));
    const message = readLookup({ rawBody, covers: "body", clientId: "c-1", receivedAt });
    expect(message).toMatchObject({ kind: "inadmissible", reason: expect.stringContaining(field) });
  });

  it("is always about the clientId that was asked for", () => {
    const rawBody = Buffer.from(JSON.stringify({ ...statusBody("completed").data, clientId: "other" }));
    const message = readLookup({ rawBody, covers: "body", clientId: "c-1", receivedAt });
    expect(message).toMatchObject({ report: { clientId: "c-1" } });
  });

  it("is read without throwing, for any bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const message = readLookup({
          rawBody: Buffer.from(bytes),
          covers: "body",
          clientId: "c-1",
          receivedAt,
        });
        expect(message.kind).not.toBe("payment");
      }),
    );
  });
});

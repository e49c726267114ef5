import { fc } from "../../support/property.js";
import { readLookup } from "../../../src/webhook/message/read-lookup.js";
import { readMessage } from "../../../src/webhook/message/read-message.js";
import { type SignedField } from "tillkit";
import { statusBody } from "../../support/webhooks.js";

const receivedAt = "2026-11-20T10:00:09.000Z";
const fields = ["id", "clientId", "status", "total.value", "total.currency", "submittedAt"] as const;

function keyOf(message: ReturnType<typeof readMessage>): string {
  if (message.kind !== "payment") throw new Error(JSON.stringify(message));
  return message.eventKey;
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
      verified: { status: "completed" },
    });
    expect(message).not.toHaveProperty("verified.submittedAt");
  });

  it.each([
    ["an amount that is a number", { total: { value: 1475, currency: "KMF" } }, "total.value"],
    ["no status", { status: undefined }, "status"],
    ["no amount", { total: undefined, purchase: 7 }, "total.value"],
    ["a captured that is no boolean", { captured: "yes" }, "captured"],
  ])("with %s is inadmissible", (_, over, field) => {
    const answer = { ...statusBody("completed").data, createdAt: "2026-11-20T09:58:59Z", ...over };
    const rawBody = Buffer.from(JSON.stringify(answer));
    const message = readLookup({ rawBody, covers: "body", clientId: "c-1", receivedAt });
    expect(message).toMatchObject({ kind: "inadmissible", reason: expect.stringContaining(field) });
  });

  it("has the service's time of the creation, where it is a date-time", () => {
    const reportOf = (createdAt: unknown) => {
      const rawBody = Buffer.from(JSON.stringify({ ...statusBody("completed").data, createdAt }));
      const message = readLookup({ rawBody, covers: "body", clientId: "c-1", receivedAt });
      return message.kind === "payment" ? message : undefined;
    };
    expect(reportOf("2026-11-20T09:58:59Z")).toMatchObject({ createdAt: "2026-11-20T09:58:59Z" });
    for (const createdAt of [undefined, null, 1763632739, ["2026-11-20T09:58:59Z"], "yesterday", ""]) {
      expect(reportOf(createdAt)).toMatchObject({ verified: { status: "completed" } });
      expect(reportOf(createdAt)).not.toHaveProperty("createdAt");
    }
  });

  it.each([
    ["completed", true],
    ["pending", false],
    ["under_review", false],
  ])("of status %s without captured has the value that fits: %s", (status, captured) => {
    const { captured: _, ...without } = statusBody(status).data;
    const rawBody = Buffer.from(JSON.stringify(without));
    const message = readLookup({ rawBody, covers: "body", clientId: "c-1", receivedAt });
    expect(message).toMatchObject({ verified: { topic: `payment.${status}`, captured } });
  });

  it("keeps a captured that does not fit, for the comparison with the payment", () => {
    const rawBody = Buffer.from(JSON.stringify({ ...statusBody("completed").data, captured: false }));
    const message = readLookup({ rawBody, covers: "body", clientId: "c-1", receivedAt });
    expect(message).toMatchObject({ verified: { status: "completed", captured: false } });
  });

  it("has the time at which it came, and what the service says of the provider", () => {
    const rawBody = Buffer.from(JSON.stringify(statusBody("completed").data));
    const message = readLookup({ rawBody, covers: "body", clientId: "c-1", receivedAt });
    const provider = { providerId: "MVK-778", source: "MVK" };
    expect(message).toMatchObject({ verified: { timestamp: receivedAt, ...provider } });
  });

  it.each([
    ["neither an amount nor a purchase", {}, "nothing"],
    ["a purchase that is null", { purchase: null }, "nothing"],
    ["a purchase without an amount", { purchase: {} }, "nothing"],
    [
      "an amount that is null beside a purchase",
      { total: null, purchase: { total: { value: "1" } } },
      "nothing",
    ],
  ])("with %s has no amount", (_, over, got) => {
    const { total: __, ...without } = statusBody("completed").data;
    const rawBody = Buffer.from(JSON.stringify({ ...without, ...over }));
    const message = readLookup({ rawBody, covers: "body", clientId: "c-1", receivedAt });
    expect(message).toMatchObject({
      kind: "inadmissible",
      reason: expect.stringMatching(new RegExp(`^data\\.total\\.value: .*, got ${got}$`)),
    });
  });

  it("that cannot be read has the reason and the key of its bytes", () => {
    const rawBody = Buffer.from("<html>");
    const message = readLookup({ rawBody, covers: "body", clientId: "c-1", receivedAt });
    expect(message).toEqual(readMessage({ rawBody, covers: "body" }));
    expect(message).toMatchObject({ kind: "inadmissible", reason: "not valid JSON" });
  });

  it("is always about the clientId that was asked for", () => {
    const rawBody = Buffer.from(JSON.stringify({ ...statusBody("completed").data, clientId: "other" }));
    const message = readLookup({ rawBody, covers: "body", clientId: "c-1", receivedAt });
    expect(message).toMatchObject({ verified: { clientId: "c-1" } });
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

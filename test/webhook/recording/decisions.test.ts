import { type Payment } from "tillkit";
import { type PaymentReport } from "../../../src/model/payment-report.js";
import { indispensableFields } from "../../../src/model/signed-fields.js";
import { readMessage } from "../../../src/webhook/message/read-message.js";
import { type DecisionParts, Decisions, noteReport } from "../../../src/webhook/recording/decisions.js";
import { type Carrier } from "../../../src/webhook/recording/payment-events.js";
import { completedBody, pendingPayment } from "../../support/webhooks.js";

const now = "2026-11-20T12:00:00.000Z";
const parts: DecisionParts = {
  now,
  newId: () => "id-1",
  policy: { clientIdPrefix: undefined, confirms: true },
};
const receivedAt = "2026-11-20T10:00:05.000Z";
const webhook = { receiptId: "r-1", receivedAt, covers: "body" } as const;

function reportOf(data: object = {}, covers: "body" | typeof indispensableFields = "body"): PaymentReport {
  const message = readMessage({
    rawBody: Buffer.from(JSON.stringify(completedBody({ ...data }))),
    covers,
  });
  if (message.kind !== "payment") throw new Error("expected a payment report");
  return message;
}

function decided(payment: Payment, report: PaymentReport, carrier: Carrier = webhook) {
  const decisions = new Decisions([payment], parts);
  const { outcome } = decisions.decide(report, carrier);
  return { outcome, changed: decisions.payments.changed() };
}

describe("a report that is not applied", () => {
  const wrong = reportOf({ total: { value: "1470", currency: "KMF" } });
  const before = (at: string, over: Partial<Payment> = {}) =>
    pendingPayment({ reported: { status: "submitted", at, verified: ["status"] }, ...over });

  it("is what the service said last, where it is newer and the status is farther", () => {
    const { outcome, changed } = decided(before("2026-11-20T10:00:04.999Z"), wrong);
    expect(outcome).toBe("mismatch");
    expect(changed).toMatchObject([{ state: "pending", reported: { status: "completed", at: receivedAt } }]);
  });

  it("is what the service said last, where the service had said nothing", () => {
    const { changed } = decided(pendingPayment(), wrong);
    expect(changed).toMatchObject([{ status: "pending", reported: { status: "completed", at: receivedAt } }]);
  });

  it.each([
    ["is older", before("2026-11-20T10:00:05.001Z")],
    ["is the one that is noted", before(receivedAt)],
    ["says less than was applied", before("2026-11-20T10:00:04.999Z", { status: "completed" })],
  ])("changes nothing where it %s", (_, payment) => {
    expect(decided(payment, wrong)).toEqual({ outcome: "mismatch", changed: [] });
  });

  it("makes the lookup that it waits for due now", () => {
    const payment = pendingPayment({ nextLookupAt: "2026-11-21T10:00:00.000Z" });
    const covers = indispensableFields;
    const { outcome, changed } = decided(payment, reportOf({}, covers), { ...webhook, covers });
    expect(outcome).toBe("unconfirmed");
    expect(changed).toMatchObject([{ state: "pending", status: "pending", nextLookupAt: now }]);
  });

  it("waits for no lookup where the whole body is signed, or where it is the answer to one", () => {
    const covers = indispensableFields;
    expect(decided(pendingPayment(), reportOf()).outcome).toBe("applied");
    const answer = decided(pendingPayment(), reportOf({}, covers), { ...webhook, covers, kind: "lookup" });
    expect(answer.outcome).toBe("applied");
  });
});

describe("the note of a report", () => {
  const noted = (report: PaymentReport, kind?: "lookup" | "person") =>
    noteReport(pendingPayment({ service: { createdAt: "2026-11-20T09:58:59.000Z" } }), report, {
      receivedAt,
      ...(kind && { kind }),
    });

  it("proves what is signed, and adds the service's time to those that are known", () => {
    const { reported, service } = noted(reportOf());
    const all = ["status", "captured", "submittedAt", "providerId", "source"];
    expect(reported).toMatchObject({
      status: "completed",
      providerId: "MVK-778",
      at: receivedAt,
      verified: all,
    });
    expect(service).toEqual({
      createdAt: "2026-11-20T09:58:59.000Z",
      reportedAt: "2026-11-20T10:00:05.000Z",
    });
  });

  it("proves all of an answer to a lookup, and nothing that the answer does not have", () => {
    const report = reportOf({ source: undefined, providerId: "" }, indispensableFields);
    const { reported } = noted(report, "lookup");
    expect(reported).toEqual({
      status: "completed",
      captured: true,
      submittedAt: "2026-11-20T10:00:00.000Z",
      at: receivedAt,
      verified: ["status", "captured", "submittedAt"],
    });
  });

  it("proves nothing of what is not signed, and leaves out what has another form than the interface", () => {
    const report = reportOf({ source: { $gt: "" }, captured: "true" }, indispensableFields);
    const { reported, service } = noted(report);
    expect(reported).toEqual({
      status: "completed",
      submittedAt: "2026-11-20T10:00:00.000Z",
      providerId: "MVK-778",
      at: receivedAt,
      verified: ["status"],
    });
    expect(service).not.toHaveProperty("reportedAt");
  });

  it("proves the whole answer to a lookup, whose timestamp is the kit's own", () => {
    const { reported, service } = noted(reportOf({}, indispensableFields), "lookup");
    expect(reported?.verified).toEqual(["status", "captured", "submittedAt", "providerId", "source"]);
    expect(noted(reportOf(), "lookup").service).toEqual(service);
    expect(service).not.toHaveProperty("reportedAt");
  });

  it("adds the service's time of the creation, which only the answer to a lookup has", () => {
    const report = { ...reportOf(), createdAt: "2026-11-20T09:59:01.000Z" };
    const { service } = noted(report, "lookup");
    expect(service).toStrictEqual({ createdAt: "2026-11-20T09:59:01.000Z" });
    expect(noteReport(pendingPayment(), report, { receivedAt }).service).toEqual({
      createdAt: "2026-11-20T09:59:01.000Z",
      reportedAt: "2026-11-20T10:00:05.000Z",
    });
  });

  it("keeps the time of the first webhook, which an answer to a lookup does not set", () => {
    const later = { receivedAt: "2026-11-21T10:00:00.000Z" };
    const first = noteReport(pendingPayment(), reportOf(), { receivedAt });
    expect(noteReport(first, reportOf(), later).firstWebhookAt).toBe(receivedAt);
    expect(noted(reportOf(), "lookup")).not.toHaveProperty("firstWebhookAt");
  });

  it("adds no times where the service reported none", () => {
    const payment = noteReport(pendingPayment(), reportOf({}, indispensableFields), { receivedAt });
    expect(payment).not.toHaveProperty("service");
  });

  it("leaves out what the service left empty, signed or not", () => {
    const empty = { providerId: "", source: "" };
    for (const report of [reportOf(empty), reportOf(empty, indispensableFields)]) {
      const { reported } = noted(report);
      expect(reported).not.toHaveProperty("providerId");
      expect(reported).not.toHaveProperty("source");
      expect(reported?.verified).not.toContain("source");
    }
  });

  it("is not made of a person's evidence", () => {
    expect(noted(reportOf(), "person")).not.toHaveProperty("reported");
  });
});

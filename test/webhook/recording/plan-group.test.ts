import { type Payment } from "tillkit";
import { keysOf } from "../../../src/webhook/recording/plan-group.js";
import { completedBody, pendingPayment, statusBody, type WebhookBody } from "../../support/webhooks.js";
import { arrivalOf, now, plan, receivedAt } from "./plans.js";

const second: Partial<Payment> = { clientId: "c-2", serviceId: "s-2", open: false, replacedBy: "c-1" };
const secondBody = completedBody({ clientId: "c-2", id: "s-2" });

describe("the keys that a group locks", () => {
  it("name each payment, each service id and each event once", () => {
    const submitted = arrivalOf(statusBody("submitted"), "r-1");
    const completed = arrivalOf(completedBody(), "r-2");
    const copy = arrivalOf(completedBody(), "r-3");
    const other = arrivalOf("{", "r-4");
    expect(keysOf([submitted, completed, copy, other])).toEqual({
      clientIds: ["c-1"],
      serviceIds: ["64f0c0ffee64f0c0ffee64f0"],
      eventKeys: [submitted, completed, other].map(({ message }) => message.eventKey),
    });
  });
});

describe("the plan of a group", () => {
  it("writes a payment once, as its last webhook left it, with the events of both", () => {
    const arrivals = [
      arrivalOf(statusBody("submitted"), "r-1"),
      arrivalOf(completedBody({ providerId: "" }), "r-2"),
    ];
    const { changes, receipts } = plan([pendingPayment()], arrivals);
    expect(receipts).toEqual([
      { receiptId: "r-1", outcome: "applied", clientId: "c-1" },
      { receiptId: "r-2", outcome: "applied", clientId: "c-1" },
    ]);
    expect(changes.updated).toMatchObject([{ clientId: "c-1", status: "completed", updatedAt: now }]);
    // What the service left empty is not noted.
    expect(changes.updated[0]!.reported).not.toHaveProperty("providerId");
    expect(changes.events).toMatchObject([
      { id: "id-1", type: "payment.updated", recordedAt: now, clientId: "c-1" },
      { id: "id-2", type: "payment.completed", recordedAt: now, clientId: "c-1" },
    ]);
  });

  it("keeps each webhook with its status, and only an answer to a lookup with its kind", () => {
    const arrivals = [
      arrivalOf(statusBody("submitted"), "r-1"),
      arrivalOf(completedBody(), "r-2", { kind: "lookup" }),
    ];
    const { webhooks } = plan([pendingPayment()], arrivals).changes;
    expect(webhooks.map(({ eventKey: _, rawBody: __, ...webhook }) => webhook)).toStrictEqual([
      {
        receiptId: "r-1",
        outcome: "applied",
        clientId: "c-1",
        status: "submitted",
        covers: "body",
        receivedAt,
      },
      {
        receiptId: "r-2",
        outcome: "applied",
        clientId: "c-1",
        status: "completed",
        covers: "body",
        receivedAt,
        kind: "lookup",
      },
    ]);
    expect(webhooks.map(({ rawBody }) => rawBody)).toEqual(arrivals.map(({ rawBody }) => rawBody));
  });

  it.each([
    ["in the order of the payments", ["c-1", "c-2"]],
    ["in the other order", ["c-2", "c-1"]],
  ])("completes an order once, where two attempts are paid in one group, locked %s", (_, order) => {
    const both = { "c-1": pendingPayment(), "c-2": pendingPayment(second) };
    const { changes } = plan(
      order.map((clientId) => both[clientId as "c-1" | "c-2"]),
      [arrivalOf(completedBody(), "r-1"), arrivalOf(secondBody, "r-2")],
    );
    expect(changes.events).toMatchObject([
      { type: "payment.completed", clientId: "c-1" },
      { type: "payment.paid_twice", clientId: "c-2", payload: { firstClientId: "c-1" } },
      { type: "payment.paid_late", clientId: "c-2", payload: { because: "replaced" } },
    ]);
    expect(changes.events[0]!.payload).not.toHaveProperty("because");
  });

  it("says in a payment's events nothing of what the service said before", () => {
    const { changes } = plan(
      [pendingPayment()],
      [arrivalOf(statusBody("submitted"), "r-1"), arrivalOf(completedBody(), "r-2")],
    );
    for (const { payload } of changes.events) {
      const { payment } = payload as { payment: Payment };
      expect(payment).not.toHaveProperty("reported");
      expect(payment).not.toHaveProperty("service");
    }
    expect(changes.events[1]!.payload).toMatchObject({
      verified: { status: "completed" },
      untrusted: {},
      reportedBy: "webhook",
    });
  });

  it("counts copies of a stored webhook, and decides nothing again", () => {
    const arrivals = [arrivalOf(completedBody(), "r-2"), arrivalOf(completedBody(), "r-3")];
    const eventKey = arrivals[0]!.message.eventKey;
    const { changes, receipts } = plan([pendingPayment()], arrivals, { eventKeys: [eventKey] });
    expect(changes).toEqual({
      updated: [],
      webhooks: [],
      copies: [{ eventKey, count: 2 }],
      rematched: [],
      events: [],
    });
    expect(receipts.map(({ outcome }) => outcome)).toEqual(["duplicate", "duplicate"]);
  });

  it.each<[string, WebhookBody | string, object, object]>([
    [
      "of another type",
      { topic: "payout.sent", timestamp: receivedAt, type: "payout", data: {} },
      { outcome: "unrecognised", reason: "type payout, topic payout.sent" },
      {
        type: "webhook.unrecognised",
        payload: { topic: "payout.sent", messageType: "payout", receiptId: "r-1" },
      },
    ],
    [
      "that cannot be read",
      "{",
      { outcome: "inadmissible", reason: "not valid JSON" },
      { type: "webhook.inadmissible", payload: { reason: "not valid JSON", receiptId: "r-1" } },
    ],
  ])("keeps a webhook %s once, with its reason and an event of no payment", (_, body, kept, event) => {
    const arrivals = [arrivalOf(body, "r-1"), arrivalOf(body, "r-2")];
    const { changes, receipts } = plan([], arrivals);
    expect(changes.webhooks).toMatchObject([{ receiptId: "r-1", ...kept }]);
    expect(changes.webhooks[0]).not.toHaveProperty("clientId");
    expect(changes.events).toStrictEqual([{ id: "id-1", recordedAt: now, ...event }]);
    expect(changes.copies).toMatchObject([{ count: 1 }]);
    expect(receipts).toStrictEqual([
      { receiptId: "r-1", outcome: (kept as { outcome: string }).outcome },
      { receiptId: "r-2", outcome: "duplicate" },
    ]);
  });

  it("says each difference of a mismatch in the reason that is stored", () => {
    const body = completedBody({ total: { value: "1470", currency: "XAF" } });
    const { changes } = plan([pendingPayment()], [arrivalOf(body, "r-1")]);
    expect(changes.webhooks).toMatchObject([
      {
        outcome: "mismatch",
        reason: "total.value: expected 1475, got 1470; total.currency: expected KMF, got XAF",
      },
    ]);
    expect(changes.events).toMatchObject([
      {
        type: "payment.mismatched",
        payload: { receiptId: "r-1", reportedBy: "webhook", differences: [{}, {}] },
      },
    ]);
  });

  it("raises nothing for a late status that the kit knows, and an event for one that it does not know", () => {
    const paid = pendingPayment({ state: "completed", status: "completed", open: false });
    const { changes } = plan(
      [paid],
      [arrivalOf(statusBody("submitted"), "r-1"), arrivalOf(statusBody("reversed"), "r-2")],
    );
    expect(changes.webhooks).toMatchObject([
      { outcome: "stale", reason: "submitted after completed" },
      { outcome: "stale", reason: "reversed after completed" },
    ]);
    expect(changes.events).toMatchObject([
      {
        type: "payment.reported",
        payload: { payment: { clientId: "c-1" }, verified: { status: "reversed" }, reportedBy: "webhook" },
      },
    ]);
  });
});

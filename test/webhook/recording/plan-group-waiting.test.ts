import { indispensableFields } from "../../../src/model/signed-fields.js";
import { type WebhookRecord } from "../../../src/store/index.js";
import { completedBody, pendingPayment } from "../../support/webhooks.js";
import { arrivalOf, now, plan } from "./plans.js";

const policy = { clientIdPrefix: undefined, confirms: true };
const secondBody = completedBody({ clientId: "c-2", id: "s-2" });

describe("a webhook that waits", () => {
  it("is raised later, by the sweep", () => {
    const covers = indispensableFields;
    const arrivals = [arrivalOf(secondBody, "r-1"), arrivalOf(completedBody(), "r-2", { covers })];
    const { changes } = plan([pendingPayment()], arrivals, { policy });
    expect(changes.webhooks).toMatchObject([{ outcome: "unmatched" }, { outcome: "unconfirmed" }]);
    expect(changes.events).toEqual([]);
  });

  it("is not raised where it belongs to another shop", () => {
    const own = { ...policy, clientIdPrefix: "shop-" };
    const { changes } = plan([], [arrivalOf(secondBody, "r-1")], { policy: own });
    expect(changes.webhooks).toMatchObject([
      { outcome: "foreign", reason: "a clientId without the prefix shop-" },
    ]);
    expect(changes.events).toEqual([]);
  });
});

describe("the answer to a lookup that a webhook waits for", () => {
  const lookup = arrivalOf(completedBody(), "r-2", { kind: "lookup" });
  const eventKey = lookup.message.eventKey;
  const waiting: WebhookRecord = {
    receiptId: "r-1",
    eventKey,
    outcome: "unconfirmed",
    clientId: "c-1",
    status: "completed",
    rawBody: lookup.rawBody,
    covers: indispensableFields,
    receivedAt: "2026-11-20T10:00:04.000Z",
  };
  const planning = { eventKeys: [eventKey], unconfirmed: new Map([[eventKey, waiting]]) };

  it("decides this webhook and is counted as its copy, instead of being stored, and its receipt names what is stored", () => {
    const { changes, receipts } = plan([pendingPayment()], [lookup], planning);
    expect(receipts).toEqual([{ receiptId: "r-1", outcome: "applied", clientId: "c-1" }]);
    expect(changes).toMatchObject({
      updated: [{ state: "completed" }],
      webhooks: [],
      copies: [{ eventKey, count: 1 }],
      rematched: [{ receiptId: "r-1", outcome: "applied", reason: "confirmed by a lookup", decidedAt: now }],
      events: [{ type: "payment.completed", payload: { reportedBy: "lookup" } }],
    });
  });

  it("says why it decides otherwise", () => {
    const payment = pendingPayment({ total: { value: "1500", currency: "KMF" } });
    const { changes } = plan([payment], [lookup], planning);
    expect(changes.rematched).toEqual([
      {
        receiptId: "r-1",
        outcome: "mismatch",
        reason: "total.value: expected 1500, got 1475",
        decidedAt: now,
      },
    ]);
  });

  it("is not what a further webhook says: it is a copy", () => {
    const { changes } = plan([pendingPayment()], [arrivalOf(completedBody(), "r-3")], planning);
    expect(changes).toMatchObject({ updated: [], rematched: [], copies: [{ eventKey, count: 1 }] });
  });
});

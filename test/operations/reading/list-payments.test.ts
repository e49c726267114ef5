import { MemoryStore, type Payment, type PaymentQuery } from "tillkit";
import { keepClaim } from "../../../src/checkout/payment-claims.js";
import { listPayments } from "../../../src/operations/reading/list-payments.js";
import { saved } from "../../../src/store/exam/checks/steps.js";
import { pendingPayment } from "../../support/webhooks.js";

const states = ["creating", "pending", "uncertain", "failed", "canceled", "completed"] as const;
const reportedAs = (providerId: string): Partial<Payment> => ({
  reported: { status: "completed", providerId, at: "2026-11-20T10:00:00.000Z", verified: [] },
});
const numbered = (n: number, over: Partial<Payment> = {}) =>
  pendingPayment({ clientId: `c-${n}`, reference: `${n}`, serviceId: `s-${n}`, open: false, ...over });
const cursorWith = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

describe("a list of payments", () => {
  it.each(states)("selects those in the state %s", async (state) => {
    const store = new MemoryStore();
    await saved(store, { created: states.map((each, n) => numbered(n, { state: each })) });
    const { payments } = await listPayments(store, { state });
    expect(payments.map((payment) => payment.state)).toEqual([state]);
  });

  it("has those whose customers gave a number in the order that was asked for, and in pages", async () => {
    const store = new MemoryStore();
    const created = [1, 2, 3].map((n) => numbered(n, { createdAt: `2026-11-20T10:0${n}:00.000Z` }));
    await saved(store, { created });
    const at = "2026-11-20T11:00:00.000Z";
    for (const payment of created) await keepClaim(store, payment, { number: "MVK-1", at });
    for (const [first, expected] of [
      ["newest", ["c-3", "c-2", "c-1"]],
      ["oldest", ["c-1", "c-2", "c-3"]],
    ] as const) {
      const page = await listPayments(store, { claimed: "mvk 1", first, limit: 2 });
      const rest = await listPayments(store, { claimed: "mvk 1", first, limit: 2, cursor: page.cursor });
      expect([...page.payments, ...rest.payments].map(({ clientId }) => clientId)).toEqual(expected);
      expect(rest).not.toHaveProperty("cursor");
    }
  });

  it.each<[string, PaymentQuery | object]>([
    ["state must be one of creating, pending", { state: "open" }],
    ["from must be a Date", { from: "2026-11-01" }],
    ["to must be a Date", { to: new Date("never") }],
    ["from must be before to", { from: new Date("2026-11-02"), to: new Date("2026-11-01") }],
    ["providerId must be", { providerId: 778 }],
    ["cursor must be", { cursor: cursorWith(["2026-11-20T10:00:00.000Z", 2]) }],
    ["cursor must be", { cursor: cursorWith([1, "c-1"]) }],
    ["cursor must be", { cursor: cursorWith({}) }],
    ["cursor must be", { cursor: cursorWith(["2026-11-20T10:00:00.000Z", "ç-1"]) }],
    ["cursor must be", { cursor: cursorWith(["2026-11-20T10:00:00.000Z", "c\0"]) }],
    ["statee", { statee: "open" }],
  ])("is refused with the name of the wrong condition: %s", async (message, query) => {
    await expect(listPayments(new MemoryStore(), query)).rejects.toMatchObject({
      code: "query_invalid",
      message: expect.stringContaining(message) as string,
    });
  });

  it("has everything before the last time, and from the first one, that a Date can be", async () => {
    const store = new MemoryStore();
    await saved(store, { created: [numbered(1)] });
    const [from, to] = [new Date(-8.64e15), new Date(8.64e15)];
    expect((await listPayments(store, { from, to })).payments).toHaveLength(1);
    expect((await listPayments(store, { from: to })).payments).toEqual([]);
  });

  it("shows payments with and without a providerId where none is asked for", async () => {
    const store = new MemoryStore();
    await saved(store, { created: [numbered(1, reportedAs("MVK-778")), numbered(2)] });
    expect((await listPayments(store, {})).payments.map(({ clientId }) => clientId)).toEqual(["c-2", "c-1"]);
  });
});

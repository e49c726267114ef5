import { localServer } from "../../service/local-server.js";
import { closeAll } from "../../support/kit.js";
import { completedBody, statusBody, type WebhookBody } from "../../support/webhooks.js";
import { openEndpoint, type Endpoint, type Known } from "./endpoint.js";
import { carelesslySigned, fields } from "./fields.js";

afterEach(closeAll);

const openKit = (payments?: readonly Known[]) =>
  openEndpoint({ signature: fields }, payments ? { payments } : {});

/** Posts these one by one, correctly signed. Resolves with the outcomes of those that were not copies. */
async function outcomesOf(kit: Endpoint, ...bodies: WebhookBody[]) {
  const before = kit.webhooks().length;
  for (const body of bodies)
    expect((await kit.post(JSON.stringify(body), carelesslySigned(body))).status).toBe(200);
  return kit
    .webhooks()
    .slice(before)
    .map(({ outcome }) => outcome);
}

it("Only covered fields stand as verified; the rest is under untrusted: in the event of a handler", async () => {
  const kit = await openKit();
  const seen = new Promise((resolve) => kit.payments.on("payment.completed", resolve, { name: "look" }));
  const claims = {
    topic: "payment.failed",
    type: "payout",
    timestamp: 7,
    captured: false,
    providerId: ["x"],
  };
  const { topic, type, timestamp, ...data } = claims;
  await outcomesOf(kit, completedBody(data, { topic, type, timestamp }));
  expect(await seen).toMatchObject({
    verified: {
      id: "64f0c0ffee64f0c0ffee64f0",
      clientId: "c-1",
      status: "completed",
      "total.value": "1475",
      "total.currency": "KMF",
      submittedAt: "2026-11-20T10:00:00.000Z",
    },
    untrusted: { ...claims, source: "MVK" },
  });
  const { verified } = (await seen) as { verified: object };
  expect(Object.keys(verified)).toHaveLength(6);
});

it("Deduplicate on signed fields only: no unsigned field makes a copy look new, or a new webhook look like a copy", async () => {
  const kit = await openKit();
  const copies = [
    completedBody(),
    completedBody({ source: "HOL", providerId: null }),
    completedBody({ captured: false }, { topic: "other", type: "other", timestamp: "2027-01-01T00:00:00Z" }),
    completedBody({ eventId: "new", receiptId: "new" }, { id: "new", deliveryId: "new" }),
    completedBody({ total: { value: "1475.0", currency: "KMF", tax: "1" } }),
  ];
  // 1475.0 is 1475, but another string under the signature.
  expect(await outcomesOf(kit, ...copies)).toEqual(["applied"]);
  expect(kit.copies()).toBe(copies.length - 1);
  const later = completedBody({ submittedAt: "2026-11-20T10:00:00.001Z" });
  // Perhaps another transfer: a person looks.
  expect(await outcomesOf(kit, later)).toEqual(["mismatch"]);
});

it("completed is final; a late failed or pending is recorded, not applied: and neither is any other status", async () => {
  const kit = await openKit();
  await outcomesOf(kit, completedBody());
  const before = await kit.payments.find("c-1");
  const late = ["pending", "failed", "canceled", "init", "captured", "refunded", "Completed"];
  expect(await outcomesOf(kit, ...late.map((status) => statusBody(status)))).toEqual(late.map(() => "stale"));
  expect(await kit.payments.find("c-1")).toEqual(before);
  expect(kit.events().map(({ type }) => type)).toEqual([
    "payment.completed",
    // Two statuses that the kit does not know raise events.
    "payment.reported",
    "payment.reported",
  ]);
});

const orders = [
  {},
  { clientId: "c-2", reference: "order-2", serviceId: "s-2", total: { value: "9", currency: "EUR" } },
  { clientId: "c-3", reference: "order-3", serviceId: undefined },
];

it.each<[string, Record<string, unknown>, string]>([
  ["another value", { total: { value: "1474", currency: "KMF" } }, "mismatch"],
  ["a value a thousand times as large", { total: { value: "1475000", currency: "KMF" } }, "mismatch"],
  ["another currency", { total: { value: "1475", currency: "XAF" } }, "mismatch"],
  ["another service id", { id: "64f0c0ffee64f0c0ffee64f1" }, "mismatch"],
  ["another payment's service id", { id: "s-2" }, "mismatch"],
  ["an unbound payment, under a bound service id", { clientId: "c-3" }, "mismatch"],
  ["an unknown clientId", { clientId: "c-9", id: "s-9" }, "unmatched"],
])(
  "Match clientId, value and currency against the stored payment; bind a service id to one payment once: %s",
  async (_, data, outcome) => {
    const kit = await openKit(orders);
    expect(await outcomesOf(kit, completedBody(data))).toEqual([outcome]);
    for (const clientId of ["c-1", "c-2", "c-3"])
      expect(await kit.payments.find(clientId)).toMatchObject({ state: "pending" });
    // The sweep raises an unmatched webhook after the time in which its payment could appear.
    const raised = outcome === "mismatch" ? ["payment.mismatched"] : [];
    expect(kit.events().map(({ type }) => type)).toEqual(raised);
    expect((await kit.payments.health()).counts).toMatchObject({ parked: outcome === "unmatched" ? 1 : 0 });
  },
);

it("Refuse, at creation, a clientId outside [A-Za-z0-9._:-]{1,64}: nothing is stored or sent", async () => {
  const service = await localServer((response) => response.destroy());
  const kit = await openEndpoint({ service: { baseUrl: service.url, accessToken: "a-token" } });
  const outside = ["", "a".repeat(65), "a b", "a,b", "a/b", "a~b", "é", "a\u0000", "a\n", "a%2f", "<b>", "а"];
  for (const clientId of outside)
    await expect(
      kit.payments.create({ reference: "order-9", total: { value: "1", currency: "KMF" }, clientId }),
    ).rejects.toMatchObject({ code: "client_id_invalid" });
  expect(service.received).toEqual([]);
  await service.close();
});

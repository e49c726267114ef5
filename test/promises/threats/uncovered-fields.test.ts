import { fc } from "../../support/property.js";
import { closeAll } from "../../support/kit.js";
import { completedBody, statusBody, type WebhookBody } from "../../support/webhooks.js";
import { openEndpoint } from "./endpoint.js";
import { carelesslySigned, fields } from "./fields.js";

jest.setTimeout(60_000);
afterEach(closeAll);

/** One webhook for each possible outcome. */
const webhooks: WebhookBody[] = [
  completedBody(),
  statusBody("submitted", { submittedAt: null }),
  statusBody("failed"),
  statusBody("under_review"),
  completedBody({ total: { value: "1", currency: "KMF" } }),
  completedBody({ id: "another" }),
  completedBody({ clientId: "c-9", id: "s-9" }),
  completedBody({ total: { value: "1e3", currency: "KMF" } }),
  completedBody({ clientId: "c-2", id: "s-2" }),
  statusBody("refunded", { clientId: "c-2", id: "s-2" }),
];

const known = [
  {},
  {
    clientId: "c-2",
    reference: "order-2",
    serviceId: "s-2",
    state: "completed",
    status: "completed",
    open: false,
  },
] as const;

/** Returns everything that is recorded as decided, without new ids and without unsigned fields. */
async function decided(bodies: readonly string[], signature: Record<string, string>) {
  const now = () => new Date("2026-11-20T10:00:00.000Z");
  const kit = await openEndpoint({ signature: fields, now, dispatch: false }, { payments: known });
  const statuses = [];
  for (const body of bodies) statuses.push((await kit.post(body, signature)).status);
  const payments = await Promise.all(["c-1", "c-2", "c-9"].map((clientId) => kit.payments.find(clientId)));
  const rows = kit.webhooks().map(({ receiptId: _, rawBody: __, ...row }) => row);
  const events = kit
    .events()
    .map(({ type, clientId, payload: { untrusted: _, receiptId: __, ...payload } }) => ({
      type,
      clientId,
      payload,
    }));
  const copies = kit.copies();
  await closeAll();
  return { statuses, payments, rows, events, copies };
}

const anything = fc.jsonValue({ maxDepth: 2 });
/** Fields of the interface document that the default list covers. */
const taken = ["id", "clientId", "status", "submittedAt", "total", "value", "currency", "data"];
const unknown = fc.dictionary(
  fc.oneof(
    fc.string(),
    fc.constantFrom("__proto__", "constructor", "Status", "status ", "merchantId", "eventKey"),
  ),
  anything,
  { maxKeys: 4 },
);
const unsigned = fc.record({
  top: fc.record({ topic: anything, type: anything, timestamp: anything }, { requiredKeys: [] }),
  data: fc.record({ captured: anything, providerId: anything, source: anything }, { requiredKeys: [] }),
  moreTop: unknown,
  moreData: unknown,
  moreTotal: unknown,
  backwards: fc.boolean(),
  indent: fc.constantFrom("", " ", "\t"),
});

type Unsigned = typeof unsigned extends fc.Arbitrary<infer Value> ? Value : never;

/** Returns the webhook with other unsigned fields. */
function rewritten(body: WebhookBody, change: Unsigned): string {
  const without = (more: object) => Object.entries(more).filter(([key]) => !taken.includes(key));
  const { topic: _, type: __, timestamp: ___, data, ...top } = { ...body };
  const { captured: ____, providerId: _____, source: ______, total, ...signed } = data;
  const ordered = (...entries: [string, unknown][]) =>
    Object.fromEntries(change.backwards ? entries.toReversed() : entries);
  return JSON.stringify(
    ordered(...Object.entries({ ...top, ...change.top }), ...without(change.moreTop), [
      "data",
      ordered(...Object.entries({ ...signed, ...change.data }), ...without(change.moreData), [
        "total",
        ordered(...Object.entries(total as object), ...without(change.moreTotal)),
      ]),
    ]),
    undefined,
    change.indent,
  );
}

it("Only covered fields stand as verified; the rest is under untrusted: no change of an unsigned field changes a recorded decision", async () => {
  const outcomes = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...webhooks), unsigned, async (body, change) => {
      const signature = carelesslySigned(body);
      const genuine = JSON.stringify(body);
      const other = rewritten(body, change);
      const expected = await decided([genuine, genuine], signature);
      expect(expected.statuses).toEqual([200, 200]);
      // Alone, before the genuine one, and after it.
      expect(await decided([other, other], signature)).toEqual(expected);
      expect(await decided([other, genuine], signature)).toEqual(expected);
      expect(await decided([genuine, other], signature)).toEqual(expected);
      for (const { outcome } of expected.rows) outcomes.add(outcome);
    }),
    { numRuns: 120 },
  );
  expect(outcomes).toEqual(new Set(["applied", "mismatch", "unmatched", "inadmissible", "stale"]));
});

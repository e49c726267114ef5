import { fc } from "../../support/property.js";
import { errorFixes, MemoryStore, type PaymentRequest, type TillkitError } from "tillkit";
import { closeAll, testKit } from "../../support/kit.js";
import { willingService } from "../../support/willing-service.js";

afterEach(closeAll);

const anything = fc.anything({
  withBigInt: true,
  withDate: true,
  withMap: true,
  withNullPrototype: true,
  withObjectString: true,
  withTypedArray: true,
  withUnicodeString: true,
} as fc.ObjectConstraints);
const functions = fc.constantFrom<unknown>(
  () => 1,
  Symbol("s"),
  { f: () => 1 },
  { s: Symbol("s") },
  { toJSON: () => 1n },
);
const odd = fc.oneof({ weight: 3, arbitrary: anything }, functions);
const or = (right: string) => fc.oneof({ weight: 3, arbitrary: fc.constant<unknown>(right) }, odd);

/** A request that an application makes of customer input: partly valid, and otherwise anything. */
const request = fc.oneof(
  odd,
  fc.record(
    {
      reference: fc.oneof(fc.uuid(), odd),
      total: fc.oneof(fc.record({ value: or("1475"), currency: or("KMF") }), odd),
      clientId: fc.oneof(fc.uuid(), odd),
      locale: or("fr"),
      metadata: fc.oneof(fc.dictionary(fc.string(), odd, { maxKeys: 3 }), odd),
    },
    { requiredKeys: ["reference", "total"] },
  ),
);

/** Any JSON value. */
const asJson = (value: unknown): unknown =>
  value === undefined ? undefined : JSON.parse(JSON.stringify(value));

it("payments.create makes a payment or throws an error with a code, for any input", async () => {
  const { sent, options } = willingService();
  const payments = testKit({ store: new MemoryStore(), service: options });
  let created = 0;
  let asked = 0;
  await fc.assert(
    fc.asyncProperty(request, async (drawn) => {
      // A second request with one reference would return the first payment.
      const given = hasOwnText(drawn) ? { ...drawn, reference: `${drawn.reference}${asked++}` } : drawn;
      const before = sent.length;
      const outcome: unknown = await payments
        .create(given as PaymentRequest)
        .catch((error: unknown) => error);
      const code = outcome instanceof Error ? (outcome as TillkitError).code : undefined;
      const isRefused = code !== undefined && code in errorFixes;
      expect({ outcome, isRefused, sent: sent.length }).toEqual({
        outcome,
        isRefused: outcome instanceof Error,
        sent: before + Number(!isRefused),
      });
      if (isRefused) return;
      created += 1;
      const { reference, total, metadata } = given as PaymentRequest;
      const payment = await payments.find((outcome as { clientId: string }).clientId);
      expect(payment).toMatchObject({ reference, total, state: "pending" });
      expect(asJson(payment?.metadata)).toEqual(asJson(metadata));
    }),
    { numRuns: 2000 },
  );
  expect(created).toBeGreaterThan(20);
});

function hasOwnText(value: unknown): value is { reference: string } {
  return (
    typeof value === "object" && value !== null && "reference" in value && typeof value.reference === "string"
  );
}

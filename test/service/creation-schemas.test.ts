import { creationRequestSchema, creationResponseSchema } from "../../src/service/creation-schemas.js";
import { envelope, request } from "./creation.js";

/** Returns the paths that the schema refuses. */
const refusedPaths = (fields: Record<string, unknown>) =>
  creationResponseSchema.safeParse(envelope(fields)).error?.issues.map(({ path }) => path.join(".")) ?? [];

describe("the amount", () => {
  it.each(["0", "1475", "10.5", "0.0001", "9999999999999999"])("%s is accepted", (value) => {
    expect(refusedPaths({ value })).toEqual([]);
  });

  it.each([
    "x1475",
    "1475x",
    " 1475",
    "1475 ",
    "1475\n",
    "-1475",
    "+1475",
    "01475",
    "1475.",
    ".5",
    "1.00000",
    "12345678901234567",
    "1,475",
    "1e3",
    "",
    1475,
  ])("%j is refused", (value) => {
    expect(refusedPaths({ value })).toEqual(["data.purchase.total.value"]);
    const { cancelUrl, successUrl, clientId, total } = request;
    const body = { purchase: { total: { ...total, value } }, clientId, cancelUrl, successUrl };
    expect(creationRequestSchema.safeParse(body).success).toBe(false);
  });
});

describe("the currency", () => {
  it.each(["K", "K".repeat(16)])("%s is accepted", (currency) => {
    expect(refusedPaths({ currency })).toEqual([]);
  });

  it.each(["", "K".repeat(17), null])("%j is refused", (currency) => {
    expect(refusedPaths({ currency })).toEqual(["data.purchase.total.currency"]);
  });
});

describe.each(["id", "status"])("the %s", (field) => {
  it.each(["a", "a b", "é😀", "a".repeat(128)])("%s is accepted", (value) => {
    expect(refusedPaths({ [field]: value })).toEqual([]);
  });

  it.each(["", "\u0000p", "p\u0000", "p\nq", "\ud800p", "p\udc00", "a".repeat(129), 7])(
    "%j is refused",
    (value) => {
      expect(refusedPaths({ [field]: value })).toEqual([`data.${field}`]);
    },
  );
});

describe("the checkout address", () => {
  const start = "https://checkout.example/";

  it("may have 2048 characters", () => {
    expect(refusedPaths({ billing: { submitUrl: start.padEnd(2048, "a") } })).toEqual([]);
  });

  it.each([start.padEnd(2049, "a"), "http://checkout.example/", "x-https://localhost/"])(
    "is refused: %.40s",
    (submitUrl) => {
      expect(refusedPaths({ billing: { submitUrl } })).toEqual(["data.billing.submitUrl"]);
    },
  );
});

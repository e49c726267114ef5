import { createPayments, hmacSignature, MemoryStore, type Payments } from "tillkit";
import { testKit } from "../support/kit.js";

const period = { from: "2024-05-01T00:00:00Z", to: "2024-06-01T00:00:00Z" };
const row = { clientId: "c1", serviceId: "s1", value: "5.00", currency: "EUR", status: "paid" };

describe("payments.compareStatement", () => {
  let payments: Payments;
  beforeEach(() => {
    payments = createPayments({
      publicUrl: "https://shop.example/payments",
      service: { baseUrl: "https://pay.invalid", accessToken: "a-token" },
      signature: hmacSignature({ secret: "whsec_9f2c4b7a1d8e3f605c9b2a7d4e1f8c3b" }),
      store: new MemoryStore(),
      logger: false,
    });
  });
  afterEach(() => payments.close());

  it("throws for a wrong option before anything is read", () => {
    const rows = jest.fn();
    expect(() => payments.compareStatement({ [Symbol.iterator]: rows }, { edgeMs: -1 })).toThrow(
      expect.objectContaining({ code: "option_invalid" }),
    );
    expect(rows).not.toHaveBeenCalled();
  });

  it("sums up a run of which some findings were read", async () => {
    const run = payments.compareStatement([row, row, { ...row, clientId: "c2", serviceId: "s2" }], {
      period,
    });
    const first = await run[Symbol.asyncIterator]().next();
    expect(first.value).toMatchObject({ kind: "missing_here", clientId: "c1" });
    expect((await run.summary()).rows.read).toBe(3);
    // A second call reads nothing more.
    expect(await run.summary()).toBe(await run.summary());
  });

  it("sums up a run of which no finding was read", async () => {
    expect((await payments.compareStatement([row], { period }).summary()).rows.read).toBe(1);
  });

  it("compares no rows of other shops, by the prefix of the kit or of the run", async () => {
    const store = new MemoryStore();
    const kit = testKit({ store, clientIdPrefix: "north-" });
    const rows = [
      { ...row, clientId: "north-1" },
      { ...row, clientId: "south-1", serviceId: "s2" },
    ];
    const kindsOf = async (over: object) => {
      const kinds: string[] = [];
      for await (const { kind } of kit.compareStatement(rows, { period, ...over })) kinds.push(kind);
      return kinds;
    };
    expect(await kindsOf({})).toEqual(["missing_here"]);
    expect(await kindsOf({ clientIdPrefix: "nobody-" })).toEqual([]);
    await kit.close();
  });

  it("has no summary of a run that was stopped", async () => {
    const run = payments.compareStatement([row], { period });
    for await (const finding of run) if (finding) break;
    await expect(run.summary()).rejects.toThrow("The run was stopped early");
  });

  it("fails with the error of its rows", async () => {
    const rows = (function* () {
      yield row;
      throw new Error("The disk is gone.");
    })();
    await expect(payments.compareStatement(rows, { period }).summary()).rejects.toThrow("The disk is gone.");
  });
});

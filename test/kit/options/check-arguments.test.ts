import { closeAll, testKit } from "../../support/kit.js";

afterEach(closeAll);

type Anything = Record<string, (...args: unknown[]) => unknown>;
const wrong = [undefined, null, 0, "x", [], Symbol("x")];

describe("a method without its argument, or with one of another kind", () => {
  it.each([
    ["adopt", "option_invalid"],
    ["resolve", "resolution_invalid"],
    ["figures", "query_invalid"],
    ["attend", "resolution_invalid", "overdue:c-1"],
    ["pauseHandler", "option_invalid", "books"],
    ["resumeHandler", "option_invalid", "books"],
    ["limitHandler", "option_invalid", "books"],
    ["prune", "query_invalid"],
    ["receiveWebhook", "option_invalid"],
    ["handleReturn", "option_invalid"],
    ["claimPaid", "option_invalid"],
  ])("%s rejects with %s", async (name, code, ...before: unknown[]) => {
    const payments = testKit() as unknown as Anything;
    for (const given of wrong)
      await expect(payments[name]!(...before, given)).rejects.toMatchObject({
        code,
        message: expect.stringContaining(`payments.${name}: `),
      });
  });

  it.each(["list", "replay", "replayDispatches", "attention"])(
    "%s selects nothing by a text, which would select everything",
    async (name) => {
      const payments = testKit() as unknown as Anything;
      for (const given of wrong.slice(1))
        await expect(payments[name]!(given)).rejects.toMatchObject({ code: "query_invalid" });
      await expect(payments[name]!()).resolves.toBeDefined();
    },
  );

  it.each(["find", "history"])(
    "%s takes no number, which MySQL takes for equal to a clientId",
    async (name) => {
      const payments = testKit() as unknown as Anything;
      for (const given of [undefined, null, 0, 1, true, []])
        await expect(payments[name]!(given)).rejects.toMatchObject({ code: "query_invalid" });
    },
  );

  it.each([
    ["history", "query_invalid", "c-1"],
    ["retireHandler", "option_invalid", "books"],
    ["start", "option_invalid"],
  ])(
    "%s takes nothing but an object as its last argument, which may be left out",
    async (name, code, ...before) => {
      const payments = testKit() as unknown as Anything;
      for (const given of wrong.slice(1))
        await expect(payments[name]!(...before, given)).rejects.toMatchObject({ code });
      await payments[name]!(...before);
    },
  );

  it.each([
    ["onPaymentCompleted", []],
    ["onAny", []],
    ["on", ["payment.completed"]],
    ["on", ["dispatch.dead"]],
  ])("%s registers no handler that is no function", (name, before) => {
    const payments = testKit() as unknown as Anything;
    for (const given of [undefined, null, {}, "fulfil"])
      expect(() => payments[name]!(...before, given)).toThrow(
        expect.objectContaining({
          code: "option_invalid",
          message: expect.stringContaining("must be a function"),
        }),
      );
    expect(() => payments["on"]!(undefined, () => {})).toThrow("argument 1 must be a string");
  });

  it("compares no statement that is no rows", () => {
    const payments = testKit() as unknown as Anything;
    for (const given of [undefined, null, 0, "clientId,value", {}])
      expect(() => payments["compareStatement"]!(given)).toThrow(
        expect.objectContaining({ code: "option_invalid" }),
      );
    expect(() => payments["compareStatement"]!([], null)).toThrow("argument 2 must be an object");
  });
});

import { fc } from "../support/property.js";
import { compareStatement, rowProblemCodes, type StatementRow } from "tillkit/statement";
import { checkRow } from "../../src/statement/statement-row.js";
import { may, storeOf } from "./support/stored.js";

const paid = new Set(["completed"]);
const good: StatementRow = { clientId: "a", value: "10.50", currency: "EUR" };
const checked = (over: object) => checkRow({ ...good, ...over }, 7, paid);

describe("a row of a statement", () => {
  it.each([
    ["id_missing", { clientId: "" }],
    ["id_invalid", { clientId: "a\u0000b" }],
    ["id_invalid", { serviceId: "x".repeat(201) }],
    ["currency_invalid", { currency: "eur" }],
    ["currency_invalid", { currency: "" }],
    ["value_invalid", { value: "--10" }],
    ["value_invalid", { value: "(10" }],
    ["value_invalid", { fee: "1e3" }],
    ["value_decimals", { net: "-10.505" }],
    ["id_missing", { clientId: "", value: "-10" }],
    ["id_invalid", { clientId: "", payout: "x".repeat(201) }],
    ["value_invalid", { value: "" }],
    ["value_invalid", { value: "1,475" }],
    ["value_invalid", { value: "1e3" }],
    ["value_invalid", { value: 10 }],
    ["value_decimals", { value: "10.505" }],
    ["value_decimals", { value: "10.5", currency: "KMF" }],
    ["text_invalid", { source: "x".repeat(101) }],
    ["text_invalid", { status: "x".repeat(101) }],
    ["time_invalid", { time: "2024-02-30T10:00:00Z" }],
    ["time_invalid", { time: "01/05/2024" }],
  ])("is bad by %s with %j", (code, over) => {
    expect(checked(over)).toMatchObject({ line: 7, problem: { code } });
  });

  it.each([
    ["3000,00", true],
    ["3 000.00", true],
    ["", false],
    ["1e3", false],
  ])("is bad with an amount that may have other separators: %j", (value, isNamed) => {
    const { message } = (checked({ value }) as { problem: { message: string } }).problem;
    expect(message.includes("(--decimal, --group)")).toBe(isNamed);
  });

  it("is paid without a status, and with a status that means paid, in any case", () => {
    expect(checked({})).toMatchObject({ paid: true });
    expect(checked({ status: "Completed" })).toMatchObject({ paid: true });
    expect(checked({ status: "failed" })).toMatchObject({ paid: false });
  });

  it.each(["-10", "\u221210", "- 10.00", "(10.00)"])("is a refund with the amount %s", (value) => {
    expect(checked({ value })).toMatchObject({
      kind: "refund",
      value: expect.stringMatching(/^10/),
      paid: true,
    });
    expect(checked({ value, status: "Reversed" })).toMatchObject({ kind: "refund", paid: true });
    expect(checked({ value, status: "pending" })).toMatchObject({ kind: "refund", paid: false });
  });

  it("is a payout where it names no payment", () => {
    expect(checked({ clientId: "", payout: "p-1", value: "(10)" })).toMatchObject({
      kind: "payout",
      value: "-10",
    });
    expect(checked({ payout: "p-1" })).toMatchObject({ kind: "payment" });
  });

  it("has its time converted to UTC", () => {
    expect(checked({ time: "2024-05-01T02:00:00+03:00" })).toMatchObject({
      time: "2024-04-30T23:00:00.000Z",
    });
  });

  it.each(["9999-12-31T23:59:59-10:00", "0000-01-01T00:00:00+10:00"])(
    "has no time like %s, after which no stored time would come",
    (time) => {
      expect(checked({ time })).toMatchObject({ problem: { code: "time_invalid" } });
    },
  );

  it("is bad where the provider's number is no text", async () => {
    const row = { providerId: 778 as never, value: "5", currency: "KMF", time: "2024-05-10T10:00:00Z" };
    const problem = { code: "id_invalid", message: "providerId of type number is not an id." };
    const rows = [row, { ...row, clientId: "a" }];
    const run = compareStatement(await storeOf(), rows, { period: may });
    const problems = [];
    for await (const finding of run) problems.push(finding.problem);
    expect(problems).toEqual([problem, problem]);
  });

  it("can be checked whatever its fields hold", () => {
    const anything = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constant(undefined),
      fc.integer(),
      fc.constant(null),
    );
    const row = fc.record({
      clientId: anything,
      serviceId: anything,
      value: anything,
      currency: anything,
      time: anything,
    });
    fc.assert(
      fc.property(row, (given) => {
        const result = checkRow(given as never, 1, paid);
        const isSound =
          "problem" in result
            ? rowProblemCodes.includes(result.problem.code)
            : /^-?\d+(\.\d+)?$/.test(result.value);
        expect(isSound).toBe(true);
      }),
    );
  });
});

import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { compareStatement } from "tillkit/statement";
import { compared, may, paid, storeOf } from "../support/stored.js";

const header = "clientId,value,currency,status,payout";

describe("the sums of a statement", () => {
  it("have the payments that it lists as unpaid, and no difference of their amounts", async () => {
    const { found, summary } = await compared(await storeOf(paid("a")), header, ["a,1,KMF,failed,"]);
    expect(found).toEqual(["amount_differs a line 2", "unpaid_there a line 2"]);
    expect(summary.currencies).toMatchObject([
      { unpaidThere: { count: 1, value: "1475" }, amountDifference: "0", statement: { count: 0 } },
    ]);
  });

  it("have the second payments of orders", async () => {
    const store = await storeOf(...["1", "2", "3"].map((id) => paid(id, { reference: "a" })));
    const { summary } = await compared(store, header, ["1,1475,KMF,,", "2,1475,KMF,,"]);
    expect(summary.counts).toMatchObject({ paid_twice: 2, missing_there: 1 });
    expect(summary.currencies).toMatchObject([{ paidTwice: { count: 2, value: "2950" } }]);
  });

  it("have the payments of other shops without their refunds", async () => {
    const lines = ["south-1,1475,KMF,,", "south-1,-500,KMF,,", "south-2,100,KMF,failed,"];
    const { summary } = await compared(await storeOf(), header, lines, { clientIdPrefix: "north-" });
    expect(summary.rows).toMatchObject({ foreign: 3 });
    expect(summary.foreignSums).toEqual([{ currency: "KMF", count: 1, value: "1475" }]);
  });

  it("have no refund that failed", async () => {
    const lines = ["a,1475,KMF,,", "a,-500,KMF,failed,"];
    const { found, summary } = await compared(await storeOf(paid("a")), header, lines);
    expect(found).toEqual([]);
    expect(summary.currencies).toMatchObject([{ refunds: { count: 0, value: "0" } }]);
  });

  it("have no payment twice that was completed on another day and is followed by one of the period", async () => {
    const earlier = paid("a", { completedAt: "2024-04-20T10:00:00.000Z" });
    const lines = ["a,1475,KMF,,", "b,1475,KMF,,", "c,1475,KMF,,"];
    const store = await storeOf(paid("b"), earlier, paid("c", { completedAt: earlier.completedAt! }));
    const { summary } = await compared(store, header, lines);
    expect(summary.currencies).toMatchObject([
      { ofOtherDays: { count: 2 }, rows: { matched: { count: 3 } } },
    ]);
  });

  it("have each payment of more than one page that the statement does not list", async () => {
    const payments = Array.from({ length: 1100 }, (_, n) => paid(`p${n}`));
    const { summary } = await compared(await storeOf(...payments), header, []);
    expect(summary).toMatchObject({ stored: 1100, differences: 1100 });
    expect(summary.currencies).toMatchObject([
      { stored: { count: 1100 }, missingThere: { count: 1100, value: "1622500" } },
    ]);
  });
});

describe("a run", () => {
  it("numbers rows that have no line", async () => {
    const rows = ["a", "x"].map((clientId) => ({ clientId, value: "1475", currency: "KMF" }));
    const lines: unknown[] = [];
    for await (const { line } of compareStatement(await storeOf(paid("a")), rows, { period: may }))
      lines.push(line);
    expect(lines).toEqual([2]);
  });

  it("keeps its files in the given directory, and leaves none, also if the caller stops early", async () => {
    const temporaryDirectory = mkdtempSync(path.join(tmpdir(), "tillkit-totals-test-"));
    const files: number[] = [];
    const onProgress = () => files.push(readdirSync(temporaryDirectory).length);
    const store = await storeOf(...["1", "2"].map((id) => paid(id, { reference: "a" })));
    const common = { value: "1475", currency: "KMF", payout: "P-1" };
    const rows = ["1", "2", "x"].map((clientId) => ({ clientId, ...common }));
    const options = { period: may, temporaryDirectory, onProgress, sort: { runLines: 2, fanIn: 2 } };
    await compareStatement(store, rows, options).summary();
    expect(Math.max(...files)).toBe(3);
    expect(readdirSync(temporaryDirectory)).toEqual([]);
    for await (const { kind } of compareStatement(store, rows, options)) {
      expect(kind).toBe("missing_here");
      break;
    }
    expect(readdirSync(temporaryDirectory)).toEqual([]);
    rmSync(temporaryDirectory, { recursive: true });
  });
});

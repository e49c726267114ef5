import { compared, paid, storeOf } from "./support/stored.js";

const header = "clientId,gross,fee,net,currency,payout id";
const made = { total: { value: "10.00", currency: "EUR" }, returnKeyHash: "ab".repeat(32) };
const payments = ["a", "b", "c"].map((id) => paid(id, made));
const good = [
  "a,10.00,0.25,9.75,EUR,P1",
  "b,10.00,-0.25,9.75,EUR,P1",
  "a,-4.00,-0.10,-3.90,EUR,P1",
  "c,10.00,0.25,,EUR,P2",
];
const payouts = [",15.60,,,EUR,P1", ",-9.75,,,EUR,P2"];

async function findingsOf(lines: readonly string[], options = {}) {
  const { findings, summary } = await compared(await storeOf(...payments), header, lines, options);
  return { summary, findings: findings.filter(({ kind }) => kind !== "refund_missing_here") };
}

describe("fees, net amounts and payouts of a statement", () => {
  it("tie out: gross minus fee is net, and the net amounts of a payout's rows are the payout", async () => {
    const { findings, summary } = await findingsOf([...good, ...payouts]);
    expect(findings).toEqual([]);
    expect(summary.rows).toMatchObject({ bad: 0, matched: 3 });
    expect(summary.currencies).toMatchObject([
      {
        statement: { count: 3, value: "30.00" },
        refunds: { count: 1, value: "4.00" },
        fees: { count: 4, value: "0.85" },
        net: { count: 4, value: "25.35" },
        payouts: { count: 2, value: "5.85" },
      },
    ]);
  });

  it("differ in a row, with the difference", async () => {
    const { findings, summary } = await findingsOf([
      "a,10.00,0.25,9.70,EUR,",
      "b,10.00,,,EUR,",
      "c,10.00,,,EUR,",
    ]);
    expect(findings).toEqual([
      {
        kind: "fee_differs",
        line: 2,
        clientId: "a",
        reference: "order-a",
        statement: { value: "10.00", currency: "EUR" },
        fee: "0.25",
        net: "9.70",
        difference: "-0.05",
      },
    ]);
    expect(summary).toMatchObject({ balanced: false, counts: { fee_differs: 1 }, rows: { matched: 3 } });
  });

  it.each<[string, string[], string]>([
    ["less than its rows", [...good, ",15.00,,,EUR,P1", payouts[1]!], "-0.60"],
    ["a payout of two parts, one of which is wrong", [...good, ...payouts, ",0.01,,,EUR,P1"], "0.01"],
    ["a payout without rows", [...good, ...payouts, ",7.00,,,EUR,P9"], "7.00"],
  ])("differ in a payout: %s", async (_, lines, difference) => {
    const { findings } = await findingsOf(lines);
    expect(findings).toMatchObject([{ kind: "payout_differs", difference }]);
  });

  it("do not count a payment without ids as a part of a payout with a minus", async () => {
    const differing = async (...lines: string[]) => {
      const { findings } = await findingsOf([...lines, ",-15.00,,,EUR,P1"]);
      return findings.filter(({ kind }) => kind === "payout_differs");
    };
    expect(await differing("a,10.00,,,EUR,P1", ",5.00,,,EUR,P1")).toMatchObject([{ difference: "5.00" }]);
    expect(await differing(",5.00,,,EUR,P1", ",10.00,,,EUR,P1")).toMatchObject([{ difference: "-15.00" }]);
  });

  it("say nothing of a payout that the statement does not list, and count rows of other shops in it", async () => {
    expect((await findingsOf(good)).findings).toEqual([]);
    const other = await findingsOf(["other-1,2.00,,,EUR,P1", "a,10.00,,,EUR,P1", ",12.00,,,EUR,P1"], {
      clientIdPrefix: "a",
    });
    expect(other.findings.map(({ kind }) => kind)).toEqual([]);
  });

  it("tie out for each currency of one payout", async () => {
    const store = await storeOf(...payments, paid("k"));
    const rows = ["a,10.00,0.25,9.75,EUR,P1", "k,1475,75,1400,KMF,P1", ",9.75,,,EUR,P1"];
    expect((await compared(store, header, [...rows, ",1400,,,KMF,P1"])).summary.counts.payout_differs).toBe(
      0,
    );
    const { findings } = await compared(store, header, [...rows, ",1401,,,KMF,P1"]);
    expect(findings.filter(({ kind }) => kind === "payout_differs")).toMatchObject([
      { line: 5, payout: "P1", statement: { value: "1401", currency: "KMF" }, difference: "1" },
    ]);
  });

  it("leave failed rows out", async () => {
    const { findings } = await compared(await storeOf(...payments.slice(0, 1)), `${header},status`, [
      "a,10.00,1.00,9.00,EUR,P1,completed",
      "a,10.00,1.00,8.00,EUR,P1,failed",
      ",9.00,,,EUR,P1,paid",
    ]);
    expect(findings.filter(({ kind }) => kind.endsWith("_differs"))).toEqual([]);
  });

  it("are found where the entries do not fit in memory, for many payouts", async () => {
    const ids = Array.from({ length: 60 }, (_, index) => `p${index}`);
    const store = await storeOf(...ids.map((id) => paid(id)));
    const lines = ids.map((id, index) => `${id},1475,75,1400,KMF,P${index % 6}`);
    const paidOut = [0, 1, 2, 3, 4, 5].map((payout) => `,${payout === 3 ? 14001 : 14000},,,KMF,P${payout}`);
    const { findings } = await compared(store, header, [...paidOut, ...lines], {
      sort: { runLines: 5, fanIn: 2 },
    });
    expect(findings).toMatchObject([{ kind: "payout_differs", payout: "P3", line: 5, difference: "1" }]);
  });
});

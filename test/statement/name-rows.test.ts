import { compared, paid, pending, storeOf } from "./support/stored.js";

const header = "clientId,value,currency,time,providerId";
const reported = (providerId: string) => ({
  reported: { at: "2024-05-10T10:05:00.000Z", status: "completed", verified: [], providerId },
});
const onDay = (day: number, value: string) => ({
  createdAt: `2024-05-${day}T10:00:00.000Z`,
  completedAt: `2024-05-${day}T10:05:00.000Z`,
  total: { value, currency: "KMF" },
});

describe("a row without a clientId and a serviceId", () => {
  it("is matched by the amount and the day, also beside others of that day", async () => {
    const payments = ["100", "200", "300"].map((value) => paid(`p${value}`, onDay(10, value)));
    const store = await storeOf(...payments, paid("other", onDay(11, "400")));
    const rows = ["100", "200", "300"].map((value) => `,${value},KMF,2024-05-10T12:00:00Z,`);
    const { findings, summary } = await compared(store, header, [...rows, ",400,KMF,2024-05-11T12:00:00Z,"]);
    expect(findings).toEqual([]);
    expect(summary).toMatchObject({ balanced: true, rows: { bad: 0, matched: 4 } });
  });

  it("is matched by the day in the offset of its time", async () => {
    const at = (createdAt: string) => ({ ...onDay(10, "100"), createdAt });
    const store = await storeOf(
      paid("a", at("2024-05-09T22:30:00.000Z")),
      paid("b", at("2024-05-10T22:30:00.000Z")),
    );
    const { found, summary } = await compared(store, header, [
      ",100,KMF,2024-05-10T12:00:00+03:00,",
      ",100,KMF,2024-05-11T12:00:00+03:00,",
    ]);
    expect(found).toEqual([]);
    expect(summary.rows).toMatchObject({ matched: 2 });
  });

  it("is matched only with a payment of its own shop, by the day and by the number", async () => {
    const others = { returnKeyHash: "hash" };
    const store = await storeOf(
      paid("shop1-a", onDay(10, "100")),
      paid("shop2-b", { ...onDay(10, "100"), ...others }),
      paid("shop1-c", { ...onDay(11, "200"), ...reported("MVK-7") }),
      paid("shop2-d", { ...onDay(11, "200"), ...others, ...reported("MVK-7") }),
    );
    const rows = [",100,KMF,2024-05-10T12:00:00Z,", ",200,KMF,2024-05-11T12:00:00Z,MVK-7"];
    const { found, summary } = await compared(store, header, rows, { clientIdPrefix: "shop1-" });
    expect(found).toEqual([]);
    expect(summary).toMatchObject({ balanced: true, rows: { matched: 2 } });
  });

  it("reads each day of the statement once", async () => {
    const payments = Array.from({ length: 1200 }, (_, n) => paid(`p${n}`, onDay(10, `${n + 1}`)));
    const store = await storeOf(...payments);
    const list = jest.spyOn(store, "list");
    const rows = payments.map(({ total }) => `,${total.value},KMF,2024-05-10T12:00:00Z,`);
    const { summary } = await compared(store, header, rows);
    expect(summary).toMatchObject({ balanced: true, rows: { matched: 1200 } });
    const ofDay = list.mock.calls.filter(([page]) => page.from === "2024-05-10T00:00:00.000Z");
    expect(ofDay).toHaveLength(3);
  });

  it("is matched by the provider's number, and is not guessed where two payments have it", async () => {
    const store = await storeOf(
      paid("a", reported("MVK-1")),
      paid("b", { ...reported("MVK-2"), ...onDay(12, "500") }),
      paid("c", { ...reported("MVK-2"), ...onDay(13, "600") }),
    );
    const { found, findings } = await compared(store, header, [
      ",1475,KMF,2024-05-20T12:00:00Z,MVK-1",
      ",500,KMF,2024-05-12T12:00:00Z,MVK-2",
      ",9,KMF,2024-05-12T12:00:00Z,",
    ]);
    expect(found.slice(0, 2)).toEqual(["unmatched_row id_missing line 3", "unmatched_row id_missing line 4"]);
    const [taken, none] = findings.map(({ problem }) => problem?.message);
    expect(taken).toContain(
      "several payments have the provider's number MVK-2: order-c completed, order-b completed",
    );
    expect(none).toContain("no payment of 2024-05-12 has the row's amount");
  });

  it("that fits several payments names them with their state, and is in the sums", async () => {
    const store = await storeOf(pending("a", onDay(10, "650")), paid("b", onDay(10, "650")));
    const { findings, summary } = await compared(store, header, [
      ",650,KMF,2024-05-10T12:00:00Z,",
      ",650,KMF,2024-05-10T12:00:00Z,",
      "b,650,KMF,2024-05-10T12:00:00Z,",
    ]);
    const finding = {
      kind: "unmatched_row",
      statement: { value: "650", currency: "KMF", time: "2024-05-10T12:00:00.000Z" },
      candidates: [
        { clientId: "a", reference: "order-a", state: "pending" },
        { clientId: "b", reference: "order-b", state: "completed" },
      ],
    };
    expect(findings).toMatchObject([
      { ...finding, line: 2 },
      { ...finding, line: 3 },
    ]);
    expect(summary).toMatchObject({ differences: 2, balanced: false, rows: { bad: 0, matched: 1 } });
    expect(summary.currencies).toMatchObject([
      {
        statement: { count: 3, value: "1950" },
        rows: { matched: { value: "650" }, unmatched_row: { count: 2, value: "1300" } },
      },
    ]);
  });

  it("names no payments to accept where it says unpaid, and keeps the sign of a refund", async () => {
    const store = await storeOf(
      pending("a", reported("MVK-1")),
      paid("b", { ...reported("MVK-1"), ...onDay(10, "650") }),
    );
    const { findings } = await compared(store, `${header},status`, [
      ",650,KMF,2024-05-10T12:00:00Z,MVK-1,failed",
      ",-50,KMF,2024-05-10T12:00:00Z,MVK-1,paid",
    ]);
    const [unpaid, refund] = findings;
    expect(unpaid).toMatchObject({ kind: "unmatched_row", statement: { status: "failed" } });
    expect(refund).toMatchObject({ kind: "unmatched_row", statement: { value: "-50" } });
    expect(findings.slice(0, 2).map(({ candidates }) => candidates)).toEqual([undefined, undefined]);
  });

  it("is not matched by amount and day to a payment with another number, and capitals and signs are no difference", async () => {
    const store = await storeOf(paid("a", { ...reported("MVK-1"), ...onDay(10, "100") }));
    const rowOf = (number: string) => [`,100,KMF,2024-05-10T12:00:00Z,${number}`];
    const { findings, summary } = await compared(store, header, rowOf("ZZZ-9"));
    expect(findings.map(({ kind }) => kind)).toEqual(["unmatched_row", "missing_there"]);
    expect(findings[0]!.problem!.message).toContain(
      "the payment of 2024-05-10 with the row's amount has the number MVK-1: order-a completed",
    );
    expect(summary.balanced).toBe(false);
    expect((await compared(store, header, rowOf("mvk 1"))).summary.balanced).toBe(true);
  });

  it("does not stop the comparison with a leap second", async () => {
    const store = await storeOf(paid("a", onDay(10, "100")));
    const lines = [",100,KMF,2024-05-10T23:59:60Z,", "a,100,KMF,2024-05-10T12:00:00Z,"];
    expect((await compared(store, header, lines)).found).toEqual(["bad_row id_missing line 2"]);
  });
});

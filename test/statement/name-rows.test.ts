import { compared, paid, storeOf } from "./support/stored.js";

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
    const { findings } = await compared(store, header, [
      ",1475,KMF,2024-05-20T12:00:00Z,MVK-1",
      ",500,KMF,2024-05-12T12:00:00Z,MVK-2",
      ",9,KMF,2024-05-12T12:00:00Z,",
    ]);
    expect(findings.map(({ kind, line }) => `${kind} ${line ?? ""}`)).toContain("bad_row 3");
    const messages = findings.flatMap(({ problem }) => problem?.message ?? []);
    expect(messages).toEqual([
      expect.stringContaining("only its clientId would say which one it is"),
      expect.stringContaining("no payment of 2024-05-12 has its amount"),
    ]);
  });
});

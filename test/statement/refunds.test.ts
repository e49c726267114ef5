import { MemoryStore, type Payment, type Resolution } from "tillkit";
import { resolution } from "../../src/store/exam/checks/fixtures.js";
import { saved } from "../../src/store/exam/checks/steps.js";
import { closeAll, testKit } from "../support/kit.js";
import { compared, paid, storeOf } from "./support/stored.js";

afterEach(closeAll);

const header = "clientId,value,currency,time,providerId";
const at = (day: number) => `2024-05-${String(day).padStart(2, "0")}T10:00:00Z`;
const sale = (id: string, value = "1475") => `${id},${value},KMF,${at(10)},`;
const back = (id: string, value: string, day = 20, providerId = "") =>
  `${id},-${value},KMF,${at(day)},${providerId}`;
const who = { reason: "on the statement", by: "Amina" };

async function shopWith(...payments: Payment[]) {
  const store = await storeOf(...payments);
  const kit = testKit({ store });
  return {
    store,
    refund: (clientId: string, amount: string, more: Partial<Resolution> = {}) =>
      kit.resolve({ action: "refunded", clientId, amount, ...who, ...more }),
  };
}

describe("a row of a refund without a minus", () => {
  it("is a bad row, and not a payment", async () => {
    const april = { createdAt: "2024-04-10T10:00:00.000Z", completedAt: "2024-04-10T10:00:00.000Z" };
    const store = await storeOf(paid("a"), paid("b", april));
    const lines = ["a,1475,KMF,Payment", "b,1475,KMF,Refund", "b,-75,KMF,refund"];
    const { findings, summary } = await compared(store, "clientId,value,currency,Type", lines);
    const message = 'The row is a "Refund", so value "1475" needs a minus.';
    expect(findings).toMatchObject([
      { kind: "bad_row", line: 3, clientId: "b", problem: { code: "value_invalid", message } },
      { kind: "refund_missing_here", line: 4, statement: { value: "75" } },
    ]);
    expect(summary.rows).toMatchObject({ read: 3, bad: 1, matched: 1 });
  });
});

describe("a row with a negative amount", () => {
  it("is a refund of its payment to record, and no bad row", async () => {
    const { store } = await shopWith(paid("a"), paid("b"));
    const lines = [sale("a"), back("a", "500"), sale("b"), `b,(75),KMF,${at(21)},`];
    const { findings, summary } = await compared(store, header, lines);
    expect(findings).toMatchObject([
      {
        kind: "refund_missing_here",
        line: 3,
        clientId: "a",
        reference: "order-a",
        statement: { value: "500", currency: "KMF", time: "2024-05-20T10:00:00.000Z" },
        stored: { value: "1475", state: "completed" },
        key: expect.stringMatching(/^row:[0-9a-f]{24}$/),
      },
      { kind: "refund_missing_here", line: 5, clientId: "b", statement: { value: "75" } },
    ]);
    expect(summary).toMatchObject({ balanced: false, rows: { bad: 0, matched: 2 } });
    expect(summary.currencies).toMatchObject([
      { statement: { count: 2, value: "2950" }, refunds: { count: 2, value: "575" } },
    ]);
  });

  it("is recorded once with its key, and agrees from then on, in this and in any later statement", async () => {
    const { store, refund } = await shopWith(paid("a"));
    const lines = [sale("a"), back("a", "500"), back("a", "500"), back("a", "100", 21)];
    const { findings } = await compared(store, header, lines);
    expect(new Set(findings.map(({ key }) => key)).size).toBe(3);
    for (const { clientId, statement, key } of [...findings, ...findings]) {
      const { refunded } = (await store.find("a"))!;
      const { resolved } = await refund(clientId!, statement!.value, { key });
      expect(resolved).toBe((await store.find("a"))!.refunded !== refunded);
    }
    expect(await store.find("a")).toMatchObject({ refunded: "1100" });
    expect((await compared(store, header, lines)).found).toEqual([]);
    expect((await compared(store, header, [sale("a"), ...lines.slice(2)])).found).toEqual([]);
    const later = [...lines, back("a", "100", 22)];
    expect((await compared(store, header, later)).found).toEqual(["refund_missing_here a line 6"]);
  });

  it("agrees with a refund of the same amount that a person had recorded, one row with one refund", async () => {
    const { store, refund } = await shopWith(paid("a"));
    await refund("a", "500");
    const lines = [sale("a"), back("a", "500.00"), back("a", "500", 22)];
    expect((await compared(store, header, lines)).found).toEqual(["refund_missing_here a line 4"]);
  });

  it("agrees with a refund that was recorded before a thousand other decisions about its payment", async () => {
    const { store, refund } = await shopWith(paid("a"));
    await refund("a", "500");
    const later = new Date(Date.now() + 60_000).toISOString();
    const replays = Array.from({ length: 1000 }, (_, index) =>
      resolution(`r-${index}`, { clientId: "a", action: "replayed", at: later }),
    );
    await saved(store, { resolutions: replays });
    expect((await compared(store, header, [sale("a"), back("a", "500")])).found).toEqual([]);
  });

  it("is not recorded where its key has another amount", async () => {
    const { store, refund } = await shopWith(paid("a"));
    const lines = [sale("a"), back("a", "500")];
    const { findings } = await compared(store, header, lines);
    const { key } = findings[0]!;
    await refund("a", "50", { key });
    const { found, summary } = await compared(store, header, lines);
    expect([found, summary.balanced]).toEqual([["refund_missing_here a line 3"], false]);
    await expect(refund("a", "500", { key })).rejects.toThrow("belongs to a refund of 50 KMF");
  });

  it("does not take the refund of another row, whichever comes first", async () => {
    const { store, refund } = await shopWith(paid("a"));
    const lines = [sale("a"), back("a", "500", 20), back("a", "500", 22)];
    const { findings } = await compared(store, header, lines);
    await refund("a", "500", { key: findings[1]!.key });
    expect((await compared(store, header, lines)).found).toEqual(["refund_missing_here a line 3"]);
  });

  it("has no key where a refund of its amount is recorded with the key of another reading", async () => {
    const { store, refund } = await shopWith(paid("a"));
    const lines = [sale("a"), "a,-500,KMF,2024-05-20 10:00,MVK-1"];
    const { findings } = await compared(store, header, lines, {}, { utcOffset: "+03:00" });
    await refund("a", "500", { key: findings[0]!.key });
    expect((await compared(store, header, lines, {}, { utcOffset: "+03:00" })).found).toEqual([]);
    for (const format of [{}, { columns: { providerId: false }, utcOffset: "+03:00" } as const]) {
      const other = await compared(store, header, lines, {}, format);
      expect(other.findings).toMatchObject([
        { kind: "refund_missing_here", line: 3, recordedKey: findings[0]!.key },
      ]);
      expect(other.findings[0]).not.toHaveProperty("key");
    }
    // A neighbouring row has the recorded refund.
    const both = await compared(
      store,
      header,
      [sale("a"), back("a", "500", 21), ...lines.slice(1)],
      {},
      { utcOffset: "+03:00" },
    );
    expect(both.findings).toMatchObject([{ line: 3, key: expect.any(String) }]);
  });

  it("has no key of another reading where an equal row has this key", async () => {
    const { store, refund } = await shopWith(paid("a"));
    const lines = [sale("a"), back("a", "500"), back("a", "500")];
    const [first, second] = (await compared(store, header, lines)).findings;
    await refund("a", "500", { key: second!.key });
    const { findings } = await compared(store, header, lines);
    expect(findings).toMatchObject([{ line: 3, key: first!.key }]);
    expect(findings[0]).not.toHaveProperty("recordedKey");
  });

  it("has the key of another reading also where a row of another payment has this key", async () => {
    const { store, refund } = await shopWith(paid("a"), paid("b"));
    const sales = [sale("a"), sale("b")];
    const row = (id: string, hour: string) => `${id},-500,KMF,2024-05-20 ${hour}:00,`;
    const { findings } = await compared(
      store,
      header,
      [...sales, row("a", "10")],
      {},
      { utcOffset: "+03:00" },
    );
    const { key } = findings[0]!;
    await refund("a", "500", { key });
    const other = await compared(
      store,
      header,
      [...sales, row("a", "10"), row("b", "07")],
      {},
      { utcOffset: "Z" },
    );
    expect(other.findings).toMatchObject([
      { line: 4, clientId: "a", recordedKey: key },
      { line: 5, clientId: "b", key },
    ]);
  });

  it("has no key of another reading where the rows of its payment are read in two batches", async () => {
    const ids = Array.from({ length: 498 }, (_, index) => `p${index}`);
    const { store, refund } = await shopWith(...ids.map((id) => paid(id)), paid("z"));
    // The entries before the last two rows are 1000, as many as a batch has.
    const rows = [20, 21, 22, 23].map((day) => back("z", "5", day));
    const lines = [...[...ids, "z"].map((id) => sale(id)), ...rows];
    const sort = { runLines: 300 };
    const { findings } = await compared(store, header, lines, { sort });
    const keys = findings.map(({ key }) => key);
    await refund("z", "5", { key: keys[3] });
    const left = await compared(store, header, lines, { sort });
    expect(left.findings.map(({ key, recordedKey }) => [key, recordedKey])).toEqual(
      keys.slice(0, 3).map((key) => [key, undefined]),
    );
  });

  it("has the same key in a statement that lists no other payment, where another payment has an equal row", async () => {
    const { store, refund } = await shopWith(paid("a"), paid("b"));
    const lines = [sale("a"), back("a", "500"), sale("b"), back("b", "500")];
    const { findings } = await compared(store, header, lines);
    expect(findings.map(({ key }) => key)).toEqual(
      [1, 2].map(() => expect.stringMatching(/^row:[0-9a-f]{24}$/)),
    );
    for (const { clientId, key } of findings) await refund(clientId!, "500", { key });
    for (const some of [lines, lines.slice(2)]) {
      const { found } = await compared(store, header, some);
      expect(found.filter((one) => one.startsWith("refund"))).toEqual([]);
    }
  });

  it("has a key with the provider's number, which two partial refunds may share", async () => {
    const { store } = await shopWith(paid("a"));
    const lines = [sale("a"), back("a", "500", 20, "MVK-R1"), back("a", "500", 21, "MVK-R1")];
    const keys = (await compared(store, header, lines)).findings.map(({ key }) => key);
    expect(keys).toEqual([1, 2].map(() => expect.stringMatching(/^row:MVK-R1:[0-9a-f]{24}$/)));
    expect(new Set(keys).size).toBe(2);
  });

  it("has no key without a time and a number of the provider, because such rows look equal", async () => {
    const { store } = await shopWith(paid("a"));
    const { findings } = await compared(store, "clientId,value,currency", ["a,1475,KMF", "a,-5,KMF"]);
    expect(findings).toMatchObject([{ kind: "refund_missing_here" }]);
    expect(findings[0]).not.toHaveProperty("key");
  });

  it("does not stand for the payment itself, and may be of an unknown payment", async () => {
    const { store } = await shopWith(paid("a"));
    const { found } = await compared(store, header, [back("a", "500"), back("x", "5")]);
    expect(found).toEqual([
      "refund_missing_here x line 3",
      "refund_missing_here a line 2",
      "missing_there a",
    ]);
  });

  it("agrees where an earlier version recorded the refund without its amount", async () => {
    const store = new MemoryStore();
    const old = { id: "refunded:a", clientId: "a", action: "refunded", ...who, at: at(20) } as const;
    await store.transaction((tx) => store.save(tx, { created: [paid("a")], resolutions: [old] }));
    expect((await compared(store, header, [sale("a"), back("a", "1475")])).found).toEqual([]);
  });

  it("finds the same refunds where the entries do not fit in memory", async () => {
    const ids = Array.from({ length: 40 }, (_, index) => `p${index}`);
    const { store, refund } = await shopWith(...ids.map((id) => paid(id)));
    for (const id of ids.slice(0, 20)) await refund(id, "5");
    const lines = ids.flatMap((id) => [sale(id), back(id, "5"), back(id, "5", 21)]);
    const sort = { runLines: 7, fanIn: 2 };
    const { findings } = await compared(store, header, lines, { sort });
    expect(findings.map(({ kind }) => kind)).toEqual(Array(60).fill("refund_missing_here"));
  });
});

describe("a payment that a person accepted with another amount", () => {
  it("is compared by what was received", async () => {
    const { store } = await shopWith(paid("a", { received: { value: "1470", currency: "KMF" } }));
    const { found, summary } = await compared(store, header, [sale("a", "1470")]);
    expect(found).toEqual([]);
    expect(summary.currencies).toMatchObject([{ statement: { value: "1470" }, stored: { value: "1470" } }]);
    expect((await compared(store, header, [sale("a")])).findings).toMatchObject([
      { kind: "amount_differs", difference: "5" },
    ]);
  });
});

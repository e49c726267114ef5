import { createPayments, MemoryStore, type Payment } from "tillkit";
import { readStatement, compareStatement, type StatementOptions } from "tillkit/statement";
import { keepClaim } from "../../src/checkout/payment-claims.js";
import { resolution } from "../../src/store/exam/checks/fixtures.js";
import { saved } from "../../src/store/exam/checks/steps.js";
import { closeAll, testKit, testOptions } from "../support/kit.js";
import { completedBody, signed } from "../support/webhooks.js";
import { storeOf, compared, may, paid, pending } from "./support/stored.js";

const header = "clientId,serviceId,value,currency,status,source,time";
const row = (clientId: string, over: Partial<Record<string, string>> = {}): string => {
  const fields = {
    clientId,
    serviceId: "",
    value: "1475",
    currency: "KMF",
    status: "completed",
    source: "MVK",
  };
  return Object.values({ ...fields, time: "2024-05-10T10:04:00Z", ...over }).join(",");
};

/** What the service said last of a payment with this number of the provider. */
const numbered = (providerId: string): NonNullable<Payment["reported"]> => ({
  status: "completed",
  providerId,
  at: "2024-05-10T10:05:00.000Z",
  verified: ["status", "providerId"],
});

afterEach(closeAll);

describe("a statement compared with stored payments", () => {
  it("gives no finding where both sides agree", async () => {
    const store = await storeOf(paid("a"), paid("b", { serviceId: "s-b" }), pending("c"));
    const lines = [
      row("a", { value: "1475.00" }),
      row("", { serviceId: "s-b" }),
      row("c", { status: "pending" }),
    ];
    const { found, summary } = await compared(store, header, lines);
    expect(found).toEqual([]);
    expect(summary).toMatchObject({ balanced: true, differences: 0, stored: 2 });
    expect(summary.rows).toEqual({ read: 3, bad: 0, foreign: 0, unpaid: 1, outsidePeriod: 0, matched: 2 });
  });

  it("throws the error that stopped it from summary too", async () => {
    const run = compareStatement(await storeOf(), readStatement(""), { period: may });
    const read = async () => {
      for await (const finding of run) expect(finding).toBeUndefined();
    };
    await expect(read()).rejects.toMatchObject({ code: "statement_unreadable" });
    await expect(run.summary()).rejects.toMatchObject({ code: "statement_unreadable" });
  });

  it("never matches an amount whose point is not the decimal separator", async () => {
    const store = await storeOf(paid("a", { total: { value: "10", currency: "KMF" } }));
    const lines = ["a;10.000;KMF"];
    const format = { decimalSeparator: "," } as const;
    const { found, summary } = await compared(store, "clientId;value;currency", lines, {}, format);
    expect(found).toEqual(["bad_row value_invalid line 2"]);
    expect(summary).toMatchObject({ balanced: false, rows: { matched: 0 } });
  });

  it("compares rows whose clientId begins with the prefix of comments", async () => {
    const { found, summary } = await compared(await storeOf(paid("#1001")), header, [
      row("#1001"),
      row("#1002"),
    ]);
    expect(found).toEqual(["missing_here #1002 line 3"]);
    expect(summary).toMatchObject({ balanced: false, rows: { read: 2, matched: 1 } });
  });

  it("names the one other payment whose customer gave the number of a row that nothing here paid", async () => {
    const store = await storeOf(pending("a"), pending("b"), pending("c"), paid("d"));
    const at = "2024-05-10T10:00:00.000Z";
    for (const [clientId, number] of [
      ["a", "MVK-1"],
      ["b", "mvk 2"],
      ["b", "MVK-3"],
      ["c", "MVK-3"],
      ["a", "MVK-4"],
    ] as const)
      await keepClaim(store, { clientId, createdAt: at }, { number, at });
    const lines = [
      row("x", { providerId: "MVK-2" }),
      row("y", { providerId: "MVK-3" }),
      row("a", { providerId: "MVK-1" }),
      row("c", { providerId: "MVK2" }),
      row("d", { providerId: "MVK-4" }),
    ];
    const found = [];
    for await (const { kind, line, other } of compareStatement(
      store,
      readStatement(`${header},providerId\n${lines.join("\n")}\n`),
      { period: may },
    ))
      found.push([kind, line, other]);
    expect(found).toEqual([
      ["missing_here", 2, "b"],
      ["missing_here", 3, undefined],
      ["unpaid_here", 4, undefined],
      ["unpaid_here", 5, "b"],
    ]);
    expect((await store.find("b"))!.state).toBe("pending");
  });

  it("finds payments that are missing on one side", async () => {
    const store = await storeOf(paid("a"), paid("b"), pending("c"));
    const { found, summary } = await compared(store, header, [
      row("a"),
      row("x"),
      row("", { serviceId: "s-y" }),
    ]);
    expect(found).toEqual(["missing_here x line 3", "missing_here s-y line 4", "missing_there b"]);
    expect(summary.balanced).toBe(false);
  });

  it("requires only payments that were completed in the period, even if they were created long before", async () => {
    const store = await storeOf(
      paid("long", { createdAt: "2023-01-01T00:00:00.000Z" }),
      paid("first", { completedAt: "2024-05-01T00:00:00.000Z" }),
      paid("before", { completedAt: "2024-04-30T23:59:59.999Z" }),
      paid("after", { completedAt: "2024-06-01T00:00:00.000Z" }),
    );
    const { found } = await compared(store, header, []);
    expect(found).toEqual(["missing_there first", "missing_there long"]);
    const late = await compared(store, header, [], { createdFrom: "2024-01-01" });
    expect(late.found).toEqual(["missing_there first"]);
  });

  it("with edgeMs, allows completions near an end of the period to be on the neighbouring statement", async () => {
    const store = await storeOf(
      paid("early", { completedAt: "2024-05-01T00:59:59.999Z" }),
      paid("inside", { completedAt: "2024-05-01T01:00:00.000Z" }),
      paid("late", { completedAt: "2024-05-31T23:00:00.000Z" }),
    );
    const { found, summary } = await compared(store, header, [], { edgeMs: 3_600_000 });
    expect(found).toEqual(["at_edge early", "missing_there inside", "at_edge late"]);
    expect(summary.differences).toBe(1);
  });

  it("names a payment that a person accepted after the day on which it was paid, and says why the sums differ", async () => {
    const store = await storeOf(paid("a"), pending("late", { serviceId: "s-late" }));
    const kit = testKit({ store, now: () => new Date("2024-05-12T08:00:00Z") });
    const total = { value: "1475", currency: "KMF" };
    const evidence = { kind: "statement", document: "10.csv:3", total } as const;
    await kit.resolve({ action: "accept", clientId: "late", evidence, reason: "on the list", by: "Amina" });
    const dayOf = (day: number) => ({
      period: { from: `2024-05-${day}T00:00:00Z`, to: `2024-05-${day + 1}T00:00:00Z` },
    });
    const own = await compared(store, header, [row("a"), row("late")], dayOf(10));
    expect([own.found, own.summary.balanced]).toEqual([[], true]);
    expect(own.summary.currencies).toMatchObject([
      { statement: { value: "2950" }, stored: { value: "1475" }, ofOtherDays: { count: 1, value: "1475" } },
    ]);
    const accepted = await compared(store, header, [], dayOf(12));
    expect([accepted.found, accepted.summary.balanced]).toEqual([["accepted_here late"], true]);
    expect(accepted.summary.currencies).toMatchObject([
      { stored: { value: "1475" }, missingThere: { count: 0 }, onOtherStatements: { value: "1475" } },
    ]);
  });

  it("misses a payment that a person accepted in the period in which the kit created it", async () => {
    const store = await storeOf(pending("new", { serviceId: "s-new", returnKeyHash: "ab".repeat(32) }));
    const kit = testKit({ store, now: () => new Date("2024-05-12T08:00:00Z") });
    const total = { value: "1475", currency: "KMF" };
    const evidence = { kind: "letter", document: "letter 3", total } as const;
    await kit.resolve({ action: "accept", clientId: "new", evidence, reason: "a letter", by: "Amina" });
    const { found, summary } = await compared(store, header, []);
    expect([found, summary.balanced]).toEqual([["missing_there new"], false]);
  });

  it("misses a payment whose other amount a person accepted, by the day of its webhook", async () => {
    const made = { serviceId: "s-1", returnKeyHash: "ab".repeat(32), createdAt: "2024-04-30T23:50:00.000Z" };
    const store = await storeOf(pending("short", made));
    let now = new Date("2024-05-01T00:10:00Z");
    const kit = testKit({ store, now: () => now });
    const total = { value: "1470", currency: "KMF" };
    const webhook = signed(completedBody({ clientId: "short", id: "s-1", total }));
    const { receiptId } = await kit.receiveWebhook(webhook);
    now = new Date("2024-05-02T08:00:00Z");
    await kit.resolve({ action: "accept", receiptId, reason: "5 KMF less", by: "Amina" });
    const days = (from: number) => ({ period: { from: `2024-05-0${from}T00:00:00Z`, to: may.to } });
    expect((await compared(store, header, [], days(1))).found).toEqual(["missing_there short"]);
    expect((await compared(store, header, [], days(2))).found).toEqual(["accepted_here short"]);
  });

  it("misses a payment that was created after its completion, because the clock was put back", async () => {
    const createdAt = "2024-06-01T00:30:00.000Z";
    const store = await storeOf(paid("a", { createdAt, completedAt: "2024-05-31T23:32:00.000Z" }));
    expect((await compared(store, header, [])).found).toEqual(["missing_there a"]);
    const end = { from: "2024-05-01", to: new Date("9999-12-31T23:59:59.999Z") };
    expect((await compared(store, header, [], { period: end })).found).toEqual(["missing_there a"]);
  });

  it("does not miss a payment whose refused webhook a person replayed after the day of the payment", async () => {
    const store = await storeOf(pending("late", { serviceId: "s-late" }));
    const kit = testKit({ store, now: () => new Date("2024-05-12T08:00:00Z") });
    const data = { clientId: "late", id: "s-late", submittedAt: "2024-05-10T10:00:00.000Z" };
    const refused = signed(completedBody(data));
    await kit.replay({ refused, dryRun: false, by: "Amina", reason: "wrong secret" });
    const dayOf = (day: number) => ({
      period: { from: `2024-05-${day}T00:00:00Z`, to: `2024-05-${day + 3}T00:00:00Z` },
    });
    expect((await compared(store, header, [], dayOf(12))).found).toEqual(["accepted_here late"]);
    expect((await compared(store, header, [], dayOf(10))).found).toEqual(["missing_there late"]);
  });

  it("does not miss an accepted payment about which a thousand decisions came later", async () => {
    const store = await storeOf(pending("late", { serviceId: "s-late" }));
    const kit = testKit({ store, now: () => new Date("2024-05-12T08:00:00Z") });
    const total = { value: "1475", currency: "KMF" };
    const evidence = { kind: "statement", document: "10.csv:3", total } as const;
    await kit.resolve({ action: "accept", clientId: "late", evidence, reason: "on the list", by: "Amina" });
    const replays = Array.from({ length: 1000 }, (_, index) =>
      resolution(`r-${index}`, { clientId: "late", action: "replayed", at: "2024-05-13T08:00:00.000Z" }),
    );
    await saved(store, { resolutions: replays });
    expect((await compared(store, header, [])).found).toEqual(["accepted_here late"]);
  });

  it("does not miss a payment that was adopted after the period of its webhook", async () => {
    let now = new Date("2024-05-31T20:00:00Z");
    const store = new MemoryStore();
    const kit = testKit({ store, now: () => now });
    await kit.receiveWebhook(signed(completedBody({ clientId: "old" })));
    now = new Date("2024-06-03T08:00:00Z");
    await kit.adopt({ clientId: "old", reference: "order-old", total: { value: "1475", currency: "KMF" } });
    const june = { period: { from: may.to, to: "2024-07-01T00:00:00Z" } };
    const { found, summary } = await compared(store, header, [], june);
    expect([found, summary.balanced]).toEqual([["accepted_here old"], true]);
  });

  it("finds other amounts and currencies, with the exact difference", async () => {
    const euros = { total: { value: "0.1", currency: "EUR" } };
    const store = await storeOf(paid("a"), paid("b"), paid("c", euros), paid("d", euros));
    const lines = [
      row("a", { value: "1400" }),
      row("b", { currency: "EUR" }),
      row("c", { value: "0.3", currency: "EUR" }),
      row("d", { value: "9999999999999999.99", currency: "EUR" }),
    ];
    const { found, findings, summary } = await compared(store, header, lines);
    expect(found).toEqual([
      "amount_differs a line 2",
      "currency_differs b line 3",
      "amount_differs c line 4",
      "amount_differs d line 5",
    ]);
    expect(findings.map(({ difference }) => difference)).toEqual([
      "-75",
      undefined,
      "0.20",
      "9999999999999999.89",
    ]);
    const [eur, kmf] = summary.currencies;
    expect(eur).toMatchObject({ currency: "EUR", amountDifference: "10000000000000000.09" });
    expect(kmf).toMatchObject({
      currency: "KMF",
      amountDifference: "-75",
      stored: { count: 2, value: "2950" },
    });
  });

  it("finds payments that are paid on one side only", async () => {
    const store = await storeOf(pending("a"), pending("f", { state: "failed" }), paid("b"));
    const lines = [row("a"), row("f", { status: "PAID" }), row("b", { status: "reversed" })];
    const { found, findings } = await compared(store, header, lines);
    expect(found).toEqual(["unpaid_here a line 2", "unpaid_here f line 3", "unpaid_there b line 4"]);
    expect(findings[1]).toMatchObject({
      statement: { value: "1475", currency: "KMF", status: "PAID" },
      stored: { state: "failed" },
      reference: "order-f",
      source: "MVK",
    });
    const other = await compared(store, header, [row("b", { status: "reversed" })], {
      paidStatuses: ["Reversed"],
    });
    expect(other.found).toEqual([]);
  });

  it("does not agree with an unknown status that may mean paid", async () => {
    const store = await storeOf(pending("a1"), pending("b1"));
    const run = (statuses: string[], options: StatementOptions = {}) =>
      compared(
        store,
        header,
        statuses.map((status, n) => row(["a1", "b1"][n]!, { status })),
        options,
      );
    await expect(run(["pending", "Confirmed"])).rejects.toMatchObject({
      code: "option_invalid",
      message: expect.stringContaining('"Confirmed"'),
    });
    expect((await run(["Confirmed"], { paidStatuses: ["confirmed"] })).found).toEqual([
      "unpaid_here a1 line 2",
    ]);
    expect((await run(["declined"], { paidStatuses: ["paid"] })).found).toEqual([]);
    expect((await run(["Pending", "failed"])).found).toEqual([]);
    expect((await run(["Timed out", "completed"])).found).toEqual(["unpaid_here b1 line 3"]);
    await expect(run(["Confirmed", "Validated"])).rejects.toMatchObject({
      message: expect.stringContaining('Line 2 has the status "Confirmed"'),
    });
    await expect(run(["completed", "Confirmed"])).rejects.toMatchObject({
      code: "option_invalid",
      message: expect.stringContaining('Line 3 has the status "Confirmed"'),
    });
    const refund = row("a1", { value: "-1475", status: "refund_done" });
    await expect(compared(await storeOf(paid("a1")), header, [row("a1"), refund])).rejects.toMatchObject({
      code: "option_invalid",
      message: expect.stringContaining('"refund_done"'),
    });
  });

  it("finds several differences of one row, and counts its money one time", async () => {
    const store = await storeOf(pending("a"));
    const { found, summary } = await compared(store, header, [row("a", { value: "1" })]);
    expect(found).toEqual(["amount_differs a line 2", "unpaid_here a line 2"]);
    expect(summary.currencies[0]!.statement).toEqual({ count: 1, value: "1" });
    expect(summary.currencies[0]!.rows.unpaid_here.count).toBe(0);
  });

  it("compares no amounts where the two ids belong to different payments", async () => {
    const store = await storeOf(paid("a", { serviceId: "s-a" }), paid("b", { serviceId: "s-b" }));
    const lines = [row("a", { serviceId: "s-b", value: "1" }), row("nobody", { serviceId: "s-b" })];
    const { found, findings } = await compared(store, header, lines);
    expect(found).toEqual(["id_differs a line 2", "id_differs nobody line 3"]);
    expect(findings.map(({ other }) => other)).toEqual(["s-a", "b"]);
    // A payment that a person accepted may have no serviceId.
    const accepted = await storeOf(
      paid("a"),
      paid("b", { serviceId: "s-b", completedAt: "2024-04-02T00:00:00.000Z" }),
    );
    const row1 = await compared(accepted, header, [row("a", { serviceId: "s-b" })]);
    expect([row1.found, row1.findings[0]?.other]).toEqual([["id_differs a line 2"], "b"]);
    expect((await compared(accepted, header, [row("a", { serviceId: "s-a" })])).found).toEqual([]);
  });

  it("finds a payment that the statement lists twice, by either of its ids", async () => {
    const store = await storeOf(paid("a", { serviceId: "s-a" }), paid("b"));
    const lines = [
      row("a"),
      row("b"),
      row("", { serviceId: "s-a" }),
      row("a", { value: "2" }),
      row("b", { status: "pending" }),
    ];
    const { found, findings, summary } = await compared(store, header, lines);
    expect(found).toEqual([
      "amount_differs a line 5",
      "unpaid_there b line 6",
      "listed_twice a line 4",
      "listed_twice a line 5",
    ]);
    expect(findings.slice(2).map(({ firstLine }) => firstLine)).toEqual([2, 2]);
    expect(summary.rows.matched).toBe(2);
    expect(summary.currencies[0]!.rows.listed_twice).toEqual({ count: 1, value: "1475" });
  });

  it("finds a reference that was paid twice: on the statement, in the store, or once on each side", async () => {
    const two = (reference: string, second: Partial<Payment> = {}): Payment[] => [
      paid(`${reference}1`, { reference }),
      paid(`${reference}2`, { reference, completedAt: "2024-05-11T00:00:00.000Z", ...second }),
    ];
    const once = pending("d2", { reference: "d", state: "failed" });
    const earlier = paid("e1", { reference: "e", completedAt: "2024-04-01T00:00:00.000Z" });
    const store = await storeOf(
      ...two("a"),
      ...two("b"),
      paid("c1", { reference: "c" }),
      pending("c2", { reference: "c" }),
      paid("d1", { reference: "d" }),
      once,
      earlier,
      paid("e2", { reference: "e" }),
    );
    const lines = ["a1", "a2", "c1", "c2", "d1", "e2"].map((clientId) => row(clientId));
    const { found, findings } = await compared(store, header, lines);
    expect(found).toEqual([
      "unpaid_here c2 line 5",
      "missing_there b1",
      "missing_there b2",
      "paid_twice a2 line 3",
      "paid_twice b2",
      "paid_twice c2 line 5",
      "paid_twice e2 line 7",
    ]);
    expect(findings.slice(3).map(({ other }) => other)).toEqual(["a1", "b1", "c1", "e1"]);
  });

  it("names the payment that the kit marked as the second one, even if it was paid first", async () => {
    const marked = paid("a1", {
      reference: "a",
      attention: "paid_twice",
      completedAt: "2024-05-02T00:00:00.000Z",
    });
    const other = paid("a2", { reference: "a", completedAt: "2024-05-03T00:00:00.000Z" });
    const { findings } = await compared(await storeOf(marked, other), header, [row("a1"), row("a2")]);
    expect(findings).toMatchObject([{ kind: "paid_twice", clientId: "a1", line: 2, other: "a2" }]);
  });

  it("finds no second payment where one of the two was paid back in full", async () => {
    const two = (reference: string, refunded: string, which: 1 | 2): Payment[] =>
      [1, 2].map((one) => paid(`${reference}${one}`, { reference, ...(one === which && { refunded }) }));
    const store = await storeOf(...two("a", "1475", 2), ...two("b", "1475", 1), ...two("c", "1000", 2));
    const ids = ["a1", "a2", "b1", "b2", "c1", "c2"];
    const { found } = await compared(
      store,
      header,
      ids.map((clientId) => row(clientId)),
    );
    expect(found).toEqual(["paid_twice c2 line 7"]);
  });

  it("finds payments that were withheld from their orders until a person settles them, and calls none paid twice", async () => {
    const two = (reference: string, withheld: Payment["withheld"]) => [
      paid(`${reference}1`, { reference, withheld: withheld!, completedAt: "2024-05-02T00:00:00.000Z" }),
      paid(`${reference}2`, { reference, completedAt: "2024-05-03T00:00:00.000Z" }),
    ];
    const store = await storeOf(...two("a", "unsettled"), ...two("b", "refunded"));
    const { found, summary } = await compared(
      store,
      header,
      ["a1", "a2", "b1", "b2"].map((id) => row(id)),
    );
    expect(found).toEqual(["withheld a1 line 2"]);
    expect(summary).toMatchObject({ balanced: false, rows: { matched: 3 } });
    expect(summary.currencies).toMatchObject([{ rows: { withheld: { count: 1, value: "1475" } } }]);
  });

  it("reports bad and unmatched rows with their line, goes on, and does not report the payments that they name as missing", async () => {
    const store = await storeOf(paid("a"), paid("b"));
    const lines = [row("a", { value: "1 475" }), 'x,"y"z,1,KMF,,,', row("b"), row("", {}), "too,few"];
    const { found, summary } = await compared(store, header, lines);
    expect(found).toEqual([
      "bad_row value_invalid line 2",
      "bad_row quote_misplaced line 3",
      "unmatched_row id_missing line 5",
      "bad_row fields_count line 6",
    ]);
    expect(summary).toMatchObject({ differences: 1, balanced: false, rows: { read: 5, bad: 3, matched: 1 } });
  });

  it("counts the rows of another shop, and compares its own", async () => {
    const ofOther = paid("shop2-c", { returnKeyHash: "ab".repeat(32) });
    const store = await storeOf(paid("shop1-a"), paid("shop1-b"), ofOther);
    const payments = createPayments(testOptions({ store, clientIdPrefix: "shop1-" }));
    const rows = ["shop1-a", "shop2-x"].map((clientId) => ({ clientId, value: "1475", currency: "KMF" }));
    const run = payments.compareStatement(rows, { period: may });
    const { rows: counted, counts, foreignSums } = await run.summary();
    expect(counted).toMatchObject({ read: 2, foreign: 1, matched: 1 });
    expect(foreignSums).toEqual([{ currency: "KMF", count: 1, value: "1475" }]);
    expect(counts).toMatchObject({ missing_here: 0, missing_there: 1 });
  });

  it("does not agree with a prefix that no row and no stored payment has", async () => {
    const store = await storeOf(paid("shop1-a", { returnKeyHash: "ab".repeat(32) }));
    const run = (clientIdPrefix: string, rows = [row("shop1-a"), row("shop1-x")]) =>
      compared(store, header, rows, { clientIdPrefix });
    await expect(run("shop-1")).rejects.toMatchObject({
      code: "option_invalid",
      message: expect.stringContaining("clientIdPrefix shop-1"),
    });
    expect((await run("shop1-")).found).toEqual(["missing_here shop1-x line 3"]);
    // Two shops may share a store.
    expect((await run("shop2-", [row("shop1-a"), row("shop2-x")])).found).toEqual([
      "missing_here shop2-x line 3",
    ]);
  });

  it("does not agree with days of the rows in which no payment was completed", async () => {
    const at = "2024-05-06T10:00:00.000Z";
    // An earlier version stored no time of the completion.
    const { completedAt: _, ...undated } = paid("c", { createdAt: at, updatedAt: at });
    const store = await storeOf(paid("a", { createdAt: at, completedAt: at }), paid("b"), undated);
    const rows = `clientId,value,currency,date\na,1475,KMF,05/06/2024\nc,1475,KMF,05/06/2024`;
    const run = (timeFormat: "day-first" | "month-first", options: StatementOptions = {}) =>
      compareStatement(store, readStatement(rows, { timeFormat }), options).summary();
    await expect(run("day-first")).rejects.toMatchObject({
      code: "option_invalid",
      message: expect.stringContaining("--time-format"),
    });
    expect(await run("month-first")).toMatchObject({ balanced: true, stored: 2 });
    const period = { from: "2024-06-05", to: "2024-06-06" };
    expect(await run("day-first", { period })).toMatchObject({ balanced: true, stored: 0 });
  });

  it("does not take a clientId for another shop's because of its capitals", async () => {
    const store = await storeOf(paid("shop1-a"), pending("shop1-b"));
    const rows = [row("shop1-a"), row("SHOP1-B"), row("Shop2-x")];
    const { found, summary } = await compared(store, header, rows, { clientIdPrefix: "shop1-" });
    expect(found).toEqual(["missing_here SHOP1-B line 3"]);
    expect(summary).toMatchObject({ balanced: false, rows: { foreign: 1 } });
  });

  it("counts every row of another shop, and names the lines of the first 20", async () => {
    const payments = createPayments(testOptions({ store: await storeOf(), clientIdPrefix: "shop1-" }));
    const rows = Array.from({ length: 22 }, (_, n) => ({
      clientId: `shop2-${n}`,
      value: "1475",
      currency: "KMF",
    }));
    const summary = await payments.compareStatement(rows, { period: may }).summary();
    expect(summary.rows).toMatchObject({ read: 22, foreign: 22 });
    expect(summary.foreignLines).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
  });

  it("compares a row whose service id is this shop's, although its clientId is another shop's", async () => {
    const store = await storeOf(pending("shop1-a", { serviceId: "s-a", returnKeyHash: "ab".repeat(32) }));
    const payments = createPayments(testOptions({ store, clientIdPrefix: "shop1-" }));
    const money = { value: "1475", currency: "KMF" };
    const rows = ["s-a", "s-x"].map((serviceId) => ({ clientId: "shop2-x", serviceId, ...money }));
    const run = payments.compareStatement(rows, { period: may });
    const found: string[] = [];
    for await (const { kind, clientId, other } of run) found.push(`${kind} ${clientId} ${other}`);
    expect(found).toEqual(["id_differs shop2-x shop1-a"]);
    expect(await run.summary()).toMatchObject({ balanced: false, rows: { read: 2, foreign: 1 } });
  });

  it("compares the payments that were adopted with another prefix", async () => {
    const store = await storeOf(
      paid("old-a"),
      paid("old-b", { total: { value: "5", currency: "KMF" }, reported: numbered("MVK-5") }),
      pending("old-c"),
      paid("old-d"),
    );
    const rows = `${header},providerId\n${row("old-a", { providerId: "" })}
${row("", { value: "5", providerId: "MVK-5" })}\n${row("old-c", { providerId: "" })}\n${row("old-x", { providerId: "" })}\n`;
    const payments = createPayments(testOptions({ store, clientIdPrefix: "shop1-" }));
    const run = payments.compareStatement(readStatement(rows), { period: may });
    const found: string[] = [];
    for await (const { kind, clientId } of run) found.push(`${kind} ${clientId}`);
    expect(found).toEqual(["unpaid_here old-c", "missing_there old-d"]);
    expect((await run.summary()).rows).toMatchObject({ foreign: 1, matched: 2 });
  });

  it("compares rows with a time outside of the period like all others, and counts them", async () => {
    const store = await storeOf(paid("a"), paid("b", { completedAt: "2024-06-01T00:00:01.000Z" }));
    const lines = [row("a"), row("b", { time: "2024-06-01T00:00:00Z" })];
    const { found, summary } = await compared(store, header, lines);
    expect(found).toEqual([]);
    expect(summary.rows).toMatchObject({ outsidePeriod: 1, matched: 2 });
  });

  it("and its reader refuse a forgotten argument, or one of another kind", async () => {
    const refused = expect.objectContaining({ code: "option_invalid" }) as Error;
    const store = await storeOf();
    for (const given of [undefined, null, 5, {}]) {
      expect(() => readStatement(given as never)).toThrow(refused);
      expect(() => compareStatement(given as never, [])).toThrow(refused);
      expect(() => compareStatement(store, given as never)).toThrow(refused);
    }
  });

  it("does not agree with a period that no row and no payment is of", async () => {
    const lines = [row("a", { time: "2024-05-10T00:00:00Z" })];
    const year = { from: "2025-05-01T00:00:00Z", to: "2025-06-01T00:00:00Z" };
    await expect(compared(await storeOf(paid("a")), header, lines, { period: year })).rejects.toMatchObject({
      code: "option_invalid",
      message: expect.stringContaining("Give the period of the statement") as string,
    });
    const midnight = { from: "2024-05-11T00:00:00Z", to: "2024-05-12T00:00:00Z" };
    const { summary } = await compared(await storeOf(paid("a")), header, lines, { period: midnight });
    expect(summary.balanced).toBe(true);
  });

  it("uses the whole days of the rows as the period, where none is given", async () => {
    const store = await storeOf(
      paid("a"),
      paid("same day", { completedAt: "2024-05-10T23:59:59.999Z" }),
      paid("day after", { completedAt: "2024-05-11T00:00:00.000Z" }),
    );
    const { found, summary } = await compared(store, header, [row("a")], { period: undefined });
    expect(found).toEqual(["missing_there same day"]);
    expect(summary.period).toEqual({ from: "2024-05-10T00:00:00.000Z", to: "2024-05-11T00:00:00.000Z" });
  });

  it("takes days as their rows and the offset of the statement have them, and finds what is missing on such a day", async () => {
    const createdAt = "2024-04-30T00:00:00.000Z";
    const store = await storeOf(
      paid("a", { createdAt, completedAt: "2024-05-01T08:00:00.000Z" }),
      // 1 May at 02:00 in the offset of the statement, and 30 April in UTC.
      paid("missing", { createdAt, completedAt: "2024-04-30T23:00:00.000Z" }),
      paid("before", { createdAt, completedAt: "2024-04-30T20:59:59.999Z" }),
      paid("after", { createdAt, completedAt: "2024-05-01T21:00:00.000Z" }),
    );
    const day = { from: "2024-04-30T21:00:00.000Z", to: "2024-05-01T21:00:00.000Z" };
    const format = { timeFormat: "day-first", utcOffset: "+03:00" } as const;
    for (const time of ["01/05/2024", "01/05/2024 11:00", "01/05/2024 08:00Z"]) {
      const lines = [row("a", { time })];
      const { found, summary } = await compared(store, header, lines, { period: undefined }, format);
      expect(found).toEqual(["missing_there missing"]);
      expect(summary.period).toEqual(day);
    }
  });

  it("takes the days of rows without a format in the offset of each time", async () => {
    const rows = ["2024-05-01T00:30:00+03:00", "2024-05-02T23:30:00-02:00"].map((time) => ({
      clientId: "x",
      value: "1",
      currency: "KMF",
      time,
    }));
    for (const inOrder of [rows, rows.toReversed()]) {
      const run = compareStatement(await storeOf(), inOrder);
      expect((await run.summary()).period).toEqual({
        from: "2024-04-30T21:00:00.000Z",
        to: "2024-05-03T02:00:00.000Z",
      });
    }
  });

  it("refuses limits that would leave out the payments of all days of the rows", async () => {
    const store = await storeOf(paid("a1"), paid("b1", { completedAt: "2024-05-10T12:00:00.000Z" }));
    const run = (options: StatementOptions) =>
      compared(store, header, ["a1,,1475,KMF,,,2024-05-10"], { period: undefined, ...options });
    expect((await run({ edgeMs: 43_199_999 })).found).toEqual(["missing_there b1"]);
    for (const options of [{ edgeMs: 43_200_000 }, { createdFrom: "2024-05-10T00:00:00.001Z" }])
      await expect(run(options)).rejects.toMatchObject({ code: "option_invalid" });
  });

  it("throws where no period is given and a row has no time, and where there is no row", async () => {
    const store = await storeOf();
    for (const lines of [[row("a", { time: "" })], []])
      await expect(compared(store, header, lines, { period: undefined })).rejects.toMatchObject({
        code: "statement_period_missing",
      });
    const others = { period: undefined, clientIdPrefix: "shop2-" };
    await expect(compared(store, header, [row("a")], others)).rejects.toThrow(
      "no row of this shop has a time",
    );
  });

  it("says that no row could be read, and why the first could not", async () => {
    const lines = [row("a", { value: "1475,00 F" }), row("b", { value: "?" })];
    await expect(compared(await storeOf(), header, lines, { period: undefined })).rejects.toMatchObject({
      code: "statement_unreadable",
      message: expect.stringMatching(/^None of the statement's 2 rows can be read\. Line 2: /),
    });
  });

  it("keeps totals for each channel, and no more than 200 of them", async () => {
    const store = await storeOf(paid("a"), paid("b"));
    const lines = [row("a", { source: "MVK" }), row("b", { source: "HOL" }), row("x", { source: "HOL" })];
    const { summary } = await compared(store, header, lines);
    expect(summary.channels).toEqual([
      {
        source: "HOL",
        currency: "KMF",
        statement: { count: 2, value: "2950" },
        matched: { count: 1, value: "1475" },
        differing: { count: 1, value: "1475" },
      },
      {
        source: "MVK",
        currency: "KMF",
        statement: { count: 1, value: "1475" },
        matched: { count: 1, value: "1475" },
        differing: { count: 0, value: "0" },
      },
    ]);
    const many = Array.from({ length: 300 }, (_, index) => row(`x${index}`, { source: `S${index}` }));
    const { channels } = (await compared(store, header, many)).summary;
    expect(channels).toHaveLength(201);
    expect(channels.find(({ source }) => source === "*")?.statement.count).toBe(100);
  });

  it("refuses an invalid period", async () => {
    const store = await storeOf();
    for (const period of [
      { from: may.to, to: may.from },
      { from: "yesterday", to: may.to },
      { from: "2024-05-01T00:00:00", to: may.to },
      { from: new Date(NaN), to: may.to },
    ])
      expect(() => compareStatement(store, [], { period })).toThrow(
        expect.objectContaining({ code: "option_invalid" }),
      );
  });

  it("counts the payments of all pages in its progress", async () => {
    const store = await storeOf(...Array.from({ length: 600 }, (_, index) => paid(`p-${index}`)));
    const counts: number[] = [];
    const onProgress = ({ payments }: { payments: number }) => counts.push(payments);
    await compareStatement(store, [], { period: may, onProgress }).summary();
    expect(new Set(counts)).toEqual(new Set([500, 600]));
  });

  it("can be stopped between batches", async () => {
    const store = await storeOf();
    const controller = new AbortController();
    const rows = Array.from({ length: 2000 }, () => ({ clientId: "a", value: "1", currency: "KMF" }));
    let rowsSoFar = 0;
    const run = compareStatement(store, rows, {
      period: may,
      signal: controller.signal,
      onProgress: ({ rows: soFar }) => {
        rowsSoFar = soFar;
        if (soFar >= 1000) controller.abort(new Error("enough"));
      },
    });
    await expect(run.summary()).rejects.toThrow("enough");
    expect(rowsSoFar).toBe(1000);
  });
});

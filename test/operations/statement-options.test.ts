import {
  invalidOption,
  resolveStatementOptions,
  statementRun,
  type StatementOptions,
} from "../../src/operations/statement-options.js";

const day = { from: "2024-05-01", to: "2024-05-02" };
const refusal = (options: object): Error => {
  try {
    resolveStatementOptions(options);
  } catch (error) {
    expect(error).toMatchObject({ code: "option_invalid" });
    return error as Error;
  }
  throw new Error("The options were taken.");
};

describe("the options of reconcile", () => {
  it("have defaults: any of the common statuses means paid, all payments are read, and the edge is exact", () => {
    expect(resolveStatementOptions({})).toEqual({
      period: undefined,
      paidStatuses: new Set(["completed", "paid", "settled", "success", "successful", "succeeded"]),
      edgeMs: 0,
      createdFrom: undefined,
    });
  });

  it("are kept as they are given, with times in UTC and statuses in lower case", () => {
    const { signal } = new AbortController();
    const given: StatementOptions = {
      period: { from: "2024-05-01T02:00:00+02:00", to: new Date("2024-06-01T00:00:00Z") },
      paidStatuses: ["Payé"],
      clientIdPrefix: "north-",
      edgeMs: 1,
      createdFrom: "2024-04-01",
      temporaryDirectory: "/var/tmp",
      signal,
      onProgress: () => {},
      sort: { runLines: 2, fanIn: 2 },
    };
    expect(resolveStatementOptions(given)).toEqual({
      ...given,
      period: { from: "2024-05-01T00:00:00.000Z", to: "2024-06-01T00:00:00.000Z" },
      paidStatuses: new Set(["payé"]),
      createdFrom: "2024-04-01T00:00:00.000Z",
    });
  });

  it.each([
    "2024-05-01",
    "2024-05-01T10:00Z",
    "2024-05-01T10:00:00.123Z",
    "2024-05-01T10:00:00-03:30",
    new Date("2024-05-01T10:00:00Z"),
  ])("take the time %s", (from) => {
    const { period } = resolveStatementOptions({ period: { from, to: "2025-01-01" } });
    expect(period!.from).toBe(new Date(from).toISOString());
  });

  // A time without an offset would depend on the time zone of the machine.
  it.each([
    "2024-05-01T10:00:00",
    "2024-05-01 10:00:00Z",
    "2024-05",
    "24-05-01",
    "12024-05-01",
    "+012024-05-01",
    "2024-05-1",
    "2024-13-01",
    "2024-06-31",
    "2023-02-29T00:00:00Z",
    "May 1, 2024",
    "on 2024-05-01",
    "2024-05-01 local",
    "2024-05-01TZ",
    "2024-05-01T10:00:00+0200",
    "2024-05-01T10:00:00+02:00 ",
    "",
    new Date("never"),
  ])("refuse the time %s, and name the option", (time) => {
    expect(refusal({ createdFrom: time }).message).toMatch(/^createdFrom must be a Date or an ISO 8601/);
    expect(refusal({ period: { ...day, from: time } }).message).toMatch(/^period\.from must be/);
    expect(refusal({ period: { ...day, to: time } }).message).toMatch(/^period\.to must be/);
  });

  it("refuse a period that does not begin before its end", () => {
    for (const to of [day.from, "2024-04-30"])
      expect(refusal({ period: { from: day.from, to } }).message).toContain("must be before period.to");
    expect(resolveStatementOptions({ period: day })).toMatchObject({ edgeMs: 0 });
  });

  it.each([-1, NaN, Infinity, "5"])("refuse an edge of %s ms", (edgeMs) => {
    expect(refusal({ edgeMs }).message).toContain("edgeMs");
  });

  it("refuse an edge that covers the whole period, and a start of creations inside of it", () => {
    const message = "edgeMs must be less than half of the period";
    expect(refusal({ period: day, edgeMs: 12 * 3_600_000 }).message).toContain(message);
    const createdFrom = new Date(Date.parse(day.from) + 1);
    expect(refusal({ period: day, createdFrom }).message).toContain(
      "must not be after the start of the period",
    );
    const widest = { period: day, edgeMs: 12 * 3_600_000 - 1, createdFrom: day.from };
    expect(resolveStatementOptions(widest)).toMatchObject({ edgeMs: 43_199_999 });
  });

  it("refuse statuses that are no list of strings", () => {
    for (const paidStatuses of ["paid", [1]])
      expect(refusal({ paidStatuses }).message).toContain("paidStatuses must be a list");
  });

  it("keep a time of a year with more than four digits comparable", () => {
    const to = new Date(8.64e15);
    expect(resolveStatementOptions({ period: { from: day.from, to } }).period!.to).toBe(
      "9999-12-31T23:59:59.999Z",
    );
  });

  it("refuse a name that is not known, also in the period", () => {
    expect(refusal({ edgeMS: 1 }).message).toContain("edgeMS");
    expect(refusal({ period: { ...day, until: day.to } }).message).toContain("until");
    expect(invalidOption("Why.")).toMatchObject({ code: "option_invalid", message: "Why." });
  });
});

describe("a run", () => {
  async function* reading(): AsyncGenerator<string, number | undefined, undefined> {
    yield "a";
    yield "b";
    return 2;
  }

  it("returns the findings, and the summary after them, as often as it is asked for", async () => {
    const run = statementRun(reading());
    const findings: string[] = [];
    for await (const finding of run) findings.push(finding);
    expect(findings).toEqual(["a", "b"]);
    expect([await run.summary(), await run.summary()]).toEqual([2, 2]);
  });

  it("reads the rest for its summary, also where some findings or none were read", async () => {
    const run = statementRun(reading());
    expect(await run[Symbol.asyncIterator]().next()).toEqual({ done: false, value: "a" });
    expect(await run.summary()).toBe(2);
    expect(await statementRun(reading()).summary()).toBe(2);
  });

  it("keeps its summary when its findings are read again", async () => {
    const run = statementRun(reading());
    expect(await run.summary()).toBe(2);
    for await (const finding of run) throw new Error(`${finding} was returned twice.`);
    expect(await run.summary()).toBe(2);
  });

  it("throws the error that stopped it from each call of summary, and when its findings are read", async () => {
    const error = new Error("The disk is gone.");
    async function* failing(): AsyncGenerator<string, number, undefined> {
      yield "a";
      throw error;
    }
    const run = statementRun(failing());
    const read = async () => {
      for await (const finding of run) expect(finding).toBe("a");
    };
    const attempts = [read, read, () => run.summary(), () => run.summary()];
    for (const attempt of attempts) await expect(attempt()).rejects.toBe(error);
    const unread = statementRun(failing());
    const summaries = await Promise.allSettled([unread.summary(), unread.summary()]);
    expect(summaries.map((summary) => "reason" in summary && summary.reason)).toEqual([error, error]);
    await expect(unread.summary()).rejects.toBe(error);
  });

  it("has no summary where it was stopped early", async () => {
    const run = statementRun(reading());
    for await (const finding of run) if (finding === "a") break;
    await expect(run.summary()).rejects.toThrow("The run was stopped early");
  });
});

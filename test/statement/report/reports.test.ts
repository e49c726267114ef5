import { createHash } from "node:crypto";
import { csvReport, htmlReport, jsonReport, readStatement, type StatementFinding } from "tillkit/statement";
import { fc } from "../../support/property.js";
import { tokenize } from "../../support/markup.js";
import { storeOf, compared, paid } from "../support/stored.js";
import { everyHeader as header, everything, written } from "../support/everything.js";

describe("the CSV report", () => {
  it("has a header and one line for each finding, and can be read again", async () => {
    const run = await everything();
    const text = written(csvReport(), run);
    const columns = {
      clientId: "client_id",
      value: "statement_value",
      currency: "statement_currency",
    } as const;
    const lines: (string | undefined)[] = [];
    for await (const row of readStatement(text, { columns })) lines.push(row.clientId);
    expect(text.split("\r\n")).toHaveLength(run.findings.length + 2);
    expect(lines).toEqual(run.findings.map(({ clientId }) => clientId?.replace(/^[=+]/, "'$&")));
  });

  it("holds no cell that a spreadsheet would run as a formula, and does not change numbers", async () => {
    const finding = (over: Partial<StatementFinding>): StatementFinding => ({
      kind: "amount_differs",
      ...over,
    });
    const report = csvReport();
    report.add(finding({}));
    const cells = (over: Partial<StatementFinding>) =>
      report.add(finding(over)).trim().split(",").filter(Boolean);
    for (const text of ["=1+1", "+1", "-1+1", "@SUM(A1)", "-", "\tx", "=HYPERLINK(1)"])
      expect(cells({ reference: text })[1]).toBe(`'${text}`);
    expect(cells({ difference: "-75.50" })[1]).toBe("-75.50");
    expect(report.add(finding({ reference: 'a "b", c' }))).toContain('"a ""b"", c"');
  });

  it("holds no such cell under any separator, with quotes, spaces and full-width signs before it", () => {
    const report = csvReport();
    report.add({ kind: "amount_differs" });
    const signs = Array.from("=+-@＝＋－＠﹦﹢﹣﹫");
    const others = Array.from(",;\t|:^ \r\n\u00a0\u200b\u0000\"'(a7_.é");
    const cellText = fc
      .array(fc.constantFrom(...signs, ...others), { maxLength: 8 })
      .map((all) => all.join(""));
    const starts = new RegExp(`^["\\s\u200b\u0000]*[${signs.join("").replace("-", "\\-")}]`);
    fc.assert(
      fc.property(cellText, cellText, (reference, source) => {
        const line = report.add({ kind: "amount_differs", reference, source, difference: "-75.50" });
        // Wherever a reader could see the start of a cell, whatever it thinks of quotes.
        const cells = [",", ";", "\t", "|", ":", "^", " "].flatMap((separator) =>
          line.split(separator).flatMap((part) => part.split(/[\r\n]/)),
        );
        const isNumber = (cell: string) => /^-\d+(\.\d+)?$/.test(cell);
        expect(cells.filter((cell) => starts.test(cell) && !isNumber(cell))).toEqual([]);
      }),
      { numRuns: 5000 },
    );
  });

  it("does not change ids, times and addresses with such signs inside of a word", () => {
    const report = csvReport();
    report.add({ kind: "amount_differs" });
    for (const text of ["c-0001", "a--b_-c.-d", "2026-11-20T10:00:05+03:00", "a=b", "me@shop.example"])
      expect(report.add({ kind: "amount_differs", reference: text })).toContain(`,${text},`);
  });

  it("is a header alone where nothing was found", async () => {
    const { summary } = await compared(await storeOf(), header, []);
    expect(csvReport().end(summary)).toMatch(/^kind,line,first_line,[a-z_,]+\r\n$/);
  });
});

describe("the JSON report", () => {
  it("holds every finding and the summary, with or without findings", async () => {
    const run = await everything();
    const { findings, summary } = run;
    expect(JSON.parse(written(jsonReport(), run))).toEqual(JSON.parse(JSON.stringify({ findings, summary })));
    expect(JSON.parse(jsonReport().end(summary))).toEqual({ findings: [], summary: expect.anything() });
  });
});

describe("the HTML report", () => {
  const madeAt = new Date("2024-06-01T08:00:00Z");

  it.each(["en", "fr"] as const)("is escaped whatever the statement contains, in %s", async (language) => {
    const run = await everything();
    const page = written(htmlReport({ language, name: '"><img src=x onerror=y>', madeAt }), run);
    const tokens = tokenize(page);
    const opened = tokens.flatMap((token) => (token.kind === "open" ? [token] : []));
    expect(opened.map(({ name }) => name)).not.toEqual(
      expect.arrayContaining(["script", "img", "b onclick=x"]),
    );
    const attributes = opened.flatMap(({ attributes: all }) => all);
    expect(attributes.filter(([name]) => /^on|^style$/.test(name))).toEqual([]);
    const leads = attributes.filter(([name]) => ["href", "src", "action"].includes(name)).map(([, to]) => to);
    expect(leads.every((to) => to === "data:," || /^#[a-z_]+$/.test(to))).toBe(true);
  });

  it("has a policy that allows only its own style, by its hash", async () => {
    const page = written(htmlReport({ madeAt }), await everything());
    const [, style] = /<style>(.*?)<\/style>/s.exec(page)!;
    const hash = createHash("sha256").update(style!).digest("base64");
    expect(page).toContain(
      `content="default-src &#39;none&#39;; style-src &#39;sha256-${hash}&#39;; img-src data:; base-uri &#39;none&#39;; form-action &#39;none&#39;"`,
    );
    expect(page).not.toMatch(/https?:/);
  });

  it("shows amounts in the format of its language, with every digit", async () => {
    const run = await everything();
    expect(written(htmlReport({ madeAt }), run)).toContain("1,234,567.80\u00a0EUR");
    const french = written(htmlReport({ language: "fr", madeAt }), run);
    expect(french).toContain("1\u202f234\u202f567,80\u00a0EUR");
    expect(french).toContain("\u22120,30\u00a0EUR");
  });

  /** Returns the pieces of each bar in a part of a page: the tone, the start and the width. */
  const barsIn = (part: string): string[][] =>
    part
      .split("<svg")
      .slice(1)
      .map((bar) =>
        [...bar.matchAll(/<g class="(\w+)"><rect x="(\d+)" y="0" width="(\d+)"/g)].map(([, ...piece]) =>
          piece.join(" "),
        ),
      );

  it("shows by how much the statement and the payments differ, and which part of each agrees", async () => {
    const inAll = (value: string) => ({ total: { value, currency: "KMF" } });
    const books = await storeOf(paid("a"), paid("lost", inAll("1000")), paid("unpaid", inAll("525")));
    const lines = ["a,1475,KMF,,MVK,,,,", "new,500,KMF,,,,,,", "unpaid,525,KMF,reversed,MVK,,,,"];
    const page = written(htmlReport({ madeAt }), await compared(books, header, lines));
    expect(page).toMatch(/class="bad">Statement minus books: <b>\u22121,025<\/b>/);
    const [, sums, channels] =
      /<div class="currency">([^]*?)(<section class="card channels">[^]*?<\/section>)/.exec(page)!;
    expect(barsIn(sums!)).toEqual([
      ["good 0 492", "bad 492 167"],
      ["good 0 492", "bad 492 333", "bad 825 175"],
    ]);
    expect(barsIn(channels!)).toEqual([["bad 0 1000"], ["good 0 1000"]]);
    expect(channels).toMatch(/\(none\)[^]*MVK/);
    const legends = [...sums!.matchAll(/<li class="(\w+)">\s*<span>([^<]*?) <[^]*?class="value">(.*?)</g)];
    expect(legends.map(([, ...part]) => part.join(" "))).toEqual([
      "good Matched 1,475",
      "bad Missing in your books 500",
      "bad Missing on the statement 1,000",
      "bad Unpaid on the statement 525",
    ]);
  });

  it("adds up the channels after the first two hundred", async () => {
    const lines = Array.from({ length: 201 }, (_, index) => `x${index},1,KMF,,s${index},,,,`);
    const page = written(htmlReport({ madeAt }), await compared(await storeOf(), header, lines));
    expect(page).toContain("(all others)");
    expect(page).not.toContain("s200<");
  });

  /** Returns the text of a page, with a bar after each cell. */
  const cellsOf = (page: string): string =>
    page
      .replaceAll(/<\/t[dh]>/g, "|")
      .replaceAll(/<[^>]*>/g, " ")
      .replaceAll(/\s+/g, " ");

  it.each([
    ["missing_here", "Line | Payment | Statement | 4 | =cmd"],
    ["missing_there", "Payment | Your books | lost order-lost | 1,475 KMF completed 2024-05-10 10:05 UTC |"],
    [
      "unmatched_row",
      "Line | Statement | What is wrong | 13 | 650 KMF MVK paid 2024-05-10 12:00 UTC | The row",
    ],
    [
      "amount_differs",
      "Line | Payment | Statement | Your books | Difference | 5 | amount order-amount | 1,234,567.50 EUR MVK paid | 1,234,567.80 EUR completed 2024-05-10 10:05 UTC | \u22120.30 EUR |",
    ],
    ["listed_twice", "Line | Payment | Statement | 2, 3 | same order-same | 1,475 KMF MVK |"],
    [
      "paid_twice",
      "Line | Payment | Your books | Other | 12 | second two | 1,475 KMF completed 2024-05-10 10:05 UTC | first |",
    ],
    [
      "payout_differs",
      "Line | Payment | Statement | Difference | 11 | &lt;i&gt;P1&lt;/i&gt; | 1,400 KMF | 1 KMF |",
    ],
    ["bad_row", "Line | What is wrong | 14 | value "],
  ])("lists what differs, with both sides: %s", async (kind, rows) => {
    const page = written(htmlReport({ madeAt }), await everything());
    const [, table] = new RegExp(`id="${kind}">.*?(<table.*?</table>)`, "s").exec(page)!;
    expect(cellsOf(table!).replaceAll(/ *\| */g, " | ")).toContain(rows);
  });

  it("has a column for what only some findings of a list have", async () => {
    const { findings, summary } = await everything();
    const differing = findings.filter(({ kind }) => kind === "amount_differs");
    const run = { findings: [...differing, { kind: "amount_differs" as const }], found: [], summary };
    expect(cellsOf(written(htmlReport({ madeAt }), run))).toContain("Difference|");
  });

  it.each([
    ["2024-05-01T00:00:00.000Z", "2024-06-01T00:00:00.000Z", "2024-05-01 \u2013 2024-05-31"],
    ["2024-05-01T00:00:00.000Z", "2024-05-02T00:00:00.000Z", "2024-05-01"],
    [
      "2024-05-01T00:30:00.000Z",
      "2024-05-02T00:00:00.000Z",
      "2024-05-01 00:30 UTC \u2013 2024-05-02 00:00 UTC",
    ],
  ])(
    "begins with the statement, the period from %s to %s, and the numbers of rows",
    async (from, to, period) => {
      const { summary } = await everything();
      const rows = { ...summary.rows, foreign: 4, outsidePeriod: 5, unpaid: 6 };
      const run = { findings: [], found: [], summary: { ...summary, period: { from, to }, rows } };
      const text = cellsOf(written(htmlReport({ name: "may.csv", madeAt }), run));
      expect(text).toContain(
        `Statement may.csv Period ${period} Made 2024-06-01 08:00 UTC 42 differences, 1`,
      );
      expect(text).toContain(" 43 rows read 7 completed in your books 6 ");
      expect(text).toMatch(/ 6 [a-z][^0-9]* 4 [a-z][^0-9]* 5 [a-z]/);
    },
  );

  it("unfolds the lists of up to ten findings, and lists up to two hundred", async () => {
    const books = await storeOf(...Array.from({ length: 10 }, (_, index) => paid(`p${index}`)));
    const pageOf = async (count: number) => {
      const rows = Array.from({ length: count }, (_, index) => `x${index},1,KMF,,,,,,`);
      return written(htmlReport({ madeAt }), await compared(books, header, rows));
    };
    const few = await pageOf(5);
    const [chart] = /<section class="card kinds">.*?<\/section>/s.exec(few)!;
    expect(barsIn(chart)).toEqual([["bad 0 500"], ["bad 0 1000"]]);
    expect(few.match(/<details [^>]* open>/g)).toHaveLength(2);
    expect((await pageOf(11)).match(/<details [^>]* open>/g)).toHaveLength(1);
    expect(await pageOf(200)).not.toContain("reports list");
    expect(await pageOf(201)).toContain("The CSV and JSON reports list 1 more.");
  });

  it("shows the number of findings that it does not list", async () => {
    const rows = Array.from({ length: 30 }, (_, index) => `x${index},1,KMF,,,,,,`);
    const run = await compared(await storeOf(), header, rows);
    const page = written(htmlReport({ listed: 5, madeAt }), run);
    expect(page.match(/<code>x\d+<\/code\s*>/g)).toHaveLength(5);
    expect(page).toContain("The CSV and JSON reports list 25 more.");
  });

  it("says that everything agrees only where it does", async () => {
    const agreed = await compared(await storeOf(paid("a")), header, ["a,1475,KMF,,,,,,"]);
    expect(written(htmlReport({ madeAt }), agreed)).toContain("Everything agrees");
    const bad = await compared(await storeOf(paid("a")), header, ["a,1475,KMF,,,,,,", "a,x,KMF,,,,,,"]);
    const page = written(htmlReport({ madeAt }), bad);
    expect(page).not.toContain("Everything agrees");
    expect(page).toContain("1\u00a0unreadable\u00a0row");
  });
});

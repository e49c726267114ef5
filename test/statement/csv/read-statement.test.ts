import { fc } from "../../support/property.js";
import {
  readStatement,
  type StatementFormat,
  type StatementRow,
  type UnreadableRow,
} from "tillkit/statement";

type Row = StatementRow | UnreadableRow;

async function rowsOf(
  statement: Parameters<typeof readStatement>[0],
  format: StatementFormat = {},
): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const row of readStatement(statement, format)) rows.push(row);
  return rows;
}

/** Returns a text for each row: its line, clientId and amount, or its line and problem. */
async function textsFor(
  statement: Parameters<typeof readStatement>[0],
  format?: StatementFormat,
): Promise<string[]> {
  return (await rowsOf(statement, format)).map((row) =>
    "problem" in row
      ? `${row.line} ${row.problem.code}`
      : [row.line, row.clientId, row.value, row.currency].join(" "),
  );
}

const header = "clientId,value,currency";

/** Splits bytes into pieces of this length, like a stream. */
function* inPieces(bytes: Buffer, length: number): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

describe("a statement in CSV", () => {
  it("is read with LF and CRLF, with and without a line break at its end, with and without a byte order mark", async () => {
    for (const ending of ["\n", "\r\n", "\r\r\n"])
      for (const last of ["", ending])
        for (const mark of ["", "\uFEFF"])
          expect(await textsFor(mark + [header, "a,1,KMF", "b,2,KMF"].join(ending) + last)).toEqual([
            "2 a 1 KMF",
            "3 b 2 KMF",
          ]);
  });

  it("may quote fields, with delimiters, quotation marks and line breaks in them", async () => {
    const text = 'note,"clientId",value,currency\n"a, ""b""\r\nc\n",x,"1",KMF\n"",y,2,"KMF"\n';
    expect(await textsFor(text)).toEqual(["2 x 1 KMF", "5 y 2 KMF"]);
    const marks = 'clientId,value,currency\n"""a""b""",1,KMF';
    expect(await textsFor(marks)).toEqual(['2 "a"b" 1 KMF']);
  });

  it("finds its delimiter, or uses the given one", async () => {
    for (const delimiter of [",", ";", "\t", "|"]) {
      const text = [header, "a,1,KMF"].join("\n").replaceAll(",", delimiter);
      expect(await textsFor(text)).toEqual(["2 a 1 KMF"]);
    }
    const spaced = { delimiter: " " };
    expect(await textsFor("clientId value currency\na 1 KMF", spaced)).toEqual(["2 a 1 KMF"]);
    const commasInHeader = '"clientId";"value, in ""KMF"", that is";currency\na;1;KMF';
    expect(await textsFor(commasInHeader, { columns: { value: 2 } })).toEqual(["2 a 1 KMF"]);
  });

  it("skips blank lines, empty rows, comments, and lines above the table", async () => {
    const text = `Settlement of May\n\n# by hand, in May\n${header}\n\na,1,KMF\n,,\n# the "rest"\n   \nc,3,KMF\n`;
    expect(await textsFor(text, { skipLines: 1 })).toEqual(["6 a 1 KMF", "10 c 3 KMF"]);
    expect(await textsFor(`${header}\n#a,1,KMF`, { comment: "" })).toEqual(["2 #a 1 KMF"]);
  });

  it("reports or reads each line below the header that begins like a comment and has several cells", async () => {
    const lines = ["#1001,1,KMF", "# end", "#1002,1,50,KMF", '#1003,"1', "b,1,KMF", "#"];
    expect(await textsFor([header, ...lines].join("\n"))).toEqual([
      "2 #1001 1 KMF",
      "4 fields_count",
      "5 quote_open",
      "6 b 1 KMF",
    ]);
    const other = { comment: "--", delimiter: ";" };
    expect(await textsFor(`-- a;b\nclientId;value;currency\n--1;1;KMF\n-- 2,3`, other)).toEqual([
      "3 --1 1 KMF",
    ]);
  });

  it("names the comment that may be the header, where the first row does not name the columns", async () => {
    const told = {
      code: "statement_columns_unclear",
      message: expect.stringMatching(
        /^No column has .*Line 2 was skipped as a comment\. If this line is the header, give another `comment`\.$/,
      ),
    };
    const statement = "#,Ref,Amount,Currency\n1,a,5,KMF";
    await expect(rowsOf(`#July\n${statement}`)).rejects.toMatchObject(told);
    const columns = { clientId: "Ref", value: "Amount", currency: "Currency" };
    expect(await textsFor(statement, { comment: "", columns })).toEqual(["2 a 5 KMF"]);
  });

  it("takes no payment for the header where the columns are numbers and the header begins like a comment", async () => {
    const columns = { clientId: 2, value: 3, currency: 4 };
    const statement = "#,Ref,Amount,Currency\n1,a,5,KMF";
    await expect(rowsOf(statement, { columns })).rejects.toMatchObject({
      code: "statement_columns_unclear",
      message: expect.stringContaining("Line 1 was skipped as a comment"),
    });
    expect(await textsFor(statement, { columns, comment: "" })).toEqual(["2 a 5 KMF"]);
    expect(await textsFor(`#July, all shops\nNo,Ref,Amount,Currency\n1,a,5,KMF`, { columns })).toEqual([
      "3 a 5 KMF",
    ]);
  });

  it("takes no payment for the header where the columns are numbers and the line has an amount", async () => {
    const columns = { clientId: 1, value: 2, currency: 3 };
    for (const [text, format] of [
      ["a,1475,KMF\nb,5,KMF", {}],
      [`${header}\na,(1475.00),KMF\nb,5,KMF`, { skipLines: 1 }],
      ["a;1 475,50;KMF\nb;5;KMF", { decimalSeparator: ",", groupSeparator: " " }],
    ] satisfies [string, StatementFormat][])
      await expect(rowsOf(text, { columns, ...format })).rejects.toMatchObject({
        code: "statement_columns_unclear",
        message: expect.stringContaining("in the column of value is an amount"),
      });
    expect(await textsFor("a,1475,KMF", { columns, header: false })).toEqual(["1 a 1475 KMF"]);
    expect(await textsFor("Ref,2024 EUR,Cur\na,5,KMF", { columns })).toEqual(["2 a 5 KMF"]);
  });

  it("loses no row of a file without a header, also where its first row begins like a comment", async () => {
    const format = { header: false, columns: { clientId: 1, value: 2 }, fixed: { currency: "KMF" } } as const;
    expect(await textsFor("# May\n#1001;1\n#1002;2\n# end", format)).toEqual([
      "2 #1001 1 KMF",
      "3 #1002 2 KMF",
    ]);
  });

  it("finds columns by their usual names, by given names, by numbers, or has no such column", async () => {
    const usual = "Date;Total Value;CURRENCY;client_id\n2024-05-01;5;KMF;a";
    expect(await rowsOf(usual)).toEqual([
      expect.objectContaining({ clientId: "a", value: "5", time: "2024-05-01T00:00:00Z" }),
    ]);
    const named = "Ref,Betrag,Währung\na,5,KMF";
    const columns = { clientId: "Ref", value: 2, currency: "Währung" } as const;
    expect(await textsFor(named, { columns })).toEqual(["2 a 5 KMF"]);
    expect(
      await textsFor("a,5", {
        header: false,
        columns: { clientId: 1, value: 2 },
        fixed: { currency: "KMF" },
      }),
    ).toEqual(["1 a 5 KMF"]);
    const fixed = { currency: "KMF", source: "MVK", status: "paid" };
    expect(await rowsOf("clientId,value,source\na,5,\nb,6,HOL", { fixed })).toMatchObject([
      { clientId: "a", ...fixed },
      { clientId: "b", ...fixed, source: "HOL" },
    ]);
    expect(await textsFor(`${header}\na,1,EUR\nb,2,`, { fixed })).toEqual(["2 a 1 EUR", "3 b 2 KMF"]);
    const [row] = await rowsOf("id,clientId,value,currency\ns,a,1,KMF", { columns: { serviceId: false } });
    expect(row).toMatchObject({ clientId: "a", serviceId: undefined });
  });

  it.each([
    [
      "no id",
      "value,currency\n1,KMF",
      {},
      'No column has the clientId, the serviceId, the providerId or the time. The headers are: "value", "currency".',
    ],
    ["no value", "clientId,currency\na,KMF", {}, "No column has the value."],
    ["a header that is not there", `${header}\na,1,KMF`, { columns: { value: "Sum" } }, 'No header is "Sum"'],
    [
      "two headers that fit",
      "clientId,value,value,currency\na,1,1,KMF",
      {},
      '"value" and "value" may both be the value',
    ],
    [
      "two different headers that fit one field",
      "clientId,amount,value,currency\na,1,2,KMF",
      {},
      '"amount" and "value" may both be the value',
    ],
    [
      "two ids of the service",
      "id,paymentId,value,currency\na,b,1,KMF",
      {},
      '"id" and "paymentId" may both be the serviceId',
    ],
    ["two times", "clientId,value,currency,submittedAt,completedAt\na,1,KMF,,", {}, "may both be the time"],
    [
      "two statuses",
      "clientId,value,currency,status,payment_status\na,1,KMF,,",
      {},
      "may both be the status",
    ],
    ["an amount and a total", "clientId,amount,total,currency\na,1,2,KMF", {}, "may both be the value"],
    ["a name twice", "clientId,v,v,currency\na,1,1,KMF", { columns: { value: "v" } }, '2 headers are "v"'],
    ["column 0", `${header}\na,1,KMF`, { columns: { value: 0 } }, "column numbers start at 1"],
  ] satisfies [string, string, StatementFormat, string][])(
    "is refused with %s, and the error lists the headers",
    async (_, text, format, message) => {
      await expect(rowsOf(text, format)).rejects.toMatchObject({
        code: "statement_columns_unclear",
        message: expect.stringContaining(message),
      });
    },
  );

  it("refuses a refund without a minus by its kind, unless the column of the kind is a field of the row", async () => {
    const rows = `${header},Type\na,1,KMF,refund\na,-1,KMF,refund`;
    expect(await textsFor(rows)).toEqual(["2 value_invalid", "3 a -1 KMF"]);
    expect(await textsFor(rows, { columns: { status: "Type" } })).toEqual(["2 a 1 KMF", "3 a -1 KMF"]);
  });

  it("is refused where it is empty, in UTF-16, has too few columns, or has a broken header", async () => {
    const utf16 = Buffer.from(`\uFEFF${header}\na,1,KMF`, "utf16le");
    const cases: [string | Buffer, StatementFormat?][] = [
      ["", {}],
      ["\uFEFF", {}],
      ["\n# nothing\n", {}],
      [utf16, {}],
      [Buffer.from(utf16).swap16(), {}],
      [utf16.subarray(2), { columns: {}, encoding: "windows-1252" }],
      [Buffer.from(utf16).swap16().subarray(2), {}],
      ['"clientId"x,value,currency\na,1,KMF', {}],
      [`${header},note\ra,1,KMF,x\rb,2,KMF,y`, {}],
      [`${header}\na,1,KMF`, { columns: { clientId: 4 } }],
    ];
    for (const [statement, format] of cases)
      await expect(rowsOf(statement, format)).rejects.toMatchObject({ code: "statement_unreadable" });
  });

  it.each([
    [Buffer.from("504b030414000600", "hex"), "The statement is an Excel workbook or another ZIP file."],
    [Buffer.from("d0cf11e0a1b11ae1", "hex"), "The statement is an Excel workbook. Save it as CSV."],
    ["%PDF-1.7\n%\n", "The statement is a PDF file. Save it as CSV."],
    [
      '"clientId"x,value\n',
      "on line 1: A quotation mark is in a place where RFC 4180 does not allow it, at position 11.",
    ],
  ])("is refused with what is wrong: %#", async (statement, message) => {
    const error = await rowsOf(statement).catch((thrown: unknown) => thrown as Error);
    expect(error).toMatchObject({
      code: "statement_unreadable",
      message: expect.stringContaining(message),
    });
    expect((error as Error).message).not.toContain("..");
  });

  it("reports records that break the rules with their line, and goes on", async () => {
    const long = "x".repeat(70_000);
    const text = [
      header,
      "a,1,KMF",
      "too,few",
      "one,too,many,fields",
      'b"c,1,KMF',
      '"d"e,1,KMF',
      '"never closed,1,KMF',
      "f,2,KMF",
      `${long},1,KMF`,
      "g,3,KMF",
    ].join("\n");
    expect(await textsFor(text)).toEqual([
      "2 a 1 KMF",
      "3 fields_count",
      "4 fields_count",
      "5 quote_misplaced",
      "6 quote_misplaced",
      "7 quote_open",
      "8 f 2 KMF",
      "9 line_too_long",
      "10 g 3 KMF",
    ]);
  });

  it("reports an amount that does not fit the separators, with its text and the ids that are valid", async () => {
    const text = `clientId;serviceId;value;currency\na;s;10.000;KMF\nb;;10;KMF\n${"x".repeat(201)};t;1.5;EUR`;
    const problem = (shown: string) => ({
      code: "value_invalid",
      message: `value "${shown}" does not match the separators of the statement.`,
    });
    expect(await rowsOf(text, { decimalSeparator: "," })).toEqual([
      { line: 2, problem: problem("10.000"), clientId: "a", serviceId: "s" },
      expect.objectContaining({ line: 3, value: "10" }),
      { line: 4, problem: problem("1.5"), serviceId: "t" },
    ]);
  });

  it("loses one record, and not the file, to an extra quotation mark", async () => {
    const filler = Array.from({ length: 5000 }, (_, index) => `r${index},1,KMF`);
    const text = [header, '"open,1,KMF', ...filler].join("\n");
    const rows = await textsFor(text);
    expect(rows[0]).toBe("2 quote_open");
    expect(rows.slice(1)).toEqual(filler.map((_, index) => `${index + 3} r${index} 1 KMF`));
  });

  it("loses no row between an unclosed quotation mark and a mark that could close it", async () => {
    const lines = [
      "clientId,note,value,currency",
      'a,"open,1,KMF',
      "b,,2,KMF",
      'c,", two',
      'lines",3,KMF',
      "d,,4,KMF",
    ];
    expect(await textsFor(lines.join("\n"))).toEqual(["2 quote_open", "3 b 2 KMF", "4 c 3 KMF", "6 d 4 KMF"]);
  });

  it("may have records over several lines that are longer than one record can be, added up", async () => {
    const records = Array.from({ length: 30 }, (_, index) => `"a\n${"x".repeat(5000)}\nb",r${index},1,KMF`);
    const rows = await textsFor(`note,${header}\n${records.join("\n")}\n`);
    expect(rows).toEqual(records.map((_, index) => `${2 + 3 * index} r${index} 1 KMF`));
  });

  it("is decoded strictly, line by line, and never with replacement characters", async () => {
    const bytes = Buffer.concat([
      Buffer.from(`${header}\nà,1,KMF\n`),
      Buffer.from([0x62, 0xe9, 0x2c, 0x31, 0x2c, 0x4b, 0x4d, 0x46, 0x0a]),
      Buffer.from("c,3,KMF\n"),
    ]);
    expect(await textsFor(bytes)).toEqual(["2 à 1 KMF", "3 encoding_invalid", "4 c 3 KMF"]);
    const french = Buffer.from(`${header}\nb\xe9,1,KMF\n`, "latin1");
    expect(await textsFor(french, { encoding: "windows-1252" })).toEqual(["2 bé 1 KMF"]);
  });

  it("loses no row after a line that is too long, also where the rest of this line cannot be decoded", async () => {
    const pieces = [`${header}\n`, Buffer.alloc(70_000, "x"), Buffer.from([0xff, 0x0a]), "a,1,KMF\n"];
    expect(await textsFor(pieces)).toEqual(["2 line_too_long", "3 a 1 KMF"]);
  });

  it("gives the same rows whatever the pieces, also where it is broken", async () => {
    const piece = fc.constantFrom("a", "é", "🧾", '"', ",", "\n", "\r\n", ";", "1", "#", " ", "\uFEFF", "\r");
    const body = fc
      .array(piece, { maxLength: 60 })
      .map((parts) => Buffer.from(`${header}\n${parts.join("")}`));
    const bytes = fc.oneof(
      body,
      fc.tuple(body, fc.nat(), fc.integer({ min: 0, max: 255 })).map(([good, at, byte]) => {
        const bad = Buffer.from(good);
        bad[header.length + 1 + (at % Math.max(1, bad.length - header.length - 1))] = byte;
        return bad;
      }),
    );
    await fc.assert(
      fc.asyncProperty(bytes, fc.integer({ min: 1, max: 9 }), async (given, length) => {
        expect(await rowsOf(inPieces(given, length))).toEqual(await rowsOf([given]));
      }),
      { numRuns: 300 },
    );
  });

  it("returns every field that was written by RFC 4180", async () => {
    const text = fc.string({ unit: "binary", maxLength: 20 }).map((one) => one.replaceAll("\0", "0"));
    const quoted = (field: string): string => `"${field.replaceAll('"', '""')}"`;
    const line = fc.record({
      // Space around a field is not part of an id.
      id: text.map((one) => one.trim()).filter((one) => one !== ""),
      note: text,
      quote: fc.boolean(),
      ending: fc.constantFrom("\n", "\r\n"),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 12 }),
        fc.constantFrom(",", ";", "|"),
        async (lines, delimiter) => {
          const written = lines.map(({ id, note, quote, ending }) => {
            const mustQuote = (field: string) => quote || /[",;|\r\n]/.test(field);
            const fields = [id, note, "1", "KMF"].map((field) => (mustQuote(field) ? quoted(field) : field));
            return fields.join(delimiter) + ending;
          });
          const text = ["clientId", "note", "value", "currency"].join(delimiter) + "\n" + written.join("");
          const read = (await rowsOf(text)) as StatementRow[];
          expect(read.map(({ clientId }) => clientId)).toEqual(lines.map(({ id }) => id));
        },
      ),
      { numRuns: 200 },
    );
  });

  it("is read in small parts: a file without line breaks is not held in memory", async () => {
    function* endless(): Generator<Buffer> {
      yield Buffer.from(`${header}\n`);
      const piece = Buffer.alloc(1024 * 1024, "x");
      for (let count = 0; count < 200; count += 1) yield piece;
      yield Buffer.from("\na,1,KMF\n");
    }
    const before = process.memoryUsage().arrayBuffers;
    expect(await textsFor(endless())).toEqual(["2 line_too_long", "3 a 1 KMF"]);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(50_000_000);
  });

  it("refuses invalid options", () => {
    const formats: StatementFormat[] = [
      { delimiter: "" },
      { delimiter: "::" },
      { delimiter: '"' },
      { skipLines: -1 },
      { utcOffset: "3" },
      { encoding: "utf-16" as never },
      { groupSeparator: "." },
      { decimalSeparator: ".", groupSeparator: "." },
      { decimalSeparator: ",", groupSeparator: "," },
      { header: false, columns: { value: "Sum" } },
    ];
    for (const format of formats)
      expect(() => readStatement("", format)).toThrow(expect.objectContaining({ code: "option_invalid" }));
  });
});

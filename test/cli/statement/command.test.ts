import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { sqliteStore } from "tillkit/sql";
import { webhook } from "../../../src/store/exam/checks/fixtures.js";
import { saved } from "../../../src/store/exam/checks/steps.js";
import { paid, pending } from "../../statement/support/stored.js";
import { documentOf, runCli, temporaryFolder } from "../support/run-cli.js";

const folder = temporaryFolder();
const period = ["--from", "2024-05-01", "--to", "2024-06-01"];

beforeAll(async () => {
  const store = sqliteStore(path.join(folder.path, "shop.db"));
  const created = [
    paid("a"),
    paid("b"),
    pending("c"),
    paid("midnight", { completedAt: "2024-05-31T21:30:00.000Z" }),
  ];
  await store.transaction((tx) => store.save(tx, { created }));
  await store.close();
  folder.write("agreed.csv", "clientId,value,currency\na,1475,KMF\nb,1475,KMF\nmidnight,1475,KMF\n");
  folder.write("differs.csv", "clientId,value,currency\na,1400,KMF\nx,1,KMF\nb,1475,KMF,\n");
});

const compare = (...args: string[]) =>
  runCli(["statement", ...args, "--store", "shop.db"], { cwd: folder.path });

describe("tillkit statement", () => {
  it("ends with 0 if everything agrees", async () => {
    const { code, stdout, stderr } = await compare("agreed.csv", ...period);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("Everything agrees.");
    expect(stdout).toMatch(/3 rows, 3 matched/);
  });

  it("says why the sums differ although everything agrees", async () => {
    const { code, stdout } = await compare("agreed.csv", "--from", "2024-05-01", "--to", "2024-05-31");
    expect(code).toBe(0);
    expect(stdout).toContain(
      "KMF  The store has 1475 of the statement as completed before or after the period.\n",
    );
  });

  it("knows the shop's prefix from the environment, and from the file that --env-file names", async () => {
    folder.write(
      "other.csv",
      "clientId,value,currency\na,1475,KMF\nb,1475,KMF\nmidnight,1475,KMF\nx-1,1,KMF\n",
    );
    folder.write("shop.env", "TILLKIT_CLIENT_ID_PREFIX=a\n");
    const rowsOf = async (...more: string[]) =>
      documentOf(await compare("other.csv", ...period, "--json", ...more));
    const [all, own] = [await rowsOf(), await rowsOf("--env-file", "shop.env")];
    expect(JSON.stringify(all)).toContain("missing_here");
    expect(own).not.toEqual(all);
    expect(own).toEqual({
      ...(await rowsOf("--client-id-prefix", "a")),
      seconds: expect.anything() as number,
      peakBytes: expect.anything() as number,
    });
  });

  it("names the option for the format of times where no row of this shop has one that it can read", async () => {
    folder.write(
      "days.csv",
      "clientId,value,currency,Date\nk-a,1475,KMF,31/05/2024 14:03\nm-b,9,KMF,2024-05-31\n",
    );
    for (const more of [[], period]) {
      const ran = await compare("days.csv", "--client-id-prefix", "k-", ...more);
      expect(ran.stdout + ran.stderr).toContain("(--time-format)");
    }
  });

  it("needs the prefix of this shop where the store has webhooks of another one", async () => {
    const store = sqliteStore(path.join(folder.path, "two.db"));
    await saved(store, { webhooks: [webhook("w-1", { clientId: "m-1", outcome: "foreign" })] });
    await store.close();
    folder.write("two.csv", "clientId,value,currency\nm-1,9,KMF\nm-2,11,KMF\n");
    const two = (...more: string[]) =>
      runCli(["statement", "two.csv", ...period, "--store", "two.db", ...more], { cwd: folder.path });
    expect(await two()).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("Give the application's --client-id-prefix"),
    });
    expect((await two("--client-id-prefix", "k-")).stdout).toMatch(
      /2 foreign\nforeign {2}lines 2, 3; sum 20 KMF\n/,
    );
    expect((await two("--client-id-prefix=")).stdout).toContain("payments adopt m-1");
    const env = { TILLKIT_CLIENT_ID_PREFIX: "k-" };
    const argv = ["statement", "two.csv", ...period, "--store", "two.db", "--client-id-prefix="];
    expect((await runCli(argv, { cwd: folder.path, env })).stdout).toContain("payments adopt m-1");
  });

  it("ends with 1 if something differs, and prints how often", async () => {
    const { code, stdout } = await compare("differs.csv", ...period);
    expect(code).toBe(1);
    expect(stdout).toMatch(/1 {2}missing_here {2}/);
    expect(stdout).toMatch(/1 {2}amount_differs {2}/);
    expect(stdout).toContain("4 differences, 1 unreadable row.");
  });

  it("prints what a person asks the service about: the difference, the fee, and the provider's numbers", async () => {
    const store = sqliteStore(path.join(folder.path, "asked.db"));
    const reported = {
      status: "completed",
      providerId: "MVK-9",
      at: "2024-05-02T10:00:00.000Z",
      verified: [],
    };
    await saved(store, { created: [paid("a"), paid("b"), paid("only-here", { reported })] });
    await store.close();
    const header = "clientId,value,fee,net,providerId,source,currency";
    const rows = ["a,1400,,,MVK-1,,KMF", "b,1475,25,1440,MVK-2,,KMF", "b,-500,,,MVK-R3,,KMF"];
    folder.write("asked.csv", [header, ...rows, ""].join("\n"));
    const argv = ["statement", "asked.csv", ...period, "--store", "asked.db"];
    const { stdout } = await runCli(argv, { cwd: folder.path });
    const printed = stdout.replaceAll(/\s+/g, " ");
    expect(printed).toMatch(
      /line 2: amount_differs: .*statement 1400 KMF; stored 1475 KMF, completed; difference -75 /,
    );
    expect(printed).toMatch(
      /line 3: fee_differs: order \S+; b; number MVK-2; .*fee 25, net 1440; difference -10 /,
    );
    expect(printed).toContain("Ask the service why the net amount is not the gross amount minus the fee.");
    expect(printed).toMatch(/line 4: refund_missing_here: .*number MVK-R3; .*statement -500 KMF; /);
    expect(printed).toMatch(/missing_there: .*only-here; number MVK-9; .*stored 1475 KMF/);
  });

  it("prints first what a command settles, with few examples of what is only missing there", async () => {
    const store = sqliteStore(path.join(folder.path, "order.db"));
    const many = Array.from({ length: 30 }, (_, n) =>
      paid(`m${n}`, { total: { value: "9", currency: "KMF" } }),
    );
    const twice = ["t1", "t2"].map((id) => paid(id, { reference: "twice" }));
    const fit = { total: { value: "650", currency: "KMF" } };
    const created = [...many, ...twice, pending("u"), pending("fits", fit), paid("too", fit), paid("other")];
    await store.transaction((tx) => store.save(tx, { created }));
    await store.close();
    const at = "2024-05-10T12:00:00Z";
    folder.write(
      "order.csv",
      `clientId,value,currency,time\nother,9,KMF,${at}\n,650,KMF,${at}\n,4444,KMF,${at}\nu,1475,KMF,${at}\n` +
        `t1,1475,KMF,${at}\nt2,1475,KMF,${at}\nt1,-500,KMF,${at}\nx,y,KMF,${at}\n`,
    );
    const args = ["statement", "order.csv", ...period, "--store", "order.db"];
    const { stdout } = await runCli(args, { cwd: folder.path });
    const headings = [...stdout.matchAll(/^(?:line (\d+): )?(\w+): /gm)].map(([, line, kind]) => [
      kind,
      line,
    ]);
    expect(headings).toEqual([
      ["unmatched_row", "3"],
      ["unpaid_here", "5"],
      ["refund_missing_here", "8"],
      ["paid_twice", "7"],
      ["amount_differs", "2"],
      ["unmatched_row", "4"],
      ["bad_row", "9"],
      ["missing_there", undefined],
      ["missing_there", undefined],
      ["missing_there", undefined],
    ]);
    expect(stdout).toContain(
      "… and 28 missing_there more. For a complete list, add --report differences.csv.",
    );
    expect(stdout).toMatch(
      /order-fits, pending\n {2}tillkit resolve accept --client-id fits .*--document order.csv:3 --value 650 /,
    );
    expect(stdout).toMatch(
      /order order-too, completed\n {2}tillkit payments show too .*\n {2}If it is one of these payments, write the payment's clientId /,
    );
    expect(stdout).toContain("8 rows, 2 matched, 1 refund, 2 unmatched, 1 unreadable");
    expect(stdout).toContain("\n  Ask the service which payment this is. If it is one of this shop, write ");
    expect(stdout).toContain("KMF  refunds 500; total of the statement 9028");
    const sums = stdout.replaceAll(/\n {5}/g, " ");
    expect(sums).toContain(
      "KMF  not matched: unmatched_row 5094 (line 3, line 4), amount_differs 9 (order-other), unpaid_here 1475 (order-u)\n",
    );
    expect(sums).toMatch(
      /KMF {2}not on the statement: missing_there 920 \(order-\w+, order-\w+, order-\w+, …\)\n/,
    );
    expect(stdout).toMatch(/; the first\sis t1\n/);
    // The store has no payment x.
    expect(stdout).not.toContain("tillkit payments show x ");
    expect(stdout).toContain("These sums do not include 1 unreadable row.");
  });

  it("prints no command that would record a refund in another currency than that of the row", async () => {
    const store = sqliteStore(path.join(folder.path, "euro.db"));
    await store.transaction((tx) => store.save(tx, { created: [paid("a")] }));
    await store.close();
    const at = "2024-05-10T12:00:00Z";
    folder.write("euro.csv", `clientId,value,currency,time\na,1475,KMF,${at}\na,-5,EUR,${at}\n`);
    const args = ["statement", "euro.csv", ...period, "--store", "euro.db"];
    const { stdout } = await runCli(args, { cwd: folder.path });
    expect(stdout).toContain("line 3: refund_missing_here");
    expect(stdout).toContain("tillkit payments show a");
    expect(stdout).not.toContain("payments refund");
  });

  it("prints what the service must be asked, with the number and the time by which it finds the payment", async () => {
    const rows = "clientId,value,currency,time,providerId\n,4444,KMF,2024-05-10T12:00:00Z,HOL-6D20\n";
    folder.write("asked.csv", rows);
    const { stdout } = await compare("asked.csv", ...period);
    const printed = stdout.replaceAll(/\s+/g, " ");
    expect(printed).toContain(
      "unmatched_row: number HOL-6D20; 2024-05-10T12:00:00.000Z; statement 4444 KMF;",
    );
    expect(printed).toMatch(
      /missing_there: .*Z; stored .* Ask the service why this payment is not on the statement\./,
    );
  });

  it("prints the status of a row that says unpaid, and the option for a status that means paid", async () => {
    folder.write("status.csv", "clientId,value,currency,time,status\na,1475,KMF,2024-05-10T12:00:00Z,Payé\n");
    const { stdout } = await compare("status.csv", ...period);
    const printed = stdout.replaceAll(/\s+/g, " ");
    expect(printed).toMatch(/line 2: unpaid_there: .*statement 1475 KMF, Payé; stored/);
    expect(printed).toContain('If the status "Payé" means paid, compare again with --paid-status.');
  });

  it("without a period compares the days in the offset of the statement", async () => {
    folder.write("mai.csv", "clientId,value,currency,Date\nmidnight,1475,KMF,01/06/2024\n");
    const french = ["--time-format", "day-first", "--utc-offset=+03:00"];
    const ran = await compare("mai.csv", ...french, "--json");
    expect(documentOf(ran)).toMatchObject({
      balanced: true,
      stored: 1,
      period: { from: "2024-05-31T21:00:00.000Z", to: "2024-06-01T21:00:00.000Z" },
    });
  });

  it("names a statement from standard input in the command that settles a difference", async () => {
    const argv = ["statement", "-", ...period, "--language", "en", "--store", "shop.db"];
    const stdin = "clientId,value,currency\na,1475,KMF\nc,1475,KMF\n";
    const { stdout } = await runCli(argv, { cwd: folder.path, stdin });
    expect(stdout).toContain(" --document statement:3 ");
  });

  it("prints one JSON document", async () => {
    const ran = await compare("differs.csv", ...period, "--json");
    expect(documentOf(ran)).toMatchObject({
      balanced: false,
      counts: { missing_here: 1, missing_there: 2, amount_differs: 1, bad_row: 1 },
      rows: { read: 3, matched: 0 },
      bytes: 55,
      peakBytes: expect.any(Number),
    });
  });

  it("writes each report in the format of its extension, and leaves no temporary file", async () => {
    const reports = ["r.html", "r.csv", "r.json"];
    const options = reports.flatMap((report) => ["--report", report]);
    const { code } = await compare("differs.csv", ...period, ...options, "--language", "fr");
    expect(code).toBe(1);
    for (const report of reports) expect(statSync(path.join(folder.path, report)).mode & 0o777).toBe(0o600);
    const [page, table, document] = reports.map((report) =>
      readFileSync(path.join(folder.path, report), "utf8"),
    );
    expect(page).toContain("Relevé et livres");
    expect(page).toContain("differs.csv");
    expect(table!.split("\r\n")).toHaveLength(7);
    expect(JSON.parse(document!)).toMatchObject({ summary: { differences: 4 } });
    expect(readdirSync(folder.path).filter((name) => name.includes("part"))).toEqual([]);
  });

  it("names in its document every report, and all bytes of a file that it reads in several parts", async () => {
    const note = `# ${"x".repeat(60_000)}\n`;
    const text = `${note.repeat(10)}clientId,value,currency\na,1475,KMF\n`;
    folder.write("long.csv", text);
    const reports = ["first.csv", "second.html"];
    const options = reports.flatMap((report) => ["--report", report]);
    const ran = await compare("long.csv", ...period, ...options, "--json");
    expect(documentOf(ran)).toMatchObject({ bytes: text.length, reports });
  });

  it("reads standard input, with columns and a format of its own", async () => {
    const stdin = Buffer.from(
      'Relevé de mai\nRéf;Montant;Date\n"a";"1 475,00";10/05/2024 12:00\nb;1475;11/05/2024\n',
      "latin1",
    );
    const args = ["--column", "clientId=Réf", "--column", "value=Montant", "--column", "time=Date"];
    const writing = [
      "--fixed",
      "currency=KMF",
      "--decimal",
      ",",
      "--group",
      "space",
      "--time-format",
      "day-first",
    ];
    const all = [
      ...args,
      ...writing,
      "--skip-lines",
      "1",
      "--encoding",
      "windows-1252",
      "--utc-offset=+03:00",
    ];
    // With this offset the last payment was completed after the end of the month.
    const days = ["--from", "2024-05-01", "--to", "2024-06-01"];
    const { code, stdout } = await runCli(["statement", "-", "--store", "shop.db", ...all, ...days], {
      cwd: folder.path,
      stdin,
    });
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining("2 matched") });
  });

  it("takes further statuses that mean paid, and only these", async () => {
    folder.write(
      "statuses.csv",
      "clientId,value,currency,status\na,1475,KMF,ok\nb,1475,KMF,ok\nmidnight,1475,KMF,done\n",
    );
    const counts = async (...args: string[]) =>
      documentOf(await compare("statuses.csv", ...period, "--json", ...args)).rows.matched;
    expect(await counts()).toBe(0);
    expect(await counts("--paid-status", "ok", "--paid-status", "done")).toBe(3);
  });

  it("allows completions near an end of the period, and reads no payments that are older", async () => {
    folder.write("edge.csv", "clientId,value,currency\na,1475,KMF\nb,1475,KMF\n");
    const differences = async (...args: string[]) =>
      documentOf(await compare("edge.csv", "--json", ...args)).counts;
    expect(await differences(...period)).toMatchObject({ missing_there: 1 });
    expect(await differences(...period, "--edge", "200")).not.toMatchObject({ missing_there: 1 });
    expect(await differences(...period, "--edge", "100")).toMatchObject({ missing_there: 1 });
    const sinceThe11th = ["--from", "2024-05-11", "--to", "2024-06-01"];
    expect(await differences(...sinceThe11th)).toMatchObject({ missing_there: 1 });
    const later = [...sinceThe11th, "--created-from", "2024-05-11"];
    expect(await differences(...later)).not.toMatchObject({ missing_there: 1 });
  });

  it("reads the payments of a day of --created-from that begins in the offset of the statement", async () => {
    folder.write("first.csv", "clientId,value,currency\na,1475,KMF\n");
    const days = ["--from", "2024-05-11", "--to", "2024-06-01"];
    const sinceThe11th = [...days, "--created-from", "2024-05-11", "--json"];
    const storedWith = async (...args: string[]) =>
      documentOf(await compare("first.csv", ...sinceThe11th, ...args)).stored;
    // The payments were created on May 10 at 10:00 UTC.
    expect(await storedWith("--utc-offset=+13:00")).toBe(0);
    expect(await storedWith("--utc-offset=+14:00")).toBe(2);
  });

  it("writes its temporary files where it is told", async () => {
    // So many rows are sorted in files.
    const rows = Array.from({ length: 17_000 }, (_, row) => `x-${row},1,KMF`);
    folder.write("many.csv", `clientId,value,currency\n${rows.join("\n")}\n`);
    const { stderr } = await compare("many.csv", ...period, "--temporary-directory", "nowhere");
    expect(stderr).toContain(path.join(folder.path, "nowhere"));
  });

  it("compares the tables that --table-prefix names", async () => {
    const store = sqliteStore(path.join(folder.path, "shop.db"), { tablePrefix: "south_" });
    await store.transaction((tx) => store.save(tx, { created: [paid("s")] }));
    await store.close();
    folder.write("south.csv", "clientId,value,currency\ns,1475,KMF\n");
    expect((await compare("south.csv", ...period)).code).toBe(1);
    expect((await compare("south.csv", ...period, "--table-prefix", "south_")).code).toBe(0);
  });

  it("draws a bar on a terminal, redraws it, and removes it", async () => {
    const { stderr } = await runCli(["statement", "agreed.csv", "--store", "shop.db", ...period], {
      cwd: folder.path,
      terminal: true,
    });
    expect(stderr).toMatch(/\[#{24}\]100% {2}0\.0 MB of 0\.0 MB, 3 rows/);
    expect(stderr).toContain("reading stored payments: 3");
    expect(stderr.endsWith("\r\u001b[K")).toBe(true);
    expect(stderr).not.toContain("\n");
  });

  it.each([
    ["a file", "agreed.csv"],
    ["standard input that ended too", "-"],
  ])(
    "stops by its signal over %s with one sentence and the exit code 130, and leaves no report",
    async (_, from) => {
      const ran = await runCli(
        ["statement", from, "--store", "shop.db", ...period, "--report", "stopped.html"],
        { cwd: folder.path, signal: AbortSignal.abort() },
      );
      const stderr = "The comparison was interrupted, and no report was written.\n";
      expect(ran).toEqual({ code: 130, stdout: "", stderr });
      expect(readdirSync(folder.path).filter((name) => name.startsWith("stopped"))).toEqual([]);
    },
  );

  it.each([
    ["no period, and rows without a time", ["agreed.csv"], "statement_period_missing"],
    ["half a period", ["agreed.csv", "--from", "2024-05-01"], "command_option_invalid"],
    ["the other half of a period", ["agreed.csv", "--to", "2024-06-01"], "Give both --from and --to"],
    ["an impossible period", ["agreed.csv", "--from", "2024-06-01", "--to", "2024-05-01"], "option_invalid"],
    [
      "columns that do not exist",
      ["agreed.csv", ...period, "--column", "value=Sum"],
      "statement_columns_unclear",
    ],
    ["an unknown field", ["agreed.csv", ...period, "--column", "amount=2"], "command_option_invalid"],
    [
      "a report of an unknown format",
      ["agreed.csv", ...period, "--report", "r.pdf"],
      "command_option_invalid",
    ],
    ["no file", [...period], "command_operand_invalid"],
    [
      "a report over the statement",
      ["agreed.csv", ...period, "--report", "./agreed.csv"],
      "is the statement",
    ],
    [
      "two reports in one file",
      ["agreed.csv", ...period, "--report", "r.csv", "--report", "r.csv"],
      "--report r.csv is the statement, or another report",
    ],
    ["an edge in hexadecimal digits", ["agreed.csv", ...period, "--edge=0x10"], "--edge must be a number"],
    ["an edge with an exponent", ["agreed.csv", ...period, "--edge=1e3"], "--edge must be a number"],
    ["an edge in other digits", ["agreed.csv", ...period, "--edge=٣"], "--edge must be a number"],
    [
      "a period of a day that does not exist",
      ["agreed.csv", "--from", "2024-05-01", "--to", "2024-05-32"],
      "--to must be a UTC day or a time with an offset",
    ],
    ["a wrong offset", ["agreed.csv", ...period, "--utc-offset=x"], "utcOffset must be"],
    ["half a line to skip", ["agreed.csv", ...period, "--skip-lines=5.5"], "skipLines must be"],
    ["an empty option", ["agreed.csv", ...period, "--edge", ""], "--edge is empty; give a value"],
  ])("ends with 2 for %s", async (_, args, code) => {
    const { code: exit, stderr } = await compare(...args);
    expect({ exit, stderr }).toEqual({ exit: 2, stderr: expect.stringContaining(code) });
  });

  it("does not create a database whose name was mistyped", async () => {
    const { code, stderr } = await runCli(["statement", "agreed.csv", ...period, "--store", "typo.db"], {
      cwd: folder.path,
    });
    expect(code).toBe(3);
    expect(stderr).toContain("There is no file typo.db.");
    expect(existsSync(path.join(folder.path, "typo.db"))).toBe(false);
  });

  it.each([
    ["a file that does not exist", ["nowhere.csv", ...period], "file_unreadable"],
    ["a folder", [".", ...period], "file_unreadable"],
    ["a file that is not a statement", ["shop.db", ...period], "statement_unreadable"],
    [
      "a report that cannot be written",
      ["agreed.csv", ...period, "--report", "no/such/r.csv"],
      "file_unwritable",
    ],
  ])("ends with 3 for %s, and writes no report", async (_, args, code) => {
    const { code: exit, stderr } = await compare(...args, "--report", "never.json");
    expect({ exit, stderr }).toEqual({ exit: 3, stderr: expect.stringContaining(code) });
    expect(existsSync(path.join(folder.path, "never.json"))).toBe(false);
  });
});

import path from "node:path";
import { sqliteStore } from "tillkit/sql";
import { resolution } from "../../../src/store/exam/checks/fixtures.js";
import { saved } from "../../../src/store/exam/checks/steps.js";
import { paid, pending } from "../../statement/support/stored.js";
import { documentOf, runCli, temporaryFolder } from "../support/run-cli.js";

const folder = temporaryFolder();
const period = ["--from", "2024-05-01", "--to", "2024-06-01"];
const compare = (file: string, ...more: string[]) =>
  runCli(["statement", file, "--store", "shop.db", ...period, ...more], { cwd: folder.path });

beforeAll(async () => {
  const store = sqliteStore(path.join(folder.path, "shop.db"));
  const [before, rest] = ["1475", "975"].map((value) => ({ value, currency: "KMF" }));
  const amount = { value: "500", currency: "KMF" };
  await saved(store, {
    created: [
      ...["k-a", "k-b", "k-c", "k-d"].map((id) => paid(id)),
      ...["k-u", "k-p", "k-q"].map((id) => pending(id)),
      paid("k-e", { total: { value: "9.00", currency: "EUR" } }),
      paid("k-r", { refunded: "500" }),
      paid("k-edge", { completedAt: "2024-05-31T21:30:00.000Z" }),
      paid("k-s", { serviceId: "s-1" }),
      paid("k-t", { serviceId: "s-2" }),
    ],
    resolutions: [
      resolution("r-1", {
        clientId: "k-r",
        refund: { kind: "refund", amount, before: before!, rest: rest!, key: "T-1" },
      }),
    ],
  });
  await store.close();
});

it("the result of a comparison is printed with every sum, count, name and command", async () => {
  const day = "2024-05-10T12:00:00Z";
  const rows = [
    `k-a,,P-1,1475,25,1450,KMF,${day},completed`,
    `k-u,s-9,P-2,1475,,,KMF,${day},completed`,
    `k-x,s-8,P-3,7.50,,,EUR,${day},completed`,
    ...["k-x2", "k-x3", "k-x4"].map((id) => `${id},,,2.00,,,EUR,${day},completed`),
    `,s-7,P-9,8,,,KMF,${day},completed`,
    `k-c,,,3.00,,,EUR,${day},completed`,
    `k-b,,P-4,1475,,,KMF,${day},pending`,
    ...["k-p", "k-q"].map((id) => `${id},,,1475,,,KMF,${day},pending`),
    ...[1, 2, 3].map(() => "k-b,,P-5,1475,,,KMF,2024-04-10T12:00:00Z,completed"),
    `k-s,s-2,,1475,,,KMF,${day},completed`,
    `k-r,,T-2,-500,,,KMF,${day},completed`,
    `k-a,,P-1,1475,25,1450,KMF,${day},completed`,
    `k-d,,,y,,,KMF,${day},completed`,
    ...Array.from({ length: 1001 }, (_, n) => `z-${n},,,1,,,KMF,${day},completed`),
  ];
  folder.write(
    "may.csv",
    `clientId,serviceId,providerId,value,fee,net,currency,time,status\n${rows.join("\n")}\n`,
  );
  const more = ["--edge", "200", "--client-id-prefix", "k-", "--report", "a.HTM", "--report", "b.csv"];
  const { stdout } = await compare("may.csv", ...more);
  expect(stdout.split("\n")).toEqual([
    "period   2024-05-01T00:00:00.000Z to 2024-06-01T00:00:00.000Z",
    "rows     1,019 rows, 2 matched, 1 refund, 1 unreadable, 2 unpaid, 1,001 foreign, 3 dated outside the period",
    "foreign  lines 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, …;",
    "         sum 1001 KMF",
    "stored   9 payments completed in the period",
    "",
    "          5  missing_here         payments on the statement that are not stored",
    "          3  missing_there        payments stored as completed that are not on the statement",
    "          1  id_differs           clientId and serviceId of different payments",
    "          1  currency_differs     paid in another currency",
    "          1  unpaid_here          paid on the statement, stored as open",
    "          1  unpaid_there         stored as completed, unpaid on the statement",
    "          3  listed_twice         listed on the statement more than once",
    "          1  bad_row              rows that could not be read, and so were not compared",
    "          1  at_edge              completed at the edge of the period (no difference)",
    "",
    "     statement     stored    matched",
    "EUR      16.50       9.00       0.00",
    "KMF      10333      11800       2950",
    "EUR  not matched: missing_here 13.50 (k-x, k-x2, k-x3, …), currency_differs 3.00 (order-k-c)",
    "EUR  not on the statement: missing_there 9.00 (order-k-e)",
    "KMF  not matched: missing_here 8 (P-9), id_differs 1475 (order-k-s), unpaid_here 1475 (order-k-u),",
    "     listed_twice 4425 (order-k-a, order-k-b, order-k-b)",
    "KMF  not on the statement: missing_there 2950 (order-k-r, …), unpaid_there 1475 (order-k-b)",
    "KMF  refunds 500, fees 50; total of the statement 9783",
    "KMF  Other statements may have 1475 of the stored sum: at_edge, accepted_here.",
    "These sums do not include 1 unreadable row.",
    "",
    "15 differences, 1 unreadable row.",
    "",
    "line 3: unpaid_here: order order-k-u; k-u; number P-2; 2024-05-10T12:00:00.000Z; statement 1475 KMF;",
    "stored 1475 KMF, pending",
    "  tillkit resolve accept --client-id k-u --evidence statement --document may.csv:3 --value 1475 --currency KMF --service-id s-9 --provider-id P-2 --by <name> --reason <why> --store shop.db",
    "",
    "line 4: missing_here: k-x; number P-3; 2024-05-10T12:00:00.000Z; statement 7.50 EUR",
    "  tillkit payments adopt k-x --reference <order> --amount 7.50 --currency EUR --service-id s-8 --by <name> --reason <why> --store shop.db",
    "",
    "line 5: missing_here: k-x2; 2024-05-10T12:00:00.000Z; statement 2.00 EUR",
    "  tillkit payments adopt k-x2 --reference <order> --amount 2.00 --currency EUR --by <name> --reason <why> --store shop.db",
    "",
    "line 6: missing_here: k-x3; 2024-05-10T12:00:00.000Z; statement 2.00 EUR",
    "  tillkit payments adopt k-x3 --reference <order> --amount 2.00 --currency EUR --by <name> --reason <why> --store shop.db",
    "",
    "line 7: missing_here: k-x4; 2024-05-10T12:00:00.000Z; statement 2.00 EUR",
    "  tillkit payments adopt k-x4 --reference <order> --amount 2.00 --currency EUR --by <name> --reason <why> --store shop.db",
    "",
    "line 8: missing_here: number P-9; 2024-05-10T12:00:00.000Z; statement 8 KMF",
    "  tillkit payments adopt <clientId> --reference <order> --amount 8 --currency KMF --service-id s-7 --by <name> --reason <why> --store shop.db",
    "",
    "line 9: currency_differs: order order-k-c; k-c; 2024-05-10T12:00:00.000Z; statement 3.00 EUR; stored",
    "1475 KMF, completed",
    "  tillkit payments show k-c --store shop.db",
    "",
    "line 10: unpaid_there: order order-k-b; k-b; number P-4; 2024-05-10T12:00:00.000Z; statement 1475",
    "KMF, pending; stored 1475 KMF, completed",
    "  tillkit payments show k-b --store shop.db",
    '  Ask the service. If the status "pending" means paid, compare again with --paid-status.',
    "",
    "line 16: id_differs: order order-k-s; k-s; 2024-05-10T12:00:00.000Z; statement 1475 KMF; stored 1475",
    "KMF, completed; the other is s-1",
    "  tillkit payments show s-1 --store shop.db",
    "",
    'line 19: bad_row: order order-k-d; k-d; value "y" is not a decimal such as "1475" or "10.50".',
    "  tillkit payments show k-d --store shop.db",
    "",
    "line 18: listed_twice: order order-k-a; k-a; statement 1475 KMF",
    "  tillkit payments show k-a --store shop.db",
    "",
    "line 14: listed_twice: order order-k-b; k-b; statement 1475 KMF",
    "  tillkit payments show k-b --store shop.db",
    "",
    "line 15: listed_twice: order order-k-b; k-b; statement 1475 KMF",
    "  tillkit payments show k-b --store shop.db",
    "",
    "missing_there: order order-k-e; k-e; 2024-05-10T10:05:00.000Z; stored 9.00 EUR, completed",
    "  tillkit payments show k-e --store shop.db",
    "  Ask the service why this payment is not on the statement.",
    "",
    "at_edge: order order-k-edge; k-edge; 2024-05-31T21:30:00.000Z; stored 1475 KMF, completed",
    "  tillkit payments show k-edge --store shop.db",
    "",
    "missing_there: order order-k-r; k-r; 2024-05-10T10:05:00.000Z; stored 1475 KMF, completed",
    "  tillkit payments show k-r --store shop.db",
    "  Ask the service why this payment is not on the statement.",
    "",
    "… and 1 missing_there more. For a complete list, add --report differences.csv.",
    "report   a.HTM",
    "report   b.csv",
    "",
  ]);
});

it("a comparison says that it could read no row", async () => {
  folder.write("none.csv", "clientId,value,currency\nk-a,x,KMF\nk-b,y,KMF\n");
  const { stdout } = await compare("none.csv");
  expect(stdout).toContain(
    "\nThe command could read none of the rows, so it compared nothing. Check the columns and their format.\n",
  );
});

it("a comparison of standard input draws how much it has read, because its length is not known", async () => {
  const argv = ["statement", "-", "--store", "shop.db", ...period];
  const stdin = `clientId,value,currency\nk-a,1475,KMF\n# ${"x".repeat(199_960)}\n`;
  const { stderr } = await runCli(argv, { cwd: folder.path, stdin, terminal: true });
  expect(stderr).toContain("\u001b[K2 rows, 0.2 MB");
  expect(stderr).toContain(`[${"#".repeat(24)}] comparing rows and payments`);
});

it("the document of a comparison has every finding that is printed, and its time in seconds", async () => {
  const started = performance.now();
  const { findings, seconds, peakBytes } = documentOf(await compare("none.csv", "--json"));
  expect(findings.map(({ kind }: { kind: string }) => kind)).toEqual([
    "bad_row",
    "bad_row",
    "missing_there",
    "missing_there",
    "missing_there",
  ]);
  expect(seconds).toBeLessThanOrEqual((performance.now() - started) / 1000 + 0.1);
  expect(peakBytes).toBeGreaterThan(10_000_000);
});

it("the result of a comparison shows at most 20 findings", async () => {
  folder.write("many.csv", `clientId,value,currency\n${"k-a,x,KMF\n".repeat(21)}`);
  const { stdout } = await compare("many.csv");
  expect(stdout.match(/^line \d+: bad_row: /gm)).toHaveLength(20);
  expect(stdout).toContain("\n… and 8 missing_there, 1 bad_row more.");
});

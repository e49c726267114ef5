import path from "node:path";
import {
  readStatement,
  type StatementOptions,
  compareStatement,
  type StatementSummary,
} from "../../statement/index.js";
import { sqlStore } from "../../store/sql/index.js";
import { optionError } from "../terminal/arguments.js";
import { type Arguments, type CommandDefinition, type InputContext } from "../terminal/command.js";
import { databaseOptions, requireTables } from "../terminal/database.js";
import { envFileOption } from "../terminal/read-file.js";
import { formatOptions, readFormat } from "./format-options.js";
import { ListedFindings, printFindingSteps, withNextStep } from "./next-steps.js";
import { printSummary } from "./print-summary.js";
import { countBytes, progressBar } from "./progress.js";
import { ReportFiles } from "./report-files.js";

export const statementCommand: CommandDefinition = {
  description: [
    "Reads a CSV statement of any size. Reports payments that are missing on either side, that differ, or " +
      "that were paid twice, with sums for each currency and provider channel. It lists rows that it cannot " +
      "read by their line. For a row without a clientId and a serviceId, it searches by the provider's " +
      "number, or by the amount and the day, if only one payment fits. It changes no stored payment. It " +
      "prints 20 differences. First come those that a command settles, with the command.",
    "The need of memory does not grow with the file. Rows and payments are sorted in temporary files, of " +
      "about 200 bytes for each row and each payment of the period.",
  ],
  operand: { name: "statement.csv", summary: "The statement, in CSV; - for standard input." },
  options: {
    ...databaseOptions,
    "--from <time>":
      "The beginning of the period: 2024-05-01, or a time with an offset. Default: the first day of the rows.",
    "--to <time>": "The end of the period, not included. Default: after the last day of the rows.",
    "--report <file> ...":
      "Writes a report in the format of its extension: .html for people, .csv or .json for programs.",
    "--language <en|fr>": "The language of the HTML report. Default: en.",
    "--paid-status <status> ...":
      "A status that means paid. Default: completed, paid, settled, success, successful, succeeded.",
    "--client-id-prefix <text>":
      "The beginning of this shop's clientIds; rows with others are counted, and not compared. Default: TILLKIT_CLIENT_ID_PREFIX.",
    "--edge <minutes>":
      "Payments that were completed this close to an end of the period may be on the neighbouring statement. Default: 0.",
    "--created-from <time>":
      "Payments that were created before are not read, which is faster on a large store. Default: all are read.",
    ...formatOptions,
    "--temporary-directory <folder>": "Directory for temporary files. Default: the system's.",
    ...envFileOption,
  },
  examples: {
    "a month, with a report":
      "tillkit statement may.csv --store shop.db --from 2024-05-01 --to 2024-06-01 --report may.html",
    "a French export, with columns of its own":
      "tillkit statement mai.csv --store shop.db --column clientId=Réf --column value=Montant --column time=Date " +
      "--fixed currency=KMF --decimal , --group space --time-format day-first --utc-offset=+03:00",
    "every night: fails if anything differs":
      "tillkit statement statement.csv --json --report differences.csv --env-file .env",
  },
  exitCodes: {
    0: "Everything agrees.",
    1: "Something differs, or a row could not be read.",
    2: "Used wrongly; no database, columns or period are named.",
    3: "The file or the database cannot be read, or a report cannot be written.",
  },
  async run(args, context) {
    const { output, cwd } = context;
    const startedAt = performance.now();
    const named = await requireTables(args, context);
    const format = readFormat(args);
    const counted = await countBytes(args.operand!, context);
    const rows = readStatement(counted.bytes, format);
    const run: StatementOptions = {
      ...readOptions(args, context, format.utcOffset),
      signal: context.signal,
      onProgress: progressBar(output, counted),
    };
    const names = args.all("report");
    const language = args.get("language") as "en" | "fr" | undefined;
    const name = args.operand === "-" ? undefined : path.basename(args.operand!);
    const reports = new ReportFiles(names, cwd, { language, name, madeAt: context.now() });
    const store = sqlStore(named.database, { tablePrefix: named.tablePrefix });
    const found = new ListedFindings();
    let summary: StatementSummary;
    try {
      const statement = compareStatement(store, rows, run);
      for await (const finding of statement) {
        await reports.add(finding);
        found.add(withNextStep(finding, name ?? "statement", args));
      }
      summary = await statement.summary();
      await reports.end(summary);
    } finally {
      output.draw(undefined);
      await reports.discard();
      await store.close();
    }
    printSummary(summary, output);
    printFindingSteps(found.list(), summary.counts, output);
    const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
    // The peak of the process since it was started.
    const peakBytes = process.resourceUsage().maxRSS * 1024;
    for (const file of names) output.print(`report   ${file}`);
    output.print(
      output.paint("dim", `${seconds} s, at most ${Math.ceil(peakBytes / 2 ** 20)} MiB of memory`),
    );
    output.printJson({
      ...summary,
      findings: found.list(),
      reports: names,
      bytes: counted.read(),
      seconds,
      peakBytes,
    });
    return summary.balanced ? 0 : 1;
  },
};

function readOptions(args: Arguments, { cwd, env }: InputContext, utcOffset = "Z"): StatementOptions {
  const time = (option: string): string | undefined => {
    const given = args.get(option);
    return given !== undefined && /^\d{4}-\d\d-\d\d$/.test(given) ? `${given}T00:00:00${utcOffset}` : given;
  };
  const [from, to] = [time("from"), time("to")];
  if ((from === undefined) !== (to === undefined))
    throw optionError("--from and --to must be given both: a period has two ends.");
  const [minutes, folder] = [args.get("edge"), args.get("temporary-directory")];
  const paidStatuses = args.all("paid-status");
  return {
    period: from !== undefined && to !== undefined ? { from, to } : undefined,
    paidStatuses: paidStatuses.length > 0 ? paidStatuses : undefined,
    edgeMs: minutes === undefined ? undefined : Number(minutes) * 60_000,
    temporaryDirectory: folder === undefined ? undefined : path.resolve(cwd, folder),
    clientIdPrefix: (args.get("client-id-prefix") ?? env["TILLKIT_CLIENT_ID_PREFIX"]?.trim()) || undefined,
    createdFrom: time("created-from"),
  };
}

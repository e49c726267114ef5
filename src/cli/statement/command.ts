import path from "node:path";
import {
  readStatement,
  type StatementOptions,
  compareStatement,
  type StatementSummary,
} from "../../statement/index.js";
import { sqlStore } from "../../store/sql/index.js";
import { type TillkitError } from "../../errors/index.js";
import { optionError } from "../terminal/arguments.js";
import { type Arguments, type CommandDefinition, type InputContext } from "../terminal/command.js";
import { databaseOptions, requireTables } from "../terminal/database.js";
import { givenPolicy } from "../terminal/offline-kit.js";
import { decimalOption, timeOption } from "../terminal/option-values.js";
import { envFileOption } from "../terminal/read-file.js";
import { formatOptions, readFormat } from "./format-options.js";
import { ListedFindings, printFindingSteps, withNextStep } from "./next-steps.js";
import { printSummary } from "./print-summary.js";
import { countBytes, progressBar } from "./progress.js";
import { ReportFiles } from "./report-files.js";

export const statementCommand: CommandDefinition = {
  description: [
    "Reads a CSV statement of any size, and compares the statement with the stored payments. The " +
      "command changes no stored payment.",
    "Reports payments that are missing on either side, that differ, or that were paid twice. Prints " +
      "totals for each currency and provider channel, and the line numbers of unreadable rows. The " +
      "command prints up to 20 differences. The command prints first the differences that another command " +
      "settles, and names that command.",
    "If a row has no clientId and no serviceId, the command searches by the provider's number, or by " +
      "the amount and the day. The command uses a found payment only if no other payment matches.",
    "The command needs temporary files of about 200 bytes for each row and for each payment of the " +
      "period.",
  ],
  operand: { name: "statement.csv", summary: "The CSV file with the statement; - for standard input." },
  options: {
    ...databaseOptions,
    "--from <time>":
      "The start of the period: 2024-05-01, or a time with an offset. Default: the first day in the rows.",
    "--to <time>":
      "The end of the period, which is not included. Default: the end of the last day in the rows.",
    "--report <file> ...":
      "Writes a report in the format of its extension: .html for people, .csv or .json for programs.",
    "--language <en|fr>": "The language of the HTML report. Default: en.",
    "--paid-status <status> ...":
      "A status in the file that means paid. Default: completed, paid, settled, success, successful, succeeded.",
    "--client-id-prefix <text>":
      'The prefix of this shop\'s clientIds. Rows with another prefix are counted, but not compared. Write "" if the ' +
      "shop has no prefix. Default: TILLKIT_CLIENT_ID_PREFIX.",
    "--edge <minutes>":
      "Payments completed this close to the start or the end of the period may be on the neighbouring statement. Less than half " +
      "of the period. Default: 0.",
    "--created-from <time>":
      "Reads only payments created at this time or later, to save time on a large store. Not after the start of the period. " +
      "Default: reads all payments.",
    ...formatOptions,
    "--temporary-directory <folder>":
      "The directory for temporary files. Default: the system's directory for temporary files.",
    ...envFileOption,
  },
  examples: {
    "compare a month, and write a report":
      "tillkit statement may.csv --store shop.db --from 2024-05-01 --to 2024-06-01 --report may.html",
    "read a French export with its own column names":
      "tillkit statement mai.csv --store shop.db --column clientId=Réf --column value=Montant --column time=Date " +
      "--fixed currency=KMF --decimal , --group space --time-format day-first --utc-offset=+03:00",
    "run every night; the exit code is 1 if anything differs":
      "tillkit statement statement.csv --json --report differences.csv --env-file .env",
  },
  exitCodes: {
    0: "The statement and the stored payments agree.",
    1: "The command found a difference, or could not read a row.",
    2: "An argument is wrong, or an option must name the database, the columns or the period.",
    3: "The file or the database cannot be read, or a report cannot be written.",
    130: "The command was interrupted, for example by Ctrl-C, and wrote no report.",
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
    refuseSameFile([args.operand!, ...names], cwd);
    const language = args.get("language") as "en" | "fr" | undefined;
    const name = args.operand === "-" ? undefined : path.basename(args.operand!);
    const reports = new ReportFiles(names, cwd, { language, name, madeAt: context.now() });
    const store = sqlStore(named.database, { tablePrefix: named.tablePrefix });
    const found = new ListedFindings();
    let summary: StatementSummary;
    try {
      const [foreign] = await store.webhooks({ outcome: "foreign", limit: 1 });
      if (foreign && givenPolicy(args, context).clientIdPrefix === undefined) throw prefixMissing();
      const statement = compareStatement(store, rows, run);
      for await (const finding of statement) {
        await reports.add(finding);
        found.add(withNextStep(finding, name ?? "statement", args));
      }
      summary = await statement.summary();
      await reports.end(summary);
    } catch (error) {
      // Ctrl-C also ends the program whose output this command reads, so any error may come from it.
      if (!context.signal?.aborted) throw error;
      output.draw(undefined);
      output.log("The comparison was interrupted, and no report was written.");
      return 130;
    } finally {
      output.draw(undefined);
      await reports.discard();
      await store.close();
    }
    printSummary(summary, found.list(), output);
    printFindingSteps(found.list(), summary.counts, output);
    const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
    // `maxRSS` is the largest memory of the process since its start, in KiB.
    const peakBytes = process.resourceUsage().maxRSS * 1024;
    for (const file of names) output.print(`report   ${file}`);
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

/** Throws `command_option_invalid` if a report would overwrite the statement or another report. */
function refuseSameFile(names: readonly string[], cwd: string): void {
  const files = names.map((name) => path.resolve(cwd, name));
  const same = names.find((_, index) => files.indexOf(files[index]!) < index);
  if (same !== undefined) throw optionError(`--report ${same} is the statement, or another report.`);
}

/** Returns the error for a missing prefix, without which rows of other shops look like missing payments. */
function prefixMissing(): TillkitError {
  return optionError(
    "The store has webhooks of another shop, and the prefix of this shop's clientIds is not given. Give the application's " +
      '--client-id-prefix or its --env-file, or --client-id-prefix="" to compare the rows of all shops.',
  );
}

function readOptions(
  args: Arguments,
  { cwd, env }: InputContext,
  utcOffset: string | undefined,
): StatementOptions {
  const [from, to, createdFrom] = ["from", "to", "created-from"].map((name) =>
    timeOption(args, name, utcOffset),
  );
  if ((from === undefined) !== (to === undefined))
    throw optionError("Give both --from and --to, or neither of them: a period has a start and an end.");
  const [minutes, folder] = [decimalOption(args, "edge"), args.get("temporary-directory")];
  const paidStatuses = args.all("paid-status");
  return {
    period: from !== undefined && to !== undefined ? { from, to } : undefined,
    paidStatuses: paidStatuses.length > 0 ? paidStatuses : undefined,
    edgeMs: minutes === undefined ? undefined : minutes * 60_000,
    temporaryDirectory: folder === undefined ? undefined : path.resolve(cwd, folder),
    clientIdPrefix: (args.get("client-id-prefix") ?? env["TILLKIT_CLIENT_ID_PREFIX"]?.trim()) || undefined,
    createdFrom,
  };
}

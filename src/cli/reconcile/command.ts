import path from "node:path";
import { TillkitError } from "../../errors/index.js";
import {
  readStatement,
  type ReconcileOptions,
  reconcileStatement,
  type StatementSummary,
} from "../../statement/index.js";
import { schemaState, sqlStore } from "../../store/sql/index.js";
import { type Command, type Context, type Arguments } from "../terminal/command.js";
import { databaseOptions, type FoundDatabase, requireDatabase } from "../terminal/database.js";
import { envFileOption, readEnvironment } from "../terminal/environment.js";
import { formatOptions, readFormat } from "./format-options.js";
import { progressBar } from "./progress.js";
import { countBytes } from "./read-bytes.js";
import { ReportFiles } from "./report-files.js";
import { tellSummary } from "./tell-summary.js";

export const reconcile: Command = {
  name: "reconcile",
  summary: "compare a settlement statement with the books",
  description: [
    "Reads a statement in CSV, of any size, and tells what is missing on either side, what differs, and what was paid twice, with " +
      "sums for each currency and provider channel. Rows that cannot be read are listed by their line. Nothing in the books is " +
      "changed.",
    "Memory does not grow with the file: what only the whole can tell is sorted in temporary files, of about 200 bytes for each " +
      "row and each payment of the period.",
  ],
  operand: { name: "statement.csv", summary: "The statement, in CSV; - for standard input." },
  options: [
    ...databaseOptions,
    {
      name: "from",
      value: "time",
      summary:
        "Where the period begins: 2024-05-01, or a time with an offset. Default: the first day of the rows.",
    },
    {
      name: "to",
      value: "time",
      summary: "Where it ends, not included. Default: after the last day of the rows.",
    },
    {
      name: "report",
      value: "file",
      repeated: true,
      summary: "Writes a report, as its ending says: .html for people, .csv or .json for machines.",
    },
    {
      name: "language",
      value: "en|fr",
      choices: ["en", "fr"],
      summary: "Of the HTML report. Default: en.",
    },
    {
      name: "paid-status",
      value: "status",
      repeated: true,
      summary:
        "A status that means: the money came. Default: completed, paid, settled, success, successful, succeeded.",
    },
    {
      name: "client-id-prefix",
      value: "text",
      summary: "What the clientIds of this shop begin with; rows with others are counted, and not compared.",
    },
    {
      name: "edge",
      value: "minutes",
      summary:
        "How near to an end of the period a completion may stand on the neighbouring statement. Default: 0.",
    },
    {
      name: "created-from",
      value: "time",
      summary: "Payments created before are not read: faster on a large store. Default: all are.",
    },
    ...formatOptions,
    {
      name: "temporary-directory",
      value: "folder",
      summary: "Where is room for temporary files. Default: the system's.",
    },
    envFileOption,
  ],
  examples: [
    {
      summary: "a month, with a report to look at",
      command:
        "tillkit reconcile may.csv --store shop.db --from 2024-05-01 --to 2024-06-01 --report may.html",
    },
    {
      summary: "a French export, with columns of its own",
      command:
        "tillkit reconcile mai.csv --store shop.db --column clientId=Réf --column value=Montant --column time=Date " +
        "--fixed currency=KMF --decimal , --group space --time-format day-first --utc-offset=+03:00",
    },
    {
      summary: "each night: fails where anything differs",
      command: "tillkit reconcile statement.csv --json --report differences.csv --env-file .env",
    },
  ],
  exitCodes: {
    0: "Everything agrees.",
    1: "Something differs, or a row could not be read.",
    2: "Used wrongly; no database, columns or period are named.",
    3: "The file, the database or a report stood in the way.",
  },
  run: runReconcile,
};

async function runReconcile(args: Arguments, context: Context) {
  const { output, cwd } = context;
  const startedAt = performance.now();
  const found = requireDatabase(args, await readEnvironment(args, context), context);
  const format = readFormat(args);
  const counted = await countBytes(args.operand!, context);
  await refuseEmptyDatabase(found);
  const rows = readStatement(counted.bytes, format);
  const { signal } = context;
  const run: ReconcileOptions = {
    ...readOptions(args, cwd, format.utcOffset),
    ...(signal && { signal }),
    onProgress: progressBar(output, counted),
  };
  const names = args.all("report");
  const language = args.get("language") as "en" | "fr" | undefined;
  const name = args.operand === "-" ? undefined : path.basename(args.operand!);
  const reports = new ReportFiles(names, cwd, { language, name, madeAt: context.now() });
  const store = sqlStore(found.database, { tablePrefix: found.tablePrefix });
  let summary: StatementSummary;
  try {
    const statement = reconcileStatement(store, rows, run);
    for await (const finding of statement) await reports.add(finding);
    summary = await statement.summary();
    await reports.end(summary);
  } finally {
    output.draw(undefined);
    await reports.discard();
    await store.close();
  }
  tellSummary(summary, output);
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
  // Of the whole process, since it was started.
  const peakBytes = process.resourceUsage().maxRSS * 1024;
  for (const file of names) output.say(`report   ${file}`);
  output.say(output.paint("dim", `${seconds} s, at most ${Math.ceil(peakBytes / 2 ** 20)} MiB of memory`));
  output.answer({ ...summary, reports: names, bytes: counted.read(), seconds, peakBytes });
  return summary.balanced ? 0 : 1;
}

function readOptions(args: Arguments, cwd: string, utcOffset = "Z"): ReconcileOptions {
  const time = (option: string): string | undefined => {
    const given = args.get(option);
    return given !== undefined && /^\d{4}-\d\d-\d\d$/.test(given) ? `${given}T00:00:00${utcOffset}` : given;
  };
  const [from, to] = [time("from"), time("to")];
  if ((from === undefined) !== (to === undefined))
    throw new TillkitError("command_option_invalid", "--from and --to go together: a period has both ends.");
  const minutes = args.get("edge");
  const paidStatuses = args.all("paid-status");
  const folder = args.get("temporary-directory");
  return {
    ...(from !== undefined && to !== undefined && { period: { from, to } }),
    ...(paidStatuses.length > 0 && { paidStatuses }),
    ...(minutes !== undefined && { edgeMs: Number(minutes) * 60_000 }),
    ...(folder !== undefined && { temporaryDirectory: path.resolve(cwd, folder) }),
    clientIdPrefix: args.get("client-id-prefix"),
    createdFrom: time("created-from"),
  };
}

/** A store makes its tables at its first use; a name that was mistyped must not become a new, empty database. */
async function refuseEmptyDatabase({ database, called, tablePrefix }: FoundDatabase): Promise<void> {
  const { version } = await schemaState(database, { tablePrefix });
  if (version > 0) return;
  throw new TillkitError("command_option_invalid", `${called} has no tables of the kit.`, {
    fix: "Name the database of the shop, and its --table-prefix where it has one.",
  });
}

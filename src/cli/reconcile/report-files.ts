import { createWriteStream, type WriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { once } from "node:events";
import path from "node:path";
import { finished } from "node:stream/promises";
import { TillkitError } from "../../errors/index.js";
import {
  csvReport,
  htmlReport,
  type HtmlReportOptions,
  jsonReport,
  type StatementFinding,
  type StatementReport,
  type StatementSummary,
} from "../../statement/index.js";

interface ReportFile {
  name: string;
  /** Where it lies in the end. */
  file: string;
  /** Where it lies while it is written: half a report must not look like a whole one. */
  part: string;
  report: StatementReport;
  stream: WriteStream;
}

/** The reports that a run writes, each as its file's ending says. */
export class ReportFiles {
  readonly #files: readonly ReportFile[];

  /** @throws TillkitError `command_option_invalid` for an ending that is none of a report */
  constructor(names: readonly string[], cwd: string, options: HtmlReportOptions) {
    const reports = names.map((name) => [name, reportFor(name, options)] as const);
    this.#files = reports.map(([name, report]) => {
      const file = path.resolve(cwd, name);
      const part = `${file}.${process.pid}.part`;
      const stream = createWriteStream(part, { flags: "wx" });
      // Looked at with every write; an error without a listener would end the process.
      stream.on("error", () => {});
      return { name, file, part, report, stream };
    });
  }

  /** @throws TillkitError `file_unwritable` */
  async add(finding: StatementFinding): Promise<void> {
    for (const one of this.#files) await write(one, one.report.add(finding));
  }

  /**
   * Writes what remains, and puts the files in their places.
   *
   * @throws TillkitError `file_unwritable`
   */
  async end(summary: StatementSummary): Promise<void> {
    for (const one of this.#files) {
      await write(one, one.report.end(summary));
      try {
        one.stream.end();
        await finished(one.stream);
        await rename(one.part, one.file);
      } catch (cause) {
        throw unwritable(one.name, cause);
      }
    }
  }

  /** Takes away what was not brought to its end. */
  async discard(): Promise<void> {
    for (const { stream, part } of this.#files) {
      stream.destroy();
      await rm(part, { force: true }).catch(() => {});
    }
  }
}

function reportFor(name: string, options: HtmlReportOptions): StatementReport {
  const ending = path.extname(name).toLowerCase();
  if (ending === ".html" || ending === ".htm") return htmlReport(options);
  if (ending === ".csv") return csvReport();
  if (ending === ".json") return jsonReport();
  throw new TillkitError("command_option_invalid", `--report ${name} must end in .html, .csv or .json.`);
}

async function write({ name, stream }: ReportFile, text: string): Promise<void> {
  try {
    if (stream.errored) throw stream.errored;
    if (text !== "" && !stream.write(text)) await once(stream, "drain");
  } catch (cause) {
    throw unwritable(name, cause);
  }
}

function unwritable(name: string, cause: unknown): TillkitError {
  return new TillkitError("file_unwritable", `The report ${name} cannot be written.`, { cause });
}

import { once } from "node:events";
import { createWriteStream, type WriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
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
import { because } from "../../shared/because.js";
import { optionError } from "../terminal/arguments.js";

interface ReportFile {
  name: string;
  /** The final path of the report. */
  file: string;
  /**
   * The temporary path of the report until it is complete, so that no other program uses an unfinished
   * report.
   */
  part: string;
  report: StatementReport;
  stream: WriteStream;
}

/** The report files of a run, each in the format of its file extension. */
export class ReportFiles {
  readonly #files: readonly ReportFile[];

  /** @throws TillkitError `command_option_invalid` for an extension without a report format */
  constructor(names: readonly string[], cwd: string, options: HtmlReportOptions) {
    const reports = names.map((name) => [name, reportFor(name, options)] as const);
    this.#files = reports.map(([name, report]) => {
      const file = path.resolve(cwd, name);
      const part = `${file}.${process.pid}.part`;
      const stream = createWriteStream(part, { flags: "wx", mode: 0o600 });
      // Each write checks for errors. Without a listener an error would end the process.
      stream.on("error", () => {});
      return { name, file, part, report, stream };
    });
  }

  /** @throws TillkitError `file_unwritable` */
  async add(finding: StatementFinding): Promise<void> {
    for (const one of this.#files) await writePart(one, one.report.add(finding));
  }

  /** Writes the rest of the reports, and moves the files to their final paths. Throws `file_unwritable`. */
  async end(summary: StatementSummary): Promise<void> {
    for (const one of this.#files) {
      await writePart(one, one.report.end(summary));
      try {
        one.stream.end();
        await finished(one.stream);
        await rename(one.part, one.file);
      } catch (cause) {
        throw unwritable(one.name, cause);
      }
    }
  }

  async discard(): Promise<void> {
    for (const { stream, part } of this.#files) {
      // A file that is still being opened would appear after its removal.
      stream.destroy();
      if (!stream.closed) await once(stream, "close");
      await rm(part, { force: true }).catch(() => {});
    }
  }
}

function reportFor(name: string, options: HtmlReportOptions): StatementReport {
  const extension = path.extname(name).toLowerCase();
  if (extension === ".html" || extension === ".htm") return htmlReport(options);
  if (extension === ".csv") return csvReport();
  if (extension === ".json") return jsonReport();
  throw optionError(`--report ${name} must end in .html, .csv or .json.`);
}

async function writePart({ name, stream }: ReportFile, text: string): Promise<void> {
  try {
    if (stream.errored) throw stream.errored;
    if (text !== "" && !stream.write(text)) await once(stream, "drain");
  } catch (cause) {
    throw unwritable(name, cause);
  }
}

function unwritable(name: string, cause: unknown): TillkitError {
  return new TillkitError("file_unwritable", `The report ${name} cannot be written${because(cause)}`, {
    cause,
  });
}

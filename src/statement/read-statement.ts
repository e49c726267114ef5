import { TillkitError } from "../errors/index.js";
import { type ColumnChoice, type Columns, findColumns, type StatementField } from "./csv/columns.js";
import { type Bytes, readLines } from "./csv/lines.js";
import { type CellOptions, readTime, readValue } from "./csv/read-cells.js";
import { type CsvRecord, RecordReader } from "./csv/records.js";
import { isWholeNumber } from "../shared/whole-number.js";
import { type StatementRow, type UnreadableRow } from "./row.js";

/** How a statement in CSV is written. */
export interface StatementFormat extends Partial<CellOptions> {
  /**
   * Which column has which field: the header, or the number from 1; `false` for none. Fields that are not named are looked for
   * under their usual headers.
   */
  columns?: Partial<Record<StatementField, ColumnChoice | undefined>>;
  /** What holds for every row, where the statement has no column for it: `{ currency: "KMF", source: "MVK" }`. */
  fixed?: Partial<Record<"currency" | "source" | "status", string | undefined>>;
  /**
   * One character.
   *
   * @default the most frequent of `,` `;` tab `|` in the first line
   */
  delimiter?: string | undefined;
  /**
   * Whether the first record names the columns; without it `columns` must give numbers.
   *
   * @default true
   */
  header?: boolean | undefined;
  /**
   * What comment lines begin with; `""` for none.
   *
   * @default "#"
   */
  comment?: string | undefined;
  /**
   * Lines before the header that are no part of the table.
   *
   * @default 0
   */
  skipLines?: number | undefined;
  /** @default "utf-8" */
  encoding?: "utf-8" | "windows-1252" | undefined;
}

/**
 * Reads a statement in CSV (RFC 4180) row by row, in bounded memory. Takes a stream, or anything else that gives bytes. Rows that
 * cannot be read are handed on with what is wrong with them.
 *
 * @throws TillkitError `option_invalid` at once; while reading `statement_unreadable`, `statement_columns_unclear`, and what the
 * stream throws.
 */
export function readStatement(
  statement: Bytes | Uint8Array | string,
  format: StatementFormat = {},
): AsyncGenerator<StatementRow | UnreadableRow, void, undefined> {
  const bytes = typeof statement === "string" || statement instanceof Uint8Array ? [statement] : statement;
  checkFormat(format);
  return readRows(bytes, format);
}

async function* readRows(
  bytes: Bytes,
  format: StatementFormat,
): AsyncGenerator<StatementRow | UnreadableRow, void, undefined> {
  const { encoding = "utf-8", skipLines = 0, comment = "#", delimiter } = format;
  const records = new RecordReader({ delimiter, comment: comment || undefined });
  const table = new Table(format, (width) => (records.width = width));
  for await (const lines of readLines(bytes, encoding)) {
    for (const line of lines) {
      if (line.number <= skipLines) continue;
      for (const record of records.take(line)) yield* table.rowsOf(record);
    }
  }
  for (const record of records.end()) yield* table.rowsOf(record);
  table.end();
}

/** Records beside the columns that the first of them named. */
class Table {
  readonly #format: StatementFormat;
  readonly #cells: CellOptions;
  readonly #onWidth: (width: number) => void;
  #columns: Columns | undefined;
  #width = 0;

  constructor(format: StatementFormat, onWidth: (width: number) => void) {
    this.#format = format;
    this.#onWidth = onWidth;
    const { decimalSeparator = ".", groupSeparator = "", timeFormat = "iso", utcOffset = "Z" } = format;
    this.#cells = { decimalSeparator, groupSeparator, timeFormat, utcOffset };
  }

  /** The row of a record; none for the header. */
  rowsOf(record: CsvRecord): (StatementRow | UnreadableRow)[] {
    const { line } = record;
    if (this.#columns === undefined) return this.#begin(record);
    if ("problem" in record) return [record];
    const { fields } = record;
    if (fields.length !== this.#width) {
      const message = `The row has ${fields.length} fields, and the first one ${this.#width}.`;
      return [{ line, problem: { code: "fields_count", message } }];
    }
    return [{ line, ...this.#read(fields, this.#columns) }];
  }

  /** @throws TillkitError `statement_unreadable` where there was not even a header */
  end(): void {
    if (this.#columns === undefined) throw unreadable("it is empty");
  }

  #begin(record: CsvRecord): (StatementRow | UnreadableRow)[] {
    // Without the columns nothing that follows means anything.
    if ("problem" in record)
      throw unreadable(`its first record, on line ${record.line}: ${record.problem.message}`);
    const { columns = {}, fixed = {}, header = true } = this.#format;
    const given = (["currency", "source", "status"] as const).filter((field) => fixed[field] !== undefined);
    this.#columns = findColumns(header ? record.fields : undefined, columns, given);
    this.#width = record.fields.length;
    this.#onWidth(this.#width);
    const farthest = Math.max(...Object.values(this.#columns)) + 1;
    if (farthest > this.#width)
      throw unreadable(`it has ${this.#width} columns, and column ${farthest} was named`);
    return header ? [] : this.rowsOf(record);
  }

  #read(fields: readonly string[], columns: Columns): StatementRow {
    const cell = (field: StatementField): string | undefined => {
      const index = columns[field];
      return (index === undefined ? undefined : fields[index]!.trim()) || undefined;
    };
    const { fixed = {} } = this.#format;
    const time = cell("time");
    return {
      clientId: cell("clientId"),
      serviceId: cell("serviceId"),
      providerId: cell("providerId"),
      value: readValue(cell("value") ?? "", this.#cells),
      currency: cell("currency") ?? fixed.currency ?? "",
      status: cell("status") ?? fixed.status,
      source: cell("source") ?? fixed.source,
      time: time && readTime(time, this.#cells),
    };
  }
}

function checkFormat({
  delimiter,
  skipLines = 0,
  utcOffset = "Z",
  encoding = "utf-8",
  header,
  columns,
}: StatementFormat): void {
  if (delimiter !== undefined && (delimiter.length !== 1 || /["\r\n]/.test(delimiter)))
    throw invalid("delimiter must be one character, and neither a quotation mark nor a line break.");
  if (!isWholeNumber(skipLines, 0)) throw invalid("skipLines must be a whole number, 0 or more.");
  if (!/^(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/.test(utcOffset))
    throw invalid('utcOffset must be "Z", or as "+03:00".');
  if (!["utf-8", "windows-1252"].includes(encoding))
    throw invalid('encoding must be "utf-8" or "windows-1252".');
  const named = Object.entries(columns ?? {}).find(([, choice]) => typeof choice === "string");
  if (header === false && named)
    throw invalid(
      `Without a header the column of ${named[0]} must be a number, and not "${String(named[1])}".`,
    );
}

function invalid(message: string): TillkitError {
  return new TillkitError("option_invalid", message);
}

function unreadable(why: string): TillkitError {
  return new TillkitError("statement_unreadable", `The statement cannot be read: ${why}.`);
}

import { isTillkitError, TillkitError } from "../errors/index.js";
import {
  type ColumnChoice,
  type Columns,
  findColumns,
  type StatementField,
  statementFields,
} from "./csv/columns.js";
import { type Bytes, readTextLines } from "./csv/lines.js";
import { type CellOptions, readTime, readValue } from "./csv/read-cells.js";
import { type CsvRecord, RecordReader } from "./csv/records.js";
import { isAmount, readSign } from "../model/money.js";
import { quote } from "../shared/quote.js";
import { describeUnknown, type NamesOf } from "../shared/unknown-names.js";
import { isWholeNumber } from "../shared/whole-number.js";
import { invalidOption } from "../operations/statement-options.js";
import { refundWords, type StatementRow, type UnreadableRow, withValidIds } from "./statement-row.js";

/** The format of a statement in CSV. */
export interface StatementFormat extends Partial<CellOptions> {
  /**
   * The column of each field: its header, its number from 1, or `false` for none.
   * @default found by the usual headers
   */
  columns?: Partial<Record<StatementField, ColumnChoice | undefined>>;
  /** Fixed values for rows without a value of their own, such as `{ currency: "KMF", source: "MVK" }`. */
  fixed?: Partial<Record<"currency" | "source" | "status", string | undefined>>;
  /** The delimiter, one character. @default the most frequent of `,` `;` tab `|` in the first line */
  delimiter?: string | undefined;
  /** Whether the first record is the header. Without a header `columns` must give numbers. @default true */
  header?: boolean | undefined;
  /**
   * The prefix of comments: lines above the header, and further lines with one cell. `""` for none.
   * @default "#"
   */
  comment?: string | undefined;
  /** The number of lines before the header that are not part of the table. @default 0 */
  skipLines?: number | undefined;
  /** The encoding of the file. @default "utf-8" */
  encoding?: "utf-8" | "windows-1252" | undefined;
}

/**
 * Reads a statement in CSV (RFC 4180) row by row, in bounded memory. Takes a stream, or any other source of
 * bytes. A row that cannot be read is yielded with its problem.
 *
 * @throws TillkitError `option_invalid` in the call; while reading `statement_unreadable`,
 * `statement_columns_unclear`, and the errors of the stream.
 */
export function readStatement(
  statement: Bytes | Uint8Array | string,
  format: StatementFormat = {},
): AsyncGenerator<StatementRow | UnreadableRow, void, undefined> {
  const isSource = (by: symbol): boolean => by in (Object(statement) as object);
  if (!isSource(Symbol.asyncIterator) && !isSource(Symbol.iterator))
    throw invalidOption("readStatement takes a stream, another source of bytes, bytes, or a string.");
  const bytes = typeof statement === "string" || statement instanceof Uint8Array ? [statement] : statement;
  checkFormat(format);
  return readRows(bytes, format);
}

async function* readRows(
  bytes: Bytes,
  format: StatementFormat,
): AsyncGenerator<StatementRow | UnreadableRow, void, undefined> {
  const { encoding = "utf-8", skipLines = 0, comment = "#", delimiter, header = true } = format;
  const records = new RecordReader({ delimiter, comment: comment || undefined, header });
  const table = new Table(format);
  for await (const lines of readTextLines(bytes, encoding)) {
    for (const line of lines) {
      if (line.number <= skipLines) continue;
      for (const record of records.take(line)) yield* table.rowsOf(record);
    }
  }
  for (const record of records.end()) yield* table.rowsOf(record);
  table.end();
}

/** The headers, in small letters, of a column that says whether a row is a payment or a refund. */
const kindHeaders: ReadonlySet<string> = new Set(["type", "kind", "operation", "transactiontype"]);

function lettersOf(text: string): string {
  return text.toLowerCase().replaceAll(/[^a-z]/g, "");
}

/** Reads records as rows. The first record or the options name the columns. */
class Table {
  readonly #format: StatementFormat;
  readonly #cells: CellOptions;
  #columns: Columns | undefined;
  /** The position of the column that says whether a row is a payment or a refund. -1 for none. */
  #kindColumn = -1;
  #width = 0;

  constructor(format: StatementFormat) {
    this.#format = format;
    const { decimalSeparator = ".", groupSeparator = "", timeFormat = "iso", utcOffset } = format;
    this.#cells = { decimalSeparator, groupSeparator, timeFormat, utcOffset };
  }

  /** Returns the row of a record, and no row for the header. */
  rowsOf(record: CsvRecord): (StatementRow | UnreadableRow)[] {
    const { line } = record;
    if (this.#columns === undefined) return this.#begin(record);
    if ("problem" in record) return [record];
    const { fields } = record;
    if (fields.length !== this.#width) {
      const message = `The row has ${fields.length} fields, but the first row has ${this.#width}.`;
      return [{ line, problem: { code: "fields_count", message } }];
    }
    return [this.#read(line, fields, this.#columns)];
  }

  /** @throws TillkitError `statement_unreadable` if no record was read */
  end(): void {
    if (this.#columns === undefined) throw statementUnreadable("it is empty");
  }

  #begin(record: CsvRecord): (StatementRow | UnreadableRow)[] {
    // Without the columns no later record can be read.
    if ("problem" in record)
      throw statementUnreadable(
        `its first record, on line ${record.line}: ${record.problem.message.replace(/\.$/, "")}`,
      );
    // If lines end in only a carriage return, the whole file looks like the header.
    if (record.fields.some((field) => /\r(?!\n|$)/.test(field)))
      throw statementUnreadable("its lines must end in a line feed, and not in a carriage return alone");
    const { columns = {}, fixed = {}, header = true } = this.#format;
    const given = (["currency", "source", "status"] as const).filter((field) => fixed[field] !== undefined);
    this.#width = record.fields.length;
    const find = () => findColumns(header ? record.fields : undefined, columns, given);
    this.#columns = findColumnsBelow(record, columns, find);
    const farthest = Math.max(...Object.values(this.#columns)) + 1;
    if (farthest > this.#width)
      throw statementUnreadable(`the statement has ${this.#width} columns, but you gave column ${farthest}`);
    if (!header) return this.rowsOf(record);
    const taken = Object.values(this.#columns);
    this.#kindColumn = record.fields.findIndex(
      (name, index) => kindHeaders.has(lettersOf(name)) && !taken.includes(index),
    );
    if (typeof columns.value === "number") this.#refusePaymentAsHeader(record, columns.value);
    return [];
  }

  /**
   * Throws `statement_columns_unclear` if the header has an amount in the column of the value. The header is
   * then a payment, which would not be compared.
   */
  #refusePaymentAsHeader({ line, fields }: Extract<CsvRecord, { fields: string[] }>, column: number): void {
    const text = fields[column - 1]!.trim();
    const value = readValue(text, this.#cells);
    if (value !== undefined && !isAmount(readSign(value).unsigned)) return;
    throw new TillkitError(
      "statement_columns_unclear",
      `Line ${line} would be the header, but ${quote(text)} in the column of value is an amount. If the file has no header, ` +
        "set `header` to false (--no-header). If it has one, skip only the lines above it.",
    );
  }

  #read(line: number, fields: readonly string[], columns: Columns): StatementRow | UnreadableRow {
    const cell = (field: StatementField): string | undefined => {
      const index = columns[field];
      return (index === undefined ? undefined : fields[index]!.trim()) || undefined;
    };
    const { fixed = {} } = this.#format;
    const time = cell("time");
    const ids = { clientId: cell("clientId"), serviceId: cell("serviceId") };
    const amounts: Partial<Record<"value" | "fee" | "net", string>> = {};
    for (const field of ["value", "fee", "net"] as const) {
      const text = cell(field);
      const value = text && readValue(text, this.#cells);
      if (value !== undefined) amounts[field] = value;
      if (text === undefined || value !== undefined) continue;
      const message = `${field} ${quote(text)} does not match the separators of the statement.`;
      return withValidIds({ line, problem: { code: "value_invalid", message }, ...ids });
    }
    const kind = fields[this.#kindColumn]?.trim() ?? "";
    if (refundWords.has(lettersOf(kind)) && !readSign(amounts.value ?? "").isNegative) {
      const message = `The row is a ${quote(kind)}, so value ${quote(amounts.value ?? "")} needs a minus.`;
      return withValidIds({ line, problem: { code: "value_invalid", message }, ...ids });
    }
    return {
      line,
      ...ids,
      providerId: cell("providerId"),
      value: "",
      ...amounts,
      payout: cell("payout"),
      currency: cell("currency") ?? fixed.currency ?? "",
      status: cell("status") ?? fixed.status,
      source: cell("source") ?? fixed.source,
      time: time && readTime(time, this.#cells),
    };
  }
}

/**
 * Returns the columns that `find` finds. Throws `statement_columns_unclear` if a skipped comment may be the
 * header. This is possible if the record below it names no columns. The same is true if all columns are given
 * by number and the comment has the same number of cells.
 */
function findColumnsBelow(
  { skipped, fields }: Extract<CsvRecord, { fields: string[] }>,
  choices: StatementFormat["columns"] = {},
  find: () => Columns,
): Columns {
  const hint = `Line ${skipped?.line} was skipped as a comment. If this line is the header, give another \`comment\`.`;
  let columns: Columns;
  try {
    columns = find();
  } catch (error) {
    if (!skipped || !isTillkitError(error)) throw error;
    throw new TillkitError("statement_columns_unclear", `${error.message} ${hint}`);
  }
  const isNumbered = Object.keys(columns).every(
    (field) => typeof choices[field as StatementField] === "number",
  );
  if (isNumbered && skipped?.cells === fields.length)
    throw new TillkitError("statement_columns_unclear", hint);
  return columns;
}

const formatNames = {
  columns: 1,
  fixed: 1,
  delimiter: 1,
  header: 1,
  comment: 1,
  skipLines: 1,
  encoding: 1,
  decimalSeparator: 1,
  groupSeparator: 1,
  timeFormat: 1,
  utcOffset: 1,
} satisfies NamesOf<StatementFormat>;
const fieldNames = Object.fromEntries(statementFields.map((name) => [name, 1]));

function checkFormat(format: StatementFormat): void {
  const { delimiter, skipLines = 0, utcOffset = "Z", encoding = "utf-8", header, columns, fixed } = format;
  const unknown =
    describeUnknown(format, formatNames) ??
    describeUnknown(columns, fieldNames) ??
    describeUnknown(fixed, { currency: 1, source: 1, status: 1 });
  if (unknown !== undefined) throw invalidOption(unknown);
  if (delimiter !== undefined && (delimiter.length !== 1 || /["\r\n]/.test(delimiter)))
    throw invalidOption("delimiter must be one character, and neither a quotation mark nor a line break.");
  if ((format.decimalSeparator ?? ".") === format.groupSeparator)
    throw invalidOption("decimalSeparator and groupSeparator must be different characters.");
  if (!isWholeNumber(skipLines, 0)) throw invalidOption("skipLines must be a whole number, 0 or more.");
  if (!/^(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/.test(utcOffset))
    throw invalidOption('utcOffset must be "Z", or an offset such as "+03:00".');
  if (!["utf-8", "windows-1252"].includes(encoding))
    throw invalidOption('encoding must be "utf-8" or "windows-1252".');
  const named = Object.entries(columns ?? {}).find(([, choice]) => typeof choice === "string");
  if (header === false && named)
    throw invalidOption(
      `Without a header, the column of ${named[0]} must be a number instead of "${String(named[1])}".`,
    );
}

function statementUnreadable(why: string): TillkitError {
  return new TillkitError("statement_unreadable", `The statement cannot be read: ${why}.`);
}

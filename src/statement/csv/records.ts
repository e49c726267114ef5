import { type RowProblem } from "../statement-row.js";
import { type Line, maxLineLength } from "./lines.js";

/**
 * One record of the file. `line` is the line on which the record begins. `skipped` is the last comment with
 * several cells above the first record, which may be the header.
 */
export type CsvRecord =
  | { line: number; fields: string[]; skipped?: { line: number; cells: number } | undefined }
  | { line: number; problem: RowProblem };

/** Options of reading records. */
export interface RecordOptions {
  /** The delimiter. @default the most frequent of `,` `;` tab `|` in the first record */
  delimiter?: string | undefined;
  /** The prefix of comment lines. */
  comment: string | undefined;
  /** Whether the first record is the header. */
  header: boolean;
}

/** Joins lines to records. If a record breaks the rules of RFC 4180, only its first line is lost. */
export class RecordReader {
  readonly #options: RecordOptions;
  #delimiter: string | undefined;
  /** The lines of a record whose quoted field is still open. */
  #open: Line[] = [];
  #openLength = 0;
  #width: number | undefined;
  #skipped: { line: number; cells: number } | undefined;

  constructor(options: RecordOptions) {
    this.#options = options;
    this.#delimiter = options.delimiter;
  }

  /** Returns the records that end with this line. */
  take(line: Line): CsvRecord[] {
    if (this.#open.length === 0) return this.#begin(line);
    if (line.problem) return [...this.#giveUp(neverClosed), ...this.take(line)];
    this.#open.push(line);
    this.#openLength += line.text.length + 1;
    // An even number of quotation marks leaves an open field open.
    if (countQuotes(line.text) % 2 === 0)
      return this.#openLength > maxLineLength ? this.#giveUp(neverClosed) : [];
    const split = splitFields(this.#openText(), this.#delimiter!);
    if ("misplacedAt" in split) return this.#giveUp(misplaced);
    if (!("fields" in split)) return [];
    // If the number of fields is wrong, the first quotation mark was probably never closed. Accepting this
    // record would lose all rows between the two marks.
    if (split.fields.length !== (this.#width ?? split.fields.length)) return this.#giveUp(neverClosed);
    const first = this.#open[0]!.number;
    this.#open = [];
    return [this.#record(first, split.fields)];
  }

  /** Returns the records that are left after the last line. */
  end(): CsvRecord[] {
    const records: CsvRecord[] = [];
    while (this.#open.length > 0) records.push(...this.#giveUp(neverClosed));
    return records;
  }

  #begin(line: Line): CsvRecord[] {
    const { number, text, problem } = line;
    if (problem) return [{ line: number, problem }];
    if (text.trim() === "" || this.#isComment(line)) return [];
    this.#delimiter ??= guessDelimiter(text);
    const split = splitFields(text, this.#delimiter);
    if ("fields" in split) {
      // Spreadsheets write empty rows below their last row. These rows are left out.
      const isEmpty = split.fields.every((field) => field.trim() === "");
      return isEmpty ? [] : [this.#record(number, split.fields)];
    }
    if ("misplacedAt" in split) {
      const message = `${misplaced.message.slice(0, -1)}, at position ${split.misplacedAt}.`;
      return [{ line: number, problem: { ...misplaced, message } }];
    }
    this.#open = [line];
    this.#openLength = text.length;
    return [];
  }

  #isComment({ number, text }: Line): boolean {
    const { comment, header } = this.#options;
    if (comment === undefined || !text.startsWith(comment)) return false;
    const cells = text.split(this.#delimiter ?? guessDelimiter(text)).length;
    const isAbove = header && this.#width === undefined;
    if (isAbove && cells > 1) this.#skipped = { line: number, cells };
    // Among the rows, a line with several cells is not a comment, because an id may begin with the prefix. A
    // line with one cell has no amount, so it is a comment.
    return isAbove || cells === 1;
  }

  #record(line: number, fields: string[]): CsvRecord {
    this.#width ??= fields.length;
    const skipped = this.#skipped;
    this.#skipped = undefined;
    return { line, fields, skipped };
  }

  /**
   * Ends the open record. The first line of the record becomes the problem, and the other lines are read as
   * new records.
   */
  #giveUp(problem: RowProblem): CsvRecord[] {
    const [first, ...others] = this.#open;
    this.#open = [];
    const records: CsvRecord[] = [{ line: first!.number, problem }];
    for (const line of others) for (const record of this.take(line)) records.push(record);
    return records;
  }

  #openText(): string {
    const last = this.#open.length - 1;
    const ending = (index: number, crlf: boolean) => (index === last ? "" : crlf ? "\r\n" : "\n");
    return this.#open.map(({ text, crlf }, index) => text + ending(index, crlf)).join("");
  }
}

const neverClosed: RowProblem = {
  code: "quote_open",
  message: "A field begins with a quotation mark, but has no closing quotation mark.",
};
const misplaced: RowProblem = {
  code: "quote_misplaced",
  message: "A quotation mark is in a place where RFC 4180 does not allow it.",
};

type Split =
  | { fields: string[] }
  /** A quoted field is not closed, so the next lines may belong to it. */
  | { open: true }
  /** The position, from 1, of a quotation mark where RFC 4180 allows none. */
  | { misplacedAt: number };

/** Splits the text of a record by RFC 4180. Quoted fields may hold delimiters, line breaks and marks. */
function splitFields(text: string, delimiter: string): Split {
  // Most statements have no quotation mark, so this case is fast.
  if (!text.includes('"')) return { fields: text.split(delimiter) };
  const fields: string[] = [];
  for (let at = 0; ; at += 1) {
    if (text[at] === '"') {
      const field = quotedField(text, at);
      if (field === undefined) return { open: true };
      fields.push(field.value);
      at = field.end;
      if (at < text.length && text[at] !== delimiter) return { misplacedAt: at + 1 };
    } else {
      const found = text.indexOf(delimiter, at);
      const end = found < 0 ? text.length : found;
      const value = text.slice(at, end);
      const quote = value.indexOf('"');
      if (quote >= 0) return { misplacedAt: at + quote + 1 };
      fields.push(value);
      at = end;
    }
    if (at >= text.length) return { fields };
  }
}

/**
 * Returns the field whose quotation mark is at `start`, and its end; `undefined` if the field is not closed.
 */
function quotedField(text: string, start: number): { value: string; end: number } | undefined {
  let from = start + 1;
  for (;;) {
    const quote = text.indexOf('"', from);
    if (quote < 0) return undefined;
    if (text[quote + 1] !== '"')
      return { value: text.slice(start + 1, quote).replaceAll('""', '"'), end: quote + 1 };
    from = quote + 2;
  }
}

/** Counts quotation marks. A doubled mark counts twice, so an odd number opens or closes a field. */
function countQuotes(text: string): number {
  return text.split('"').length - 1;
}

/** Returns the most frequent delimiter of a header line, outside of quotation marks. Default: the comma. */
function guessDelimiter(header: string): string {
  const bare = header.replaceAll(/"[^"]*"/g, "");
  const count = (delimiter: string): number => bare.split(delimiter).length;
  return [",", ";", "\t", "|"].reduce((best, one) => (count(one) > count(best) ? one : best));
}

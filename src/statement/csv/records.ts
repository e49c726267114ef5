import { type RowProblem } from "../row.js";
import { type Line, longestLine } from "./lines.js";
import { countQuotes, guessDelimiter, splitFields } from "./split-fields.js";

/** One record of the file, known by the line that it begins on. */
export type CsvRecord = { line: number; fields: string[] } | { line: number; problem: RowProblem };

/** How records are told from lines. */
export interface RecordOptions {
  /** @default the most frequent of `,` `;` tab `|` in the first record */
  delimiter?: string | undefined;
  /** What comment lines begin with. */
  comment: string | undefined;
}

/**
 * Puts lines together to records. A record that breaks the rules is told at its first line, and reading goes on with the second,
 * so that a quotation mark too many costs one record and not the file.
 */
export class RecordReader {
  /** How many fields a record has, once that is known. */
  width: number | undefined;
  readonly #comment: string | undefined;
  #delimiter: string | undefined;
  /** The lines of a record whose quoted field is still open. */
  #open: Line[] = [];
  #openLength = 0;

  constructor({ delimiter, comment }: RecordOptions) {
    this.#delimiter = delimiter;
    this.#comment = comment;
  }

  /** The records that are whole with this line. */
  take(line: Line): CsvRecord[] {
    if (this.#open.length === 0) return this.#begin(line);
    if (line.problem) return [...this.#giveUp("quote_open", neverClosed), ...this.take(line)];
    this.#open.push(line);
    this.#openLength += line.text.length + 1;
    // An even number of quotation marks leaves an open field open.
    if (countQuotes(line.text) % 2 === 0)
      return this.#openLength > longestLine ? this.#giveUp("quote_open", neverClosed) : [];
    const split = splitFields(this.#openText(), this.#delimiter!);
    if ("fields" in split) {
      // Most likely a mark that was never closed met the next one, and everything between them would be lost.
      if (this.width !== undefined && split.fields.length !== this.width)
        return this.#giveUp("quote_open", neverClosed);
      const first = this.#open[0]!.number;
      this.#open = [];
      return [{ line: first, fields: split.fields }];
    }
    return "misplacedAt" in split ? this.#giveUp("quote_misplaced", misplaced) : [];
  }

  /** What is left when the last line was taken. */
  end(): CsvRecord[] {
    const records: CsvRecord[] = [];
    while (this.#open.length > 0) records.push(...this.#giveUp("quote_open", neverClosed));
    return records;
  }

  #begin(line: Line): CsvRecord[] {
    const { number, text, problem } = line;
    if (problem) return [{ line: number, problem }];
    if (text.trim() === "" || (this.#comment !== undefined && text.startsWith(this.#comment))) return [];
    this.#delimiter ??= guessDelimiter(text);
    const split = splitFields(text, this.#delimiter);
    if ("fields" in split) {
      // Spreadsheets write rows of nothing below their last one.
      return split.fields.some((field) => field.trim() !== "")
        ? [{ line: number, fields: split.fields }]
        : [];
    }
    if ("misplacedAt" in split) {
      const message = `${misplaced.slice(0, -1)}, at position ${split.misplacedAt}.`;
      return [{ line: number, problem: { code: "quote_misplaced", message } }];
    }
    this.#open = [line];
    this.#openLength = text.length;
    return [];
  }

  /** Tells the open record as bad, and reads its lines but the first one anew. */
  #giveUp(code: RowProblem["code"], message: string): CsvRecord[] {
    const [first, ...others] = this.#open;
    this.#open = [];
    const records: CsvRecord[] = [{ line: first!.number, problem: { code, message } }];
    for (const line of others) for (const record of this.take(line)) records.push(record);
    return records;
  }

  #openText(): string {
    return this.#open
      .map(({ text, crlf }, index) =>
        index === this.#open.length - 1 ? text : `${text}${crlf ? "\r\n" : "\n"}`,
      )
      .join("");
  }
}

const neverClosed = "A quotation mark opens a field and is not closed.";
const misplaced = "A quotation mark stands where RFC 4180 has none.";

import { TextDecoder } from "node:util";
import { TillkitError } from "../../errors/index.js";
import { type RowProblem } from "../statement-row.js";

/**
 * The maximum length of a line and of a record. Without this limit, an unclosed quotation mark would consume
 * the rest of the file.
 */
export const maxLineLength = 65_536;

/** One line of the file, without its ending. */
export interface Line {
  /** The number of the line, from 1. */
  number: number;
  text: string;
  /** Whether the line ended in CRLF. A field over several lines keeps its own line breaks. */
  crlf: boolean;
  problem?: RowProblem;
}

/** The bytes of a file, in pieces. A string is read as UTF-8. */
export type Bytes = Iterable<Uint8Array | string> | AsyncIterable<Uint8Array | string>;

/**
 * Splits bytes into lines, and decodes them strictly. A line that is too long or not in the encoding becomes
 * a problem, and reading continues. Throws `statement_unreadable` for UTF-16, and for Excel, ZIP and PDF
 * files.
 */
export async function* readTextLines(
  bytes: Bytes,
  encoding: string,
): AsyncGenerator<Line[], void, undefined> {
  const splitter = new LineSplitter(encoding);
  for await (const piece of bytes) {
    const lines = splitter.take(
      typeof piece === "string"
        ? Buffer.from(piece)
        : Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength),
    );
    if (lines.length > 0) yield lines;
  }
  const last = splitter.end();
  if (last.length > 0) yield last;
}

class LineSplitter {
  readonly #decoder: TextDecoder;
  readonly #encoding: string;
  #rest: Buffer = Buffer.alloc(0);
  #number = 0;
  #started = false;
  /** Whether the rest of a line that is too long is being skipped. */
  #skipping = false;

  constructor(encoding: string) {
    this.#encoding = encoding;
    // A byte order mark in the middle of the file is an ordinary character.
    this.#decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  }

  take(piece: Buffer): Line[] {
    let bytes = this.#rest.length > 0 ? Buffer.concat([this.#rest, piece]) : piece;
    if (!this.#started) {
      // A byte order mark has up to three bytes, so reading begins when three bytes have arrived.
      this.#rest = bytes;
      if (bytes.length < 3) return [];
      bytes = this.#withoutMark(bytes);
    }
    const end = bytes.lastIndexOf(0x0a);
    this.#rest = bytes.subarray(end + 1);
    const lines = end < 0 ? [] : this.#decode(bytes.subarray(0, end));
    if (this.#rest.length > maxLineLength) {
      this.#rest = Buffer.alloc(0);
      if (!this.#skipping) lines.push(this.#problem("line_too_long", tooLong));
      this.#skipping = true;
    }
    return lines;
  }

  end(): Line[] {
    const bytes = this.#started ? this.#rest : this.#withoutMark(this.#rest);
    this.#rest = Buffer.alloc(0);
    return bytes.length > 0 && !this.#skipping ? this.#decode(bytes) : [];
  }

  #withoutMark(bytes: Buffer): Buffer {
    this.#started = true;
    const kind = otherFiles.find(([start]) => bytes.subarray(0, start.length).equals(start))?.[1];
    if (kind !== undefined)
      throw new TillkitError("statement_unreadable", `The statement is ${kind}. Save it as CSV.`);
    const first = bytes.length >= 2 ? bytes.readUInt16BE(0) : 0;
    // In UTF-16 without a mark, one byte of the first character is zero, except in a few languages.
    const isWide = bytes.length >= 2 && (bytes[0] === 0) !== (bytes[1] === 0);
    if (isWide || first === 0xfffe || first === 0xfeff)
      throw new TillkitError("statement_unreadable", "The statement is in UTF-16. Save it as UTF-8.");
    return bytes.subarray(0, 3).equals(utf8Mark) ? bytes.subarray(3) : bytes;
  }

  #decode(bytes: Buffer): Line[] {
    const lines: Line[] = [];
    for (let start = 0; start <= bytes.length;) {
      const found = bytes.indexOf(0x0a, start);
      const end = found < 0 ? bytes.length : found;
      lines.push(...this.#lineOf(bytes.subarray(start, end)));
      start = end + 1;
    }
    return lines;
  }

  #lineOf(bytes: Buffer): Line[] {
    try {
      return this.#line(this.#decoder.decode(bytes));
    } catch {
      if (this.#skipping) return this.#line("");
      return [this.#problem("encoding_invalid", `The line is not valid ${this.#encoding.toUpperCase()}.`)];
    }
  }

  #line(text: string): Line[] {
    if (this.#skipping) {
      // The skipped line is already a problem, and ends here.
      this.#skipping = false;
      return [];
    }
    if (text.length > maxLineLength) return [this.#problem("line_too_long", tooLong)];
    const crlf = text.endsWith("\r");
    return [{ number: ++this.#number, text: crlf ? text.slice(0, -1) : text, crlf }];
  }

  #problem(code: RowProblem["code"], message: string): Line {
    return { number: ++this.#number, text: "", crlf: false, problem: { code, message } };
  }
}

/** The first bytes, at most three, of files that people give instead of a CSV file. */
const otherFiles = [
  [Buffer.from("PK\u0003"), "an Excel workbook or another ZIP file"],
  [Buffer.from([0xd0, 0xcf, 0x11]), "an Excel workbook"],
  [Buffer.from("%PD"), "a PDF file"],
] as const;

const utf8Mark = Buffer.from([0xef, 0xbb, 0xbf]);
const tooLong = `The line is longer than ${maxLineLength} characters.`;

import { TextDecoder } from "node:util";
import { TillkitError } from "../../errors/index.js";
import { type RowProblem } from "../row.js";

/** Longest line, and longest record over several lines: what a quotation mark that is never closed may swallow. */
export const longestLine = 65_536;

/** One line of the file, without its ending. */
export interface Line {
  /** From 1. */
  number: number;
  text: string;
  /** Whether it ended in CRLF; a field over several lines keeps its own line breaks. */
  crlf: boolean;
  problem?: RowProblem;
}

/** Bytes of a file, in pieces. Text is taken as UTF-8. */
export type Bytes = Iterable<Uint8Array | string> | AsyncIterable<Uint8Array | string>;

/**
 * Cuts bytes into lines, strictly decoded. A line that is not in the encoding, or too long, is told as such, and the next one is
 * read. Holds one piece and one line at a time.
 *
 * @throws TillkitError `statement_unreadable` for UTF-16
 */
export async function* readLines(bytes: Bytes, encoding: string): AsyncGenerator<Line[], void, undefined> {
  const cutter = new LineCutter(encoding);
  for await (const piece of bytes) {
    const lines = cutter.take(
      typeof piece === "string"
        ? Buffer.from(piece)
        : Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength),
    );
    if (lines.length > 0) yield lines;
  }
  const last = cutter.end();
  if (last.length > 0) yield last;
}

class LineCutter {
  readonly #decoder: TextDecoder;
  readonly #encoding: string;
  #rest: Buffer = Buffer.alloc(0);
  #number = 0;
  #started = false;
  /** Inside of a line that is too long, whose end is awaited. */
  #skipping = false;

  constructor(encoding: string) {
    this.#encoding = encoding;
    // A mark in the middle is a character, and none that an id may have.
    this.#decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  }

  take(piece: Buffer): Line[] {
    let bytes = this.#rest.length > 0 ? Buffer.concat([this.#rest, piece]) : piece;
    if (!this.#started) {
      // A byte order mark can only be told once there are three bytes.
      this.#rest = bytes;
      if (bytes.length < 3) return [];
      bytes = this.#withoutMark(bytes);
    }
    const end = bytes.lastIndexOf(0x0a);
    this.#rest = bytes.subarray(end + 1);
    const lines = end < 0 ? [] : this.#decode(bytes.subarray(0, end));
    if (this.#rest.length > longestLine) {
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
    const first = bytes.length >= 2 ? bytes.readUInt16BE(0) : 0;
    if (first === 0xfffe || first === 0xfeff)
      throw new TillkitError("statement_unreadable", "The statement is in UTF-16.");
    return bytes.subarray(0, 3).equals(utf8Mark) ? bytes.subarray(3) : bytes;
  }

  /** Whole lines: at once, because that is fast; one by one where that fails, to tell the bad ones. */
  #decode(bytes: Buffer): Line[] {
    let texts: string[] | undefined;
    try {
      texts = this.#decoder.decode(bytes).split("\n");
    } catch {
      texts = undefined;
    }
    if (texts) return texts.flatMap((text) => this.#line(text));
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
      return [this.#problem("encoding_invalid", `The line is not ${this.#encoding.toUpperCase()}.`)];
    }
  }

  #line(text: string): Line[] {
    if (this.#skipping) {
      // The end of a line that was told already.
      this.#skipping = false;
      return [];
    }
    if (text.length > longestLine) return [this.#problem("line_too_long", tooLong)];
    const crlf = text.endsWith("\r");
    return [{ number: ++this.#number, text: crlf ? text.slice(0, -1) : text, crlf }];
  }

  #problem(code: RowProblem["code"], message: string): Line {
    return { number: ++this.#number, text: "", crlf: false, problem: { code, message } };
  }
}

const utf8Mark = Buffer.from([0xef, 0xbb, 0xbf]);
const tooLong = `The line is longer than ${longestLine} characters.`;

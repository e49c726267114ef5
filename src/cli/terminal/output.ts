import { type Writable } from "node:stream";
import { styleText } from "node:util";

type Style = Parameters<typeof styleText>[0];

/** Where a command speaks. With `--json`, standard output is for the machine alone, and people read the error stream. */
export interface Output {
  readonly json: boolean;
  /** Columns that people have. */
  readonly width: number;
  /** One line or more for people. */
  say(text?: string): void;
  /** A line for people beside the answer, always on the error stream. */
  remark(text: string): void;
  /**
   * A line that is drawn over itself while something goes on, on an error stream that is a terminal; nothing elsewhere.
   * `undefined` takes it away: do so before anything else is said.
   */
  draw(line: string | undefined): void;
  /** One JSON document for the machine, on a line of its own; nothing without `--json`. */
  answer(document: unknown): void;
  /** Colours, where there is a terminal that wants them. */
  paint(style: Style, text: string): string;
}

interface Streams {
  stdout: Writable & { isTTY?: boolean; columns?: number };
  stderr: Writable & { isTTY?: boolean };
  env: Readonly<Record<string, string | undefined>>;
}

/** Makes the output of one run. */
export function createOutput({ stdout, stderr, env }: Streams, json: boolean): Output {
  const forPeople = json ? stderr : stdout;
  const coloured = !json && stdout.isTTY === true && !env["NO_COLOR"] && env["TERM"] !== "dumb";
  return {
    json,
    width: Math.min(Math.max(stdout.columns ?? 100, 60), 100),
    say: (text = "") => void forPeople.write(`${text}\n`),
    remark: (text) => void stderr.write(`${text}\n`),
    draw: (line) => {
      if (stderr.isTTY) stderr.write(`\r\u001b[K${line ?? ""}`);
    },
    answer: (document) => {
      if (json) stdout.write(`${JSON.stringify(document)}\n`);
    },
    // The decision is made above: Node's own would look at its process, and not at these streams.
    paint: (style, text) => (coloured ? styleText(style, text, { validateStream: false }) : text),
  };
}

/** Breaks a text into lines of at most `width` columns; before those after the first, `indent` comes on top. */
export function wrap(text: string, width: number, indent = ""): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line].join(`\n${indent}`);
}

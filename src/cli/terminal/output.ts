import { randomUUID } from "node:crypto";
import { type Writable } from "node:stream";
import { styleText } from "node:util";
import { escapeUnits } from "../../shared/quote.js";

type Style = Parameters<typeof styleText>[0];

/**
 * The output of a command. Control characters from other sources are escaped. With `--json`, standard output
 * has only JSON, and text for people goes to standard error.
 */
export interface Output {
  /** The number of columns for text. */
  readonly width: number;
  /** Whether standard output cannot be written, for example because its reader has stopped. */
  readonly isClosed: boolean;
  /** Prints one line or more for people. */
  print(text?: string): void;
  /** Prints a line for people on standard error, such as a warning. */
  log(text: string): void;
  /** Draws a line over the last drawn line on a terminal's standard error. `undefined` removes that line. */
  draw(line: string | undefined): void;
  /** Prints one JSON document on a line of its own; does nothing without `--json`. */
  printJson(document: unknown): void;
  /** Returns the text in a style, if standard output is a terminal with colours. */
  paint(style: Style, text: string): string;
}

/** The streams that output is written to, and the environment, which may switch colours off. */
export interface OutputStreams {
  stdout: Writable & { isTTY?: boolean; columns?: number };
  stderr: Writable & { isTTY?: boolean };
  env: Readonly<Record<string, string | undefined>>;
}

/** Creates the output of one run. */
export function createOutput({ stdout, stderr, env }: OutputStreams, json: boolean): Output {
  const forPeople = json ? stderr : stdout;
  // A secret mark replaces the escape character of colours, until all other control characters are escaped.
  const mark = randomUUID();
  const show = (text: string): string => escapeControls(text).replaceAll(mark, "\u001b");
  let isClosed = false;
  stdout.on("error", () => (isClosed = true));
  const hasColours = !json && stdout.isTTY === true && !env["NO_COLOR"] && env["TERM"] !== "dumb";
  return {
    width: Math.min(Math.max(stdout.columns ?? 100, 60), 100),
    get isClosed() {
      return isClosed;
    },
    print: (text = "") => void forPeople.write(`${show(text)}\n`),
    log: (text) => void stderr.write(`${show(text)}\n`),
    draw: (line) => {
      if (stderr.isTTY) stderr.write(`\r\u001b[K${show(line ?? "")}`);
    },
    printJson: (document) => {
      if (json) stdout.write(`${escapeControls(JSON.stringify(document))}\n`);
    },
    // Without `validateStream: false`, Node would check the process's own streams instead of `stdout`.
    paint: (style, text) => {
      const safe = escapeControls(text);
      return hasColours ? styleText(style, safe, { validateStream: false }).replaceAll("\u001b", mark) : safe;
    },
  };
}

/** Escapes invisible characters, direction marks, and control characters except line breaks and tabs. */
function escapeControls(text: string): string {
  return text.replace(
    /[^\P{Cc}\n\t]|[\p{Bidi_Control}\u2028\u2029\u200b\u2060\ufeff\u{e0000}-\u{e007f}]/gu,
    escapeUnits,
  );
}

/** Returns a text on one line, so that a text from another source cannot look like a line of the output. */
export function oneLine(text: string): string {
  return text.replaceAll("\r", "\\r").replaceAll("\n", "\\n");
}

/**
 * Breaks a text into lines of at most `width` columns. Each line after the first begins with `indent`, which
 * is not counted. A longer word stays whole. A command `npx tillkit …` at the end also stays whole, so that
 * people can copy it.
 */
export function wrap(text: string, width: number, indent = ""): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.match(/npx tillkit .*$|[^ ]+/g) ?? []) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line].join(`\n${indent}`);
}

const barWidth = 24;

/** Returns a bar of progress. `share` is its filled part, from 0 to 1. */
export function textBar(share: number): string {
  return `[${"#".repeat(Math.floor(barWidth * share)).padEnd(barWidth)}]`;
}

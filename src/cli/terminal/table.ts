import { oneLine, type Output } from "./output.js";

/**
 * Prints rows in columns that fit the terminal. If the rows are too wide, the widest column is cut, and ends
 * with an ellipsis. The columns `uncut`, such as times and ids, are never cut, so a row may be wider than the
 * terminal. A note is printed below its row.
 */
export function printColumns(
  output: Output,
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  uncut: readonly string[] = [],
  notes: readonly string[] = [],
): void {
  const lines = [headings, ...rows].map((row) => row.map(oneLine));
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  const gaps = 2 * (headings.length - 1);
  for (let over = sum(widths) + gaps - output.width; over > 0; over--) {
    const cut = widths.map((width, column) => (uncut.includes(headings[column]!) ? 0 : width));
    const widest = cut.indexOf(Math.max(...cut));
    // A column of 8 characters or fewer is not cut.
    if (cut[widest]! <= 8) break;
    widths[widest]! -= 1;
  }
  for (const [index, line] of lines.entries()) {
    const cells = line.map((cell, column) => fitted(cell, widths[column]!));
    const text = cells.join("  ").trimEnd();
    output.print(index === 0 ? output.paint("dim", text) : text);
    if (notes[index - 1]) output.print(`  ${oneLine(notes[index - 1]!)}`);
  }
}

function fitted(cell: string, width: number): string {
  return cell.length > width ? `${cell.slice(0, width - 1)}…` : cell.padEnd(width);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

/** The value of a cell. `undefined` is an empty cell. */
export type CsvCell = string | number | undefined;

/** Returns one line of CSV (RFC 4180), in which a spreadsheet finds no formula. */
export function csvLine(cells: readonly CsvCell[]): string {
  return `${cells.map(csvCell).join(",")}\r\n`;
}

function csvCell(value: CsvCell): string {
  const text = withoutFormula(String(value ?? ""));
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * The characters that start a formula in a cell of a spreadsheet, including full-width and small forms. The
 * program that reads the file chooses the separator, so a cell can begin almost anywhere. These characters
 * count at every place except directly after a letter, a digit or one of `_.-`.
 */
const formulaStart =
  /(?<![\p{L}\p{N}_.-])[=+\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b]|^[\t\r\n]/gu;

/** Puts an apostrophe before each start of a formula. Plain negative numbers stay as they are. */
function withoutFormula(text: string): string {
  return /^-\d+(\.\d+)?$/.test(text) ? text : text.replace(formulaStart, "'$&");
}

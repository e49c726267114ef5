/** The value of a cell. `undefined` is an empty one. */
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
 * What a spreadsheet takes for the start of a formula, as the first character of a cell: also the full-width and small forms.
 * Which character separates cells is the reader's choice, so every place counts that is not inside a word, number or id.
 */
const formulaStart =
  /(?<![\p{L}\p{N}_.-])[=+\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b]|^[\t\r\n]/gu;

/** Puts an apostrophe before each start of a formula. Plain negative numbers stay as they are. */
function withoutFormula(text: string): string {
  return /^-\d+(\.\d+)?$/.test(text) ? text : text.replace(formulaStart, "'$&");
}

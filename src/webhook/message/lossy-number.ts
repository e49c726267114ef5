/** A string, which is passed over, or a number. Meant for text that JSON.parse has taken. */
const stringOrNumber = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gs;
const decimal = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * The first number of a JSON text whose digits do not survive being read as a double, or `undefined`: another reader
 * of the same bytes would read another number. What programs print of a double always survives, the shortest form
 * (`0.1`) as well as 17 digits (`0.10000000000000001`).
 */
export function findLossyNumber(json: string): string | undefined {
  for (const [token] of json.matchAll(stringOrNumber)) if (token[0] !== '"' && isLossy(token)) return token;
  return undefined;
}

function isLossy(literal: string): boolean {
  const value = Number(literal);
  if (!Number.isFinite(value)) return true;
  const digits = significant(literal);
  return digits !== significant(String(value)) && digits !== significant(value.toPrecision(17));
}

/** The same for every way to write the same decimal, but for its sign, which always survives. */
function significant(literal: string): string {
  const [, whole = "", fraction = "", exponent = "0"] = decimal.exec(literal)!;
  const digits = (whole + fraction).replace(/^0+/, "");
  const trimmed = digits.replace(/0+$/, "");
  if (trimmed === "") return "0";
  return `${trimmed}e${Number(exponent) - fraction.length + digits.length - trimmed.length}`;
}

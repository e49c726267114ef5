/** What a record's text turned out to be. */
export type Split =
  | { fields: string[] }
  /** A quoted field is not closed yet: more lines may belong to it. */
  | { open: true }
  /** A quotation mark where RFC 4180 has none; the position of it, from 1. */
  | { misplacedAt: number };

/** Splits the text of one record by RFC 4180: a quoted field may hold delimiters, line breaks and doubled quotation marks. */
export function splitFields(text: string, delimiter: string): Split {
  // Most statements have no quotation mark at all.
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

/** The field whose quotation mark stands at `start`, and where it ends; nothing where it does not. */
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

/** How many quotation marks stand in a text. Doubled ones count twice, so that an odd number opens or closes. */
export function countQuotes(text: string): number {
  let count = 0;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1)) count += 1;
  return count;
}

const delimiters = [",", ";", "\t", "|"] as const;

/** The delimiter that stands most often in a header line, outside of quotation marks; the comma where there is none. */
export function guessDelimiter(header: string): string {
  const bare = header.replaceAll(/"[^"]*"/g, "");
  const count = (delimiter: string): number => bare.split(delimiter).length;
  return delimiters.reduce<string>((best, one) => (count(one) > count(best) ? one : best), ",");
}

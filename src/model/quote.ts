/** Longest piece of a webhook that may stand in a reason, quotes included. */
const longest = 64;

/**
 * A text of a webhook, fit for a reason that is stored and logged: printable ASCII, in quotes, at most 64 characters.
 */
export function quote(text: string): string {
  let quoted = '"';
  for (const character of text.slice(0, longest)) {
    const shown = /^[ -~]$/.test(character) ? JSON.stringify(character).slice(1, -1) : escapeUnits(character);
    // Room for the dots and the closing quote.
    if (quoted.length + shown.length > longest - 4) return `${quoted}..."`;
    quoted += shown;
  }
  return `${quoted}"`;
}

/** What stands where something else was expected: a short text in quotes, or only its kind. */
export function describe(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (typeof value === "string") return quote(value);
  if (typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

function escapeUnits(character: string): string {
  return Array.from({ length: character.length }, (_, index) => {
    return `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`;
  }).join("");
}

/** The maximum length of a quoted text, quotes included. */
const maxLength = 64;

/**
 * Returns text from another source in a form that is safe to store and to log: printable ASCII in quotes, at
 * most 64 characters. Other characters are escaped as in JSON.
 */
export function quote(text: string): string {
  let quoted = '"';
  for (const character of text.slice(0, maxLength)) {
    const shown = /^[ -~]$/.test(character) ? JSON.stringify(character).slice(1, -1) : escapeUnits(character);
    // The limit leaves space for the dots and the closing quote.
    if (quoted.length + shown.length > maxLength - 4) return `${quoted}..."`;
    quoted += shown;
  }
  return `${quoted}"`;
}

/** Returns the UTF-16 units of a character as `\uXXXX`. */
export function escapeUnits(character: string): string {
  return Array.from({ length: character.length }, (_, index) => {
    return `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`;
  }).join("");
}

/** One way in which programs write JSON. */
interface Writing {
  name: string;
  write: (value: unknown) => string;
}

/** How other languages and tools write the same JSON. */
const writings: readonly Writing[] = [
  { name: "JSON.stringify writes it", write: (value) => JSON.stringify(value) },
  { name: "JSON.stringify indents it by 2", write: (value) => JSON.stringify(value, null, 2) },
  { name: "JSON.stringify indents it by 4", write: (value) => JSON.stringify(value, null, 4) },
  { name: "JSON.stringify indents it by tabs", write: (value) => JSON.stringify(value, null, "\t") },
  { name: "Python's json.dumps writes it", write: (value) => toAscii(spaced(value)) },
  { name: "Python writes it without escapes", write: spaced },
  {
    name: "PHP's json_encode writes it",
    write: (value) => toAscii(JSON.stringify(value)).replaceAll("/", "\\/"),
  },
  { name: "it is written in ASCII", write: (value) => toAscii(JSON.stringify(value)) },
  {
    name: "Go writes it",
    write: (value) => JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, escaped),
  },
  { name: "it is written with its keys sorted", write: (value) => JSON.stringify(sorted(value)) },
];

/** The body written anew in all these ways; nothing where it is not JSON. */
export function jsonForms(body: string): { name: string; text: string }[] {
  let value: unknown;
  try {
    value = JSON.parse(body.replace(/^\uFEFF/, ""));
  } catch {
    return [];
  }
  return writings.map(({ name, write }) => ({ name, text: write(value) }));
}

/** A space after each comma and each colon. */
function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, one]) => `${JSON.stringify(key)}: ${spaced(one)}`)
    .join(", ")}}`;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, one]) => [key, sorted(one)]));
}

function toAscii(text: string): string {
  return text.replace(/[\u0080-\uFFFF]/g, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

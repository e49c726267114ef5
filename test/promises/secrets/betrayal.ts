import { inspect } from "node:util";

/** How a secret could be written where nobody looks for it. */
export function formsOf(secret: string): Readonly<Record<string, string>> {
  const bytes = Buffer.from(secret);
  const json = JSON.stringify(secret).slice(1, -1);
  return {
    plain: secret,
    "url-encoded": encodeURIComponent(secret),
    "form-encoded": new URLSearchParams({ s: secret }).toString().slice(2),
    "JSON-escaped": json,
    hexadecimal: bytes.toString("hex"),
    "upper-case hexadecimal": bytes.toString("hex").toUpperCase(),
    ...Object.fromEntries(
      [0, 1, 2].map((before) => [`base64, ${before} bytes in`, withinBase64(bytes, before)]),
    ),
  };
}

/** What of the base64 of a longer text is due to these bytes alone, when so many bytes stand before them. */
function withinBase64(bytes: Buffer, before: number): string {
  const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64url");
  const start = Math.ceil((before * 8) / 6);
  return encoded.slice(start, Math.floor(((before + bytes.length) * 8) / 6));
}

/** The secrets that a text holds, by their names and the form they are in. */
export function betrayedBy(text: string, secrets: Readonly<Record<string, string>>): string[] {
  // Both alphabets of base64 at once.
  const readable = `${text}\n${text.replaceAll("+", "-").replaceAll("/", "_")}`;
  return Object.entries(secrets).flatMap(([name, secret]) =>
    Object.entries(formsOf(secret))
      .filter(([, written]) => readable.includes(written))
      .map(([form]) => `${name}, ${form}`),
  );
}

/** Everything that somebody could print of a value. */
export function everythingOf(value: unknown): string {
  const own = value instanceof Error ? [value.message, value.stack, String(value)] : [];
  return [
    ...own,
    JSON.stringify(value),
    inspect(value, { depth: 12, maxStringLength: null, maxArrayLength: null }),
  ].join("\n");
}

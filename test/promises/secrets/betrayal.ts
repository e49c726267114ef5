import { inspect } from "node:util";

/** The forms in which a secret could be printed. */
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

/** Returns the part of a longer text's base64 that depends only on these bytes, at this offset. */
function withinBase64(bytes: Buffer, before: number): string {
  const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64url");
  const start = Math.ceil((before * 8) / 6);
  return encoded.slice(start, Math.floor(((before + bytes.length) * 8) / 6));
}

/** Returns the secrets in a text, by their names and forms. */
export function betrayedBy(text: string, secrets: Readonly<Record<string, string>>): string[] {
  // Both alphabets of base64 in one search.
  const readable = `${text}\n${text.replaceAll("+", "-").replaceAll("/", "_")}`;
  return Object.entries(secrets).flatMap(([name, secret]) =>
    Object.entries(formsOf(secret))
      .filter(([, written]) => readable.includes(written))
      .map(([form]) => `${name}, ${form}`),
  );
}

/** Returns every way of printing a value. */
export function everythingOf(value: unknown): string {
  const own = value instanceof Error ? [value.message, value.stack, String(value)] : [];
  return [
    ...own,
    JSON.stringify(value),
    inspect(value, { depth: 12, maxStringLength: null, maxArrayLength: null }),
  ].join("\n");
}

import { createHash } from "node:crypto";
import { type KeyRange } from "../../adapter.js";

const maxSegment = 120;

/** Matches a part that needs no encoding. */
const plain = /^[\w.!*'():-]{0,120}$/;

/** Returns an ASCII key of these parts. Times must be ISO 8601 or from `timeOf`, so that they sort. */
export function keyOf(...parts: readonly string[]): string {
  return parts.map(segment).join("/");
}

/** Returns the range of all keys that begin with these parts. */
export function rangeOf(parts: readonly string[], limit: number, options: Partial<KeyRange> = {}): KeyRange {
  const prefix = keyOf(...parts);
  // In ASCII, "0" directly follows "/", so the range ends after the last key with this prefix.
  return { from: `${prefix}/`, to: `${prefix}0`, limit, reverse: false, ...options };
}

/**
 * Returns a key that sorts directly after this key, because a space sorts before every character of a key.
 */
export function after(key: string): string {
  return `${key} `;
}

/** Returns a time as 16 digits, so that times sort as strings. */
export function timeOf(ms: number): string {
  return String(Math.min(Math.max(0, Math.ceil(ms)), 8.64e15)).padStart(16, "0");
}

function segment(part: string): string {
  if (plain.test(part)) return part;
  // Half of a surrogate pair cannot be encoded, so such a part becomes a digest. Colons stay, because the
  // keys must sort as clientIds do. A tilde begins a digest, so tildes of a part are encoded.
  const encoded = /\p{Cs}/u.test(part)
    ? undefined
    : encodeURIComponent(part).replaceAll("%3A", ":").replaceAll("~", "%7E");
  if (encoded !== undefined && encoded.length <= maxSegment) return encoded;
  return `~${createHash("sha256").update(part, "utf16le").digest("hex")}`;
}

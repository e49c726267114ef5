import { isUtf8 } from "node:buffer";
import { quote } from "../../shared/quote.js";

/** The decoded body, or a short reason for the refusal, which is safe to store and to log. */
export type Decoded = { ok: true; payload: Record<string, unknown> } | { ok: false; reason: string };

/** The maximum nesting of objects and lists. The body's own object counts as one level. */
const maxDepth = 32;

const byteOrderMark = 0xfeff;
const quotationMark = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
const openingBrace = 0x7b;
const closingBrace = 0x7d;
const openingBracket = 0x5b;
const closingBracket = 0x5d;
const surrogate = /\p{Surrogate}/u;

/**
 * Decodes a body strictly, so that two readers of the same bytes cannot differ. The body must be valid UTF-8
 * without a byte order mark. The body must be one JSON object of at most 32 levels. No object may repeat a
 * key (compared after unescaping), and no string may contain a lone surrogate. Keys such as `__proto__`
 * become own properties and change no prototype. Never throws.
 */
export function decodeStrict(rawBody: Buffer): Decoded {
  // This check comes before decoding, because Buffer's decoder replaces invalid bytes.
  if (!isUtf8(rawBody)) return { ok: false, reason: "not valid UTF-8" };
  const text = rawBody.toString("utf8");
  if (text.charCodeAt(0) === byteOrderMark) return { ok: false, reason: "byte order mark" };
  let payload: Record<string, unknown>;
  try {
    payload = JSON.parse(text);
  } catch {
    return { ok: false, reason: "not valid JSON" };
  }
  if (typeof payload !== "object" || payload === null || Array.isArray(payload))
    return { ok: false, reason: "not a JSON object" };
  const scan = text.includes("\\") ? undefined : scanUnescaped(text);
  // This check is enough for nearly every body, and faster than `findAmbiguity`.
  if (scan && scan.depth <= maxDepth && scan.keys === countKeys(payload)) return { ok: true, payload };
  const reason = findAmbiguity(text);
  return reason === undefined ? { ok: true, payload } : { ok: false, reason };
}

/**
 * Returns the number of keys in a JSON text, and its depth. The text must be valid JSON without a backslash,
 * so that each string ends at the next quotation mark.
 */
function scanUnescaped(text: string): { keys: number; depth: number } {
  let keys = 0;
  let open = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === quotationMark) while (text.charCodeAt((at += 1)) !== quotationMark);
    else if (unit === colon) keys += 1;
    else if (unit === openingBrace || unit === openingBracket) depth = Math.max(depth, (open += 1));
    else if (unit === closingBrace || unit === closingBracket) open -= 1;
  }
  return { keys, depth };
}

/** Returns the number of keys in a parsed value. A key that the text repeats counts once here. */
function countKeys(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const values = Object.values(value);
  let count = Array.isArray(value) ? 0 : values.length;
  for (const each of values) if (typeof each === "object") count += countKeys(each);
  return count;
}

/** Returns the reason why a text that JSON.parse accepts is ambiguous, or `undefined`. */
function findAmbiguity(text: string): string | undefined {
  // There is one set of keys for each open object or list. The set of a list stays empty.
  const open: Set<string>[] = [];
  for (let at = 0; at < text.length; at += 1) {
    switch (text[at]) {
      case "{":
      case "[":
        if (open.length === maxDepth) return `nested deeper than ${maxDepth}`;
        open.push(new Set());
        break;
      case "}":
      case "]":
        open.pop();
        break;
      case '"': {
        const end = endOfString(text, at);
        const raw = text.slice(at + 1, end);
        const escaped = raw.includes("\\");
        const value = escaped ? String(JSON.parse(text.slice(at, end + 1))) : raw;
        // Valid UTF-8 contains no lone surrogate, so only an escape can produce one.
        if (escaped && surrogate.test(value)) return "lone surrogate";
        if (isKey(text, end + 1)) {
          const keys = open.at(-1);
          if (keys?.has(value)) return `duplicate key ${quote(value)}`;
          keys?.add(value);
        }
        at = end;
        break;
      }
      default:
    }
  }
  return undefined;
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  for (let unit = text.charCodeAt(at); unit !== quotationMark; unit = text.charCodeAt(at))
    at += unit === backslash ? 2 : 1;
  return at;
}

/** Returns whether a colon follows a string, so that the string is a key. */
function isKey(text: string, after: number): boolean {
  let at = after;
  while (text.charCodeAt(at) <= 0x20) at += 1;
  return text.charCodeAt(at) === colon;
}

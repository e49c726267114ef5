import { isUtf8 } from "node:buffer";
import { quote } from "../../model/quote.js";

/** A body, decoded; or a short reason, safe to store and to log. */
export type Decoded =
  /** `hasNumbers`: whether a number may stand anywhere in it. */
  { ok: true; payload: Record<string, unknown>; hasNumbers: boolean } | { ok: false; reason: string };

/** Deepest nesting of objects and lists, the body's own object counted. */
const deepest = 32;

const byteOrderMark = 0xfeff;
const quotationMark = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
const openingBrace = 0x7b;
const closingBrace = 0x7d;
const openingBracket = 0x5b;
const closingBracket = 0x5d;
const zero = 0x30;
const nine = 0x39;
const loneSurrogate = /\p{Surrogate}/u;

/**
 * Decodes a body so that no two readers of the same bytes can differ: strict UTF-8 without a byte order mark, one
 * JSON object, no key twice in one object (compared after unescaping), no lone surrogate, at most 32 levels deep.
 * Keys such as `__proto__` become own properties and change no prototype. Never throws.
 */
export function decodeStrict(rawBody: Buffer): Decoded {
  // Checked before decoding: Buffer's own decoder would replace what is broken.
  if (!isUtf8(rawBody)) return { ok: false, reason: "not valid UTF-8" };
  const text = rawBody.toString("utf8");
  if (text.charCodeAt(0) === byteOrderMark) return { ok: false, reason: "byte order mark" };
  let payload: unknown;
  try {
    payload = JSON.parse(text);
  } catch {
    return { ok: false, reason: "not valid JSON" };
  }
  if (!isJsonObject(payload)) return { ok: false, reason: "not a JSON object" };
  const survey = text.includes("\\") ? undefined : surveyOf(text);
  // Nearly every body needs no closer look, which costs three times as much.
  if (survey && survey.depth <= deepest && survey.keys === countKeys(payload))
    return { ok: true, payload, hasNumbers: survey.hasNumbers };
  const reason = findAmbiguity(text);
  return reason === undefined ? { ok: true, payload, hasNumbers: true } : { ok: false, reason };
}

function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * How many keys are written in a JSON text, how deep it goes, and whether it holds a number. For text that JSON.parse has
 * taken and that has no backslash, so that each string ends at the next quotation mark.
 */
function surveyOf(text: string): { keys: number; depth: number; hasNumbers: boolean } {
  let keys = 0;
  let open = 0;
  let depth = 0;
  let hasNumbers = false;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === quotationMark) while (text.charCodeAt((at += 1)) !== quotationMark);
    else if (unit === colon) keys += 1;
    else if (unit === openingBrace || unit === openingBracket) depth = Math.max(depth, (open += 1));
    else if (unit === closingBrace || unit === closingBracket) open -= 1;
    else if (unit >= zero && unit <= nine) hasNumbers = true;
  }
  return { keys, depth, hasNumbers };
}

/** How many keys are left of them: fewer, where one was written twice. */
function countKeys(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const values = Object.values(value);
  let count = Array.isArray(value) ? 0 : values.length;
  for (const each of values) if (typeof each === "object") count += countKeys(each);
  return count;
}

/** What JSON.parse lets through. It runs after JSON.parse, so the text is known to be well-formed JSON. */
function findAmbiguity(text: string): string | undefined {
  // The keys of each object or list that is open; lists have none.
  const open: Set<string>[] = [];
  for (let at = 0; at < text.length; at += 1) {
    switch (text[at]) {
      case "{":
      case "[":
        if (open.length === deepest) return `nested deeper than ${deepest}`;
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
        // Without an escape there can be none: the bytes were valid UTF-8.
        if (escaped && loneSurrogate.test(value)) return "lone surrogate";
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

/** A string is a key when a colon follows it. */
function isKey(text: string, after: number): boolean {
  let at = after;
  while (text.charCodeAt(at) <= 0x20) at += 1;
  return text.charCodeAt(at) === colon;
}

import { createHmac, type KeyObject, timingSafeEqual } from "node:crypto";

/** A verified webhook in the form in which the spool keeps it, without the signature. */
export interface SpooledWebhook {
  /** The id that the webhook got on arrival. Because of this id, recording the webhook twice is harmless. */
  receiptId: string;
  /** The time at which the webhook arrived: ISO 8601 UTC. */
  receivedAt: string;
  /**
   * The fields that the signature covered on arrival. The drain uses these fields, and not the fields of a
   * newer configuration.
   */
  covers: "body" | readonly string[];
  /** The exact bytes that arrived. */
  rawBody: Buffer;
}

/** One line of a segment: the webhook in it, or the reason why the line cannot be recorded. */
export type ReadLine = { line: Buffer } & (
  { webhook: SpooledWebhook; problem?: never } | { webhook?: never; problem: string }
);

const newline = 0x0a;
const form = /^2 (\d{1,10}) ([0-9a-f]{64}) (.*)$/s;
/**
 * Lines of earlier versions, which are not trusted: their checksum has no key, so any program can make it.
 */
const unsignedForm = /^1 \d{1,10} [0-9a-f]{16} /;
/** The problem of a line if the directory has no key to verify it. */
export const noKey = "the directory has no key to check its digest";
/** The maximum number of bytes of a line besides its content. */
export const lineOverhead = 80;

/**
 * Returns the content of a webhook's line. The content has no line break, because JSON escapes line breaks.
 */
export function encodeContent({ receiptId, receivedAt, covers, rawBody }: SpooledWebhook): Buffer {
  return Buffer.from(JSON.stringify({ receiptId, receivedAt, covers, rawBody: rawBody.toString("base64") }));
}

/**
 * Returns the line with this content: `2 <length> <digest> <JSON>`. The first field is the version of the
 * format. The length is in bytes. The digest is the content's HMAC-SHA256 with the directory's key. The
 * digest proves that a spool of this directory wrote the line, and that the line has not changed.
 */
export function encodeLine(content: Buffer, key: KeyObject): Buffer {
  const digest = digestOf(content, key).toString("hex");
  return Buffer.concat([Buffer.from(`2 ${content.length} ${digest} `), content, Buffer.from("\n")]);
}

/**
 * Returns the lines of a segment, in order. Bytes after the last line break are ignored, because their write
 * was never acknowledged, or is still running. Without a key, no line is trusted.
 */
export function readLines(segment: Buffer, key: KeyObject | undefined): ReadLine[] {
  const lines: ReadLine[] = [];
  for (let start = 0; ;) {
    const end = segment.indexOf(newline, start);
    if (end === -1) return lines;
    lines.push(readLine(segment.subarray(start, end), key));
    start = end + 1;
  }
}

function readLine(line: Buffer, key: KeyObject | undefined): ReadLine {
  if (unsignedForm.test(line.toString("latin1")))
    return { line, problem: "an earlier version of tillkit wrote it, without a keyed digest" };
  const [, length, digest, json] = form.exec(line.toString("utf8")) ?? [];
  if (json === undefined || digest === undefined)
    return { line, problem: "it does not have the form of a record" };
  const content = line.subarray(line.length - Number(length));
  if (Buffer.byteLength(json) !== Number(length))
    return { line, problem: "its length differs from the noted length" };
  if (!key) return { line, problem: noKey };
  if (!timingSafeEqual(digestOf(content, key), Buffer.from(digest, "hex")))
    return {
      line,
      problem: "its digest does not fit: it was changed, or written without this directory's key",
    };
  const webhook = readWebhook(json);
  return webhook ? { line, webhook } : { line, problem: "its content is not a webhook" };
}

function readWebhook(json: string): SpooledWebhook | undefined {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { receiptId, receivedAt, covers, rawBody } = value as Record<string, unknown>;
  if (typeof receiptId !== "string" || typeof receivedAt !== "string" || typeof rawBody !== "string")
    return undefined;
  if (covers !== "body" && !isStringList(covers)) return undefined;
  return { receiptId, receivedAt, covers, rawBody: Buffer.from(rawBody, "base64") };
}

function isStringList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

function digestOf(content: Buffer, key: KeyObject): Buffer {
  return createHmac("sha256", key).update(content).digest();
}

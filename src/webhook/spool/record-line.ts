import { createHash } from "node:crypto";

/** A verified webhook as the spool keeps it, without the signature. */
export interface SpooledWebhook {
  /** Id that was made when the webhook arrived. Recording the webhook twice is harmless because of it. */
  receiptId: string;
  /** When the webhook arrived: ISO 8601 UTC. */
  receivedAt: string;
  /** What the signature covered when the webhook arrived. The configuration may differ at the time of the drain. */
  covers: "body" | readonly string[];
  /** The exact bytes that arrived. */
  rawBody: Buffer;
}

/** One line of a segment. `problem` says why it is no webhook. */
export type ReadLine = { line: Buffer } & (
  { webhook: SpooledWebhook; problem?: never } | { webhook?: never; problem: string }
);

const newline = 0x0a;
const form = /^1 (\d{1,10}) ([0-9a-f]{16}) (.*)$/s;

/**
 * Returns a webhook as one line: `1 <length> <checksum> <JSON>`. The first field is the version of the format. The length
 * is in bytes, and the checksum is the beginning of the JSON's SHA-256: they show a torn or changed line. JSON escapes
 * line breaks, so a line never contains one.
 */
export function encodeLine({ receiptId, receivedAt, covers, rawBody }: SpooledWebhook): Buffer {
  const json = JSON.stringify({ receiptId, receivedAt, covers, rawBody: rawBody.toString("base64") });
  return Buffer.from(`1 ${Buffer.byteLength(json)} ${checksum(json)} ${json}\n`);
}

/**
 * Returns the lines of a segment, in order, without the bytes after the last line break: their write was never
 * acknowledged, or is still under way.
 */
export function readLines(segment: Buffer): ReadLine[] {
  const lines: ReadLine[] = [];
  for (let start = 0; ;) {
    const end = segment.indexOf(newline, start);
    if (end === -1) return lines;
    lines.push(readLine(segment.subarray(start, end)));
    start = end + 1;
  }
}

function readLine(line: Buffer): ReadLine {
  const [, length, expected, json] = form.exec(line.toString("utf8")) ?? [];
  if (json === undefined) return { line, problem: "it does not have the form of a record" };
  if (Buffer.byteLength(json) !== Number(length))
    return { line, problem: "its length differs from the noted length" };
  if (checksum(json) !== expected) return { line, problem: "its checksum does not match" };
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

function checksum(json: string): string {
  return createHash("sha256").update(json).digest("hex").slice(0, 16);
}

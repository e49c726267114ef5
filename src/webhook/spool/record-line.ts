import { createHash } from "node:crypto";

/** A verified webhook as the spool keeps it. The signature is no part of it. */
export interface SpooledWebhook {
  /** Made when the webhook arrived; makes recording it twice harmless. */
  receiptId: string;
  /** When it arrived: ISO 8601 UTC. */
  receivedAt: string;
  /** What its signature covered: whatever is configured when it is drained, no more than this was signed. */
  covers: "body" | readonly string[];
  /** The exact bytes that arrived. */
  rawBody: Buffer;
}

/** One line of a segment, read back. `problem` says why it is no record. */
export type ReadLine = { line: Buffer } & (
  { webhook: SpooledWebhook; problem?: never } | { webhook?: never; problem: string }
);

const newline = 0x0a;
const form = /^1 (\d{1,10}) ([0-9a-f]{16}) (.*)$/s;

/**
 * One record as one line: `1 <length> <check> <JSON>`. The first field is the version of the format, the length is
 * in bytes, and the check is the beginning of the JSON's SHA-256: together they tell a torn or garbled line. JSON
 * escapes line breaks, so that a line never contains one.
 */
export function encodeLine({ receiptId, receivedAt, covers, rawBody }: SpooledWebhook): Buffer {
  const json = JSON.stringify({ receiptId, receivedAt, covers, rawBody: rawBody.toString("base64") });
  return Buffer.from(`1 ${Buffer.byteLength(json)} ${check(json)} ${json}\n`);
}

/**
 * The lines of a segment, in order. What follows the last line break is left out: a write that ended there was never
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
  if (Buffer.byteLength(json) !== Number(length)) return { line, problem: "its length is not the one noted" };
  if (check(json) !== expected) return { line, problem: "its checksum does not match" };
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
  if (covers !== "body" && !isListOfText(covers)) return undefined;
  return { receiptId, receivedAt, covers, rawBody: Buffer.from(rawBody, "base64") };
}

function isListOfText(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

function check(json: string): string {
  return createHash("sha256").update(json).digest("hex").slice(0, 16);
}

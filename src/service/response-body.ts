import { untilAborted } from "./deadline.js";

/**
 * Reads a response's body, and stops at `limitBytes` (counted after decompression) or when the signal aborts.
 * `undefined` means that the body is larger than the limit.
 */
export async function readBody(
  response: Response,
  limitBytes: number,
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  if (response.body === null) return Buffer.alloc(0);
  const reader = response.body.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await untilAborted(signal, reader.read());
      if (done) return Buffer.concat(chunks, size);
      size += value.byteLength;
      if (size > limitBytes) return undefined;
      chunks.push(value);
    }
  } finally {
    // Frees the connection. Nothing waits for it, and whether it works changes nothing.
    reader.cancel().catch(() => {});
  }
}

/** Frees the connection of a response whose body nobody needs. */
export function discardBody(response: Response): void {
  response.body?.cancel().catch(() => {});
}

/** The JSON value in these bytes, or `undefined` where they are not UTF-8 or not JSON. */
export function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

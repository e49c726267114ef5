/** Sends one request. Follows no redirect. Rejects with the signal's reason once the signal aborts. */
export function sendRequest(
  fetch: typeof globalThis.fetch | undefined,
  address: string,
  request: { method: "GET" | "POST"; headers: Record<string, string>; body?: string },
  signal: AbortSignal,
): Promise<Response> {
  return untilAborted(
    signal,
    (fetch ?? globalThis.fetch)(address, { ...request, redirect: "manual", signal }),
  );
}

/**
 * Resolves with `work`, or rejects with the signal's reason once the signal aborts. `fetch` gets the signal
 * too, but an application's own token function or `fetch` may ignore it.
 */
export function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

/**
 * Reads the body of a response. Returns `undefined` as soon as the body is larger than `limitBytes`, counted
 * after decompression. Rejects with the signal's reason once the signal aborts.
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
    // Frees the connection. The result of `cancel` does not matter, so nothing waits for it.
    reader.cancel().catch(() => {});
  }
}

/** Frees the connection of a response without reading its body. */
export function discardBody(response: Response): void {
  response.body?.cancel().catch(() => {});
}

/** Returns the JSON value in these bytes, or `undefined` if the bytes are not UTF-8 or not JSON. */
export function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

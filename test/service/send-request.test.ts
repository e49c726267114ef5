import { getEventListeners } from "node:events";
import { setImmediate as nextIteration } from "node:timers/promises";
import {
  discardBody,
  parseJson,
  readBody,
  sendRequest,
  untilAborted,
} from "../../src/service/send-request.js";

const reason = new Error("the caller closed");
const never = new Promise<never>(() => undefined);
const { signal: open } = new AbortController();

/** Returns a response of these chunks. It does not end where `ends` is false. `isCanceled` says whether its body was canceled. */
function streamed(chunks: readonly string[], { ends = true } = {}) {
  let canceled = false;
  const body = new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(Buffer.from(chunk));
      if (ends) controller.close();
    },
    cancel() {
      canceled = true;
    },
  });
  return { response: new Response(body), isCanceled: () => canceled };
}

describe("a promise with a signal", () => {
  it("rejects with the signal's reason where the signal aborted before", async () => {
    await expect(untilAborted(AbortSignal.abort(reason), never)).rejects.toBe(reason);
  });

  it("rejects with the signal's reason when the signal aborts", async () => {
    const closing = new AbortController();
    const waiting = untilAborted(closing.signal, never);
    closing.abort(reason);
    await expect(waiting).rejects.toBe(reason);
  });

  it.each<[string, () => Promise<unknown>]>([
    ["resolves", () => Promise.resolve("done")],
    ["rejects", () => Promise.reject(new Error("failed"))],
  ])("leaves no listener on the signal after it %s", async (_, work) => {
    const { signal } = new AbortController();
    const settled = Promise.allSettled([untilAborted(signal, work())]);
    expect(getEventListeners(signal, "abort")).toHaveLength(1);
    await settled;
    await nextIteration();
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });
});

describe("a request", () => {
  it("follows no redirect, and gives its signal to fetch", async () => {
    const calls: unknown[] = [];
    const fetch = async (...args: unknown[]) => {
      calls.push(args);
      return new Response(null);
    };
    const headers = { Accept: "application/json" };
    await sendRequest(fetch, "https://a.example", { method: "GET", headers }, open);
    expect(calls).toEqual([
      ["https://a.example", { method: "GET", headers, redirect: "manual", signal: open }],
    ]);
  });
});

describe("the body of a response", () => {
  it.each<[string, string[], string | undefined]>([
    ["below the limit", ["ab", "c"], "abc"],
    ["of exactly the limit", ["ab", "cd"], "abcd"],
    ["of exactly the limit in one chunk", ["abcd"], "abcd"],
    ["of one byte more", ["abcd", "e"], undefined],
    ["of one byte more in one chunk", ["abcde"], undefined],
    ["of one byte more, counted in bytes and not in characters", ["éé", "e"], undefined],
    ["without a byte", [], ""],
  ])("%s is read up to the limit", async (_, chunks, expected) => {
    const bytes = await readBody(streamed(chunks).response, 4, open);
    expect(bytes?.toString()).toBe(expected);
  });

  it("is empty where the response has none", async () => {
    await expect(readBody(new Response(null), 4, open)).resolves.toEqual(Buffer.alloc(0));
  });

  it("is canceled where it is larger than the limit", async () => {
    const { response, isCanceled } = streamed(["abcde"], { ends: false });
    await readBody(response, 4, open);
    expect(isCanceled()).toBe(true);
  });

  it("is canceled when the signal aborts", async () => {
    const { response, isCanceled } = streamed(["a"], { ends: false });
    const closing = new AbortController();
    const reading = readBody(response, 4, closing.signal);
    closing.abort(reason);
    await expect(reading).rejects.toBe(reason);
    expect(isCanceled()).toBe(true);
  });

  it("is canceled where it is discarded", () => {
    const { response, isCanceled } = streamed(["a"], { ends: false });
    discardBody(response);
    expect(isCanceled()).toBe(true);
  });

  it("may be missing where it is discarded", () => {
    expect(() => discardBody(new Response(null))).not.toThrow();
  });
});

describe("the JSON of a body", () => {
  it.each<[string, string | number[], unknown]>([
    ["an object", '{"id":"é"}', { id: "é" }],
    ["null", "null", null],
    ["a value after a byte order mark", "\ufeff7", 7],
    ["nothing", "", undefined],
    ["HTML", "<p>", undefined],
    ["a byte that is not UTF-8", [0x22, 0xff, 0x22], undefined],
    ["half a character", [0x22, 0xc3, 0x22], undefined],
  ])("is read strictly: %s", (_, bytes, expected) => {
    const body = typeof bytes === "string" ? Buffer.from(bytes) : Buffer.from(bytes);
    expect(parseJson(body)).toEqual(expected);
  });
});
